import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { joinBytes, LF } from "../../bytes/bytes.ts";
import { wholeLines } from "../../bytes/lines.ts";
import { compactBy, compactMap } from "../../compact/compact-map.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { type WeightOptions, WeightPolicy } from "../../compact/weight-policy.ts";
import type { ReadMap } from "../../compact/budget-compaction.ts";
import { headerText, SizedHead, UkvsHeaders } from "../../ukvs/header.ts";

export interface PaperMap {
  readonly name: string;
  readonly map: Uint8Array;
  readonly made: MadeBy;
}

interface BaseMap {
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
    const read = async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
      if (source === undefined) yield* await chunksOf(base, streams);
      else yield source.map;
    };
    const startedAt = performance.now();
    const { bytes, rollUps } = await compacted(
      read,
      { hostWeight, pathWeight },
      source?.name ?? base,
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const made = { input: source?.name ?? weightName(Infinity, Infinity), rollUps, seconds };
    const map = {
      name: weightName(hostWeight, pathWeight),
      map: bytes,
      made: { ...made, hostWeight, pathWeight },
    };
    yield map;
    const isFirstOfHost = step % PAPER_WEIGHTS.length === 0;
    if (isFirstOfHost) held.clear();
    else if (input % PAPER_WEIGHTS.length !== 0) held.delete(input);
    held.set(step, map);
  }
}

export async function compacted(
  read: ReadMap,
  weights: WeightOptions,
  source: string,
): Promise<{ readonly bytes: Uint8Array; readonly rollUps: number }> {
  let rollUps = 0;
  let headers = new UkvsHeaders();
  const rows: Uint8Array[] = [];
  const blocks = compactBy(new WeightPolicy(weights), read(), {
    source,
    onHead: async (head) => void (headers = head),
    onEnd: (summary) => ({ rollUps } = summary),
  });
  for await (const block of blocks) rows.push(block);
  const head =
    rows.length === 0
      ? new SizedHead(headers).bytes({ bytes: 0, records: 0 })
      : headerText(headers);
  return { bytes: joinBytes([head, ...rows]), rollUps };
}

/** Measures the base: rows, size, and size after gzip. Reads it once, and holds a chunk. */
export async function measureBase(base: string, streams: MapStreams): Promise<BaseMap> {
  let [lines, bytes, gzipBytes] = [0, 0, 0];
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const block of wholeLines(await chunksOf(base, streams), base)) {
      bytes += block.length;
      for (let at = 0; at < block.length; at = lineEnd(block, at)) {
        if (block[at] > 0x21 && block[at] !== 0x40) lines++;
      }
      // The block is reused when the next is asked for.
      yield Buffer.from(block);
    }
  }
  await pipeline(counted, createGzip(), async (blocks: AsyncIterable<Uint8Array>) => {
    for await (const block of blocks) gzipBytes += block.length;
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

/** The weights of the paper's table, for hosts and for paths. */
const PAPER_WEIGHTS: readonly number[] = [4, 2, 1, 0.5, 0.25, 0];

/** One map of the paper's table, and which one it is made of. */
interface PaperStep {
  readonly hostWeight: number;
  readonly pathWeight: number;
  /** The place of its input among the steps; -1 for the base. */
  readonly input: number;
}

export interface MadeBy {
  /** The name of the map it was made of; `HinfPinf` is the base. */
  readonly input: string;
  readonly hostWeight: number;
  readonly pathWeight: number;
  readonly rollUps: number;
  readonly seconds: number;
}

/**
 * The 36 maps of the paper, in the order of its table. Each is made of the one before it, which has
 * the next larger path weight; the first of a host weight is made of the first of the host weight
 * before.
 */
export function paperSteps(): PaperStep[] {
  return PAPER_WEIGHTS.flatMap((hostWeight, host) =>
    PAPER_WEIGHTS.map((pathWeight, path) => {
      const index = host * PAPER_WEIGHTS.length + path;
      const input = path > 0 ? index - 1 : index - PAPER_WEIGHTS.length;
      return { hostWeight, pathWeight, input: Math.max(-1, input) };
    }),
  );
}

/** The paper's name of a map: `H4.00P2.00`. */
export function weightName(hostWeight: number, pathWeight: number): string {
  return `H${weightText(hostWeight)}P${weightText(pathWeight)}`;
}

function weightText(weight: number): string {
  return weight === Number.POSITIVE_INFINITY ? "inf" : weight.toFixed(2);
}

/** How many rows the smaller map has after a number of rows was read. */
export interface TracePoint {
  readonly processed: number;
  readonly produced: number;
}

const POINTS = 300;

/**
 * Follows a compaction over the rows of a map, `rows`, whole lines without headers: the paper's
 * figure of processed and produced lines.
 *
 * A roll-up is decided as soon as a node is over its cutoff, so what has been produced after n rows
 * is what the first n rows alone are compacted to. Quadratic, and meant for a few thousand rows.
 */
export async function traceCompaction(
  rows: Uint8Array,
  weights: WeightOptions,
): Promise<TracePoint[]> {
  const ends: number[] = [];
  for (let at = rows.indexOf(LF); at !== -1; at = rows.indexOf(LF, at + 1)) ends.push(at + 1);
  const step = Math.max(1, Math.ceil(ends.length / POINTS));
  const points: TracePoint[] = [{ processed: 0, produced: 0 }];
  for (let n = step; n <= ends.length; n += step) {
    const part = rows.subarray(0, ends[n - 1]);
    let produced = 0;
    for await (const block of compactMap([part], { ...weights, checkSize: false }))
      produced += rowCount(block);
    points.push({ processed: n, produced });
  }
  return points;
}

/** Rows that do not begin with `!`: compacted maps have headers. */
function rowCount(block: Uint8Array): number {
  const text = new TextDecoder().decode(block);
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("!")).length;
}
