import { createGzip } from "node:zlib";
import { LF } from "../../bytes/ascii.ts";
import { wholeLines } from "../../bytes/whole-lines.ts";
import { compactMap } from "../../map/compact/compact-map.ts";
import type { TracePoint } from "./compaction-trace.ts";
import { traceCompaction } from "./compaction-trace.ts";
import type { MadeBy } from "./paper-sweep.ts";
import { PAPER_WEIGHTS, paperSteps, weightName } from "./paper-sweep.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../map/lookup/map-sources.ts";

/** A map of the paper's sweep, whole. */
export interface PaperMap {
  readonly name: string;
  readonly map: Uint8Array;
  readonly made: MadeBy;
}

/** The map that a sweep starts from. */
export interface BaseMap {
  readonly lines: number;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** Rows followed by the trace, and places of the map where they may begin. */
const TRACED_ROWS = 1500;
const PLACES = 24;

/**
 * Makes the 36 maps of the paper, each of the map before it, as the paper does. Holds two of them:
 * the last one, and the first of its host weight.
 *
 * @throws what is wrong with the base
 */
export async function* paperMaps(
  base: string,
  streams: MapStreams,
): AsyncGenerator<PaperMap, void, undefined> {
  const held = new Map<number, PaperMap>();
  for (const [step, { hostWeight, pathWeight, input }] of paperSteps().entries()) {
    const source = held.get(input);
    const chunks = source === undefined ? await chunksOf(base, streams) : [source.map];
    const blocks: Uint8Array[] = [];
    let rollUps = 0;
    const startedAt = performance.now();
    const compacted = compactMap(chunks, {
      hostWeight,
      pathWeight,
      source: source?.name ?? base,
      onEnd: (summary) => {
        ({ rollUps } = summary);
      },
    });
    for await (const block of compacted) blocks.push(block.slice());
    const seconds = (performance.now() - startedAt) / 1000;
    const made = { input: source?.name ?? weightName(Infinity, Infinity), rollUps, seconds };
    const map = {
      name: weightName(hostWeight, pathWeight),
      map: Buffer.concat(blocks),
      made: { ...made, hostWeight, pathWeight },
    };
    yield map;
    const isFirstOfHost = step % PAPER_WEIGHTS.length === 0;
    if (isFirstOfHost) held.clear();
    else if (input % PAPER_WEIGHTS.length !== 0) held.delete(input);
    held.set(step, map);
  }
}

/** Measures the base: rows, size, and size after gzip. Reads it once, and holds a chunk. */
export async function measureBase(base: string, streams: MapStreams): Promise<BaseMap> {
  const gzip = createGzip();
  let gzipBytes = 0;
  gzip.on("data", (block: Buffer) => {
    gzipBytes += block.length;
  });
  let [lines, bytes] = [0, 0];
  for await (const block of wholeLines(await chunksOf(base, streams), base)) {
    bytes += block.length;
    for (let at = 0; at < block.length; at = lineEnd(block, at)) {
      if (block[at] > 0x21 && block[at] !== 0x40) lines++;
    }
    // The block is reused when the next is asked for.
    const copy = Buffer.from(block);
    await new Promise<void>((resolve, reject) => {
      gzip.write(copy, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }
  await new Promise<void>((resolve, reject) => {
    gzip.once("end", resolve).once("error", reject);
    gzip.end();
  });
  return { lines, bytes, gzipBytes };
}

/**
 * Follows the compaction of a stretch of the base: of some evenly spread ones, that with the most
 * roll-ups. Reads the base twice; holds the stretches.
 */
export async function traceBase(
  base: string,
  streams: MapStreams,
  weights: { readonly hostWeight: number; readonly pathWeight: number },
): Promise<TracePoint[]> {
  const { lines } = await measureBase(base, streams);
  const gap = Math.max(1, Math.floor(lines / PLACES));
  const stretches: { blocks: Uint8Array[]; from: number }[] = [];
  let row = 0;
  for await (const block of wholeLines(await chunksOf(base, streams), base)) {
    for (let at = 0; at < block.length; at = lineEnd(block, at)) {
      if (block[at] <= 0x21 || block[at] === 0x40) continue;
      if (row % gap === 0 && stretches.length < PLACES) stretches.push({ blocks: [], from: row });
      for (const { blocks, from } of stretches) {
        if (row - from < TRACED_ROWS) blocks.push(block.slice(at, lineEnd(block, at)));
      }
      row++;
    }
  }
  let best: { rows: Uint8Array; rollUps: number } = { rows: new Uint8Array(0), rollUps: -1 };
  for (const { blocks } of stretches) {
    const rows = Buffer.concat(blocks);
    const rollUps = await countRollUps(rows, weights);
    if (rollUps > best.rollUps) best = { rows, rollUps };
  }
  return traceCompaction(best.rows, weights);
}

async function countRollUps(
  rows: Uint8Array,
  weights: { readonly hostWeight: number; readonly pathWeight: number },
): Promise<number> {
  let rollUps = 0;
  const onEnd = (summary: { readonly rollUps: number }): void => {
    ({ rollUps } = summary);
  };
  for await (const block of compactMap([rows], { ...weights, onEnd, checkSize: false })) void block;
  return rollUps;
}

function lineEnd(block: Uint8Array, from: number): number {
  const end = block.indexOf(LF, from);
  return end === -1 ? block.length : end + 1;
}

async function chunksOf(path: string, streams: MapStreams): Promise<AsyncIterable<Uint8Array>> {
  return (await openInput(path, streams, { signal: streams.interrupt?.signal })).chunks;
}
