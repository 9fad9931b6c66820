import { type ByteSource, MemorySource } from "../bytes/byte-source.ts";
import { compactMap, type CompactSummary } from "../compact/compact-map.ts";
import type { WeightOptions } from "../compact/weight-policy.ts";
import { diffMaps, type MapDifference } from "../maps/diff-maps.ts";
import type { Fault } from "../maps/map-faults.ts";
import {
  type GeneratedMap,
  generateMap,
  type GenerateMapOptions,
} from "../generate/generate-map.ts";
import { mergeMaps, type MergeSummary } from "../maps/merge-maps.ts";
import { validateMap, type ValidateOptions } from "../maps/validate-map.ts";
import type { SignalOption } from "../interruption.ts";
import { MapStream } from "./map-stream.ts";
import { timeMapReader, type TimeMapReaderOptions } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { bytesOf, chunksOf, nameOf, placeOf, type Platform, type Source } from "./source.ts";
import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  webAddress,
} from "../publish/fetch/discover.ts";

/** The result of generating a map. */
export type GenerateResult = Omit<GeneratedMap, "bytes">;

/** The roll-up weights of the paper. */
export interface CompactOptions extends WeightOptions, SignalOption {}

/** See `generate` in `index.ts`. */
export function generateOn(
  platform: Platform,
  inputs: readonly Source[],
  options: GenerateMapOptions = {},
): MapStream<GenerateResult> {
  return new MapStream(async (write) => {
    const sources = inputs.map((source) => ({
      name: nameOf(platform, source),
      chunks: chunksOf(platform, source, options.signal),
    }));
    const { bytes, ...result } = await generateMap(sources, options);
    await write(bytes);
    return result;
  });
}

/** See `compact` in `index.ts`. */
export function compactOn(
  platform: Platform,
  source: Source,
  options: CompactOptions = {},
): MapStream<CompactSummary> {
  return new MapStream(async (write) => {
    let summary: CompactSummary = { rowsRead: 0, rollUps: 0 };
    const blocks = compactMap(chunksOf(platform, source, options.signal), {
      ...options,
      source: nameOf(platform, source),
      onEnd: (end) => (summary = end),
    });
    for await (const block of blocks) await write(block);
    return summary;
  });
}

/** See `merge` in `index.ts`. */
export function mergeOn(
  platform: Platform,
  sources: readonly Source[],
  options: SignalOption = {},
): MapStream<MergeSummary> {
  return new MapStream(async (write) => {
    const open: { readonly source: ByteSource; close(): Promise<void> }[] = [];
    try {
      for (const source of sources) open.push(await randomAccess(platform, source, options.signal));
      const all = open.map(({ source }) => source);
      return await mergeMaps(all, { write: (block) => write(block) }, options);
    } finally {
      await Promise.all(open.map((each) => each.close()));
    }
  });
}

/** Plain files are read in place; other sources are read into memory. */
async function randomAccess(
  platform: Platform,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<{ readonly source: ByteSource; close(): Promise<void> }> {
  const place = placeOf(platform, source);
  const file = place.kind === "file" ? await platform.openFile(place.path) : undefined;
  if (file !== undefined) return { source: file, close: () => file.close() };
  const bytes = await bytesOf(platform, source, signal);
  return {
    source: new MemorySource(bytes, nameOf(platform, source)),
    close: () => Promise.resolve(),
  };
}

/** See `diff` in `index.ts`. */
export async function diffOn(
  platform: Platform,
  before: Source,
  after: Source,
  options: SignalOption = {},
): Promise<MapDifference> {
  const named = (source: Source): Parameters<typeof diffMaps>[0] => ({
    name: nameOf(platform, source),
    chunks: chunksOf(platform, source, options.signal),
  });
  return diffMaps(named(before), named(after), options);
}

/** See `validate` in `index.ts`. */
export function validateOn(
  platform: Platform,
  source: Source,
  options: ValidateOptions = {},
): AsyncGenerator<Fault, void, undefined> {
  return validateMap(chunksOf(platform, source, options.signal), options);
}

/** See `discoverMap` in `index.ts`. */
export async function discoverOn(
  platform: Platform,
  address: string,
  options: DiscoverOptions = {},
): Promise<Discovery> {
  const { client, close } = platform.client(webAddress(address));
  try {
    return await discoverMap(client, address, options);
  } finally {
    close();
  }
}

/** Options for reading a TimeMap. */
export interface ReadTimeMapOptions extends TimeMapReaderOptions, SignalOption {}

/** See `readTimeMap` in `index.ts`. */
export async function readTimeMapOn(
  platform: Platform,
  source: Source,
  { signal, ...options }: ReadTimeMapOptions = {},
): Promise<TimeMapReading> {
  const reader = timeMapReader(options);
  for await (const chunk of chunksOf(platform, source, signal)) reader.write(chunk);
  return reader.end();
}
