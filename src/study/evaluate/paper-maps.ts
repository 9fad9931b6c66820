import { joinBytes } from "../../bytes/bytes.ts";
import { wholeLines } from "../../bytes/lines.ts";
import { compactMap, type CompactSummary } from "../../compact/compact-map.ts";
import type { WeightOptions } from "../../compact/weight-policy.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { countRows, type MadeBy, rowsOf } from "./predictor.ts";

export interface PaperMap {
  readonly name: string;
  readonly map: Uint8Array;
  readonly made: MadeBy;
}

/** The weights of the paper's table, for hosts and for paths. */
const PAPER_WEIGHTS: readonly number[] = [4, 2, 1, 0.5, 0.25, 0];

/** The paper's name of the map with all keys. */
export const BASE_NAME = "HinfPinf";

/**
 * Makes the 36 maps of the paper, in the order of its table. Each is made from the previous one, which
 * has the next larger path weight; the first of a host weight is made from the first of the previous
 * host weight. Holds two of them in memory.
 *
 * @throws errors in the base
 */
export async function* paperMaps(
  base: string,
  streams: MapStreams,
): AsyncGenerator<PaperMap, void, undefined> {
  let firstOfHost: PaperMap | undefined;
  for (const hostWeight of PAPER_WEIGHTS) {
    let source = firstOfHost;
    for (const pathWeight of PAPER_WEIGHTS) {
      const chunks = source === undefined ? await chunksOf(base, streams) : [source.map];
      const weights = { hostWeight, pathWeight };
      const startedAt = performance.now();
      const { bytes, rollUps } = await compacted(chunks, weights, source?.name ?? base);
      const seconds = (performance.now() - startedAt) / 1000;
      source = {
        name: `H${hostWeight.toFixed(2)}P${pathWeight.toFixed(2)}`,
        map: bytes,
        made: { input: source?.name ?? BASE_NAME, rollUps, seconds, ...weights },
      };
      if (pathWeight === PAPER_WEIGHTS[0]) firstOfHost = source;
      yield source;
    }
  }
}

async function compacted(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  weights: WeightOptions,
  source: string,
): Promise<{ readonly bytes: Uint8Array; readonly rollUps: number }> {
  let rollUps = 0;
  const parts: Uint8Array[] = [];
  const onEnd = (summary: CompactSummary): void => {
    ({ rollUps } = summary);
  };
  for await (const part of compactMap(chunks, { ...weights, source, onEnd })) parts.push(part);
  return { bytes: joinBytes(parts), rollUps };
}

/** The number of rows of the smaller map after a number of rows was read. */
export interface TracePoint {
  readonly processed: number;
  readonly produced: number;
}

/** Rows followed by the trace, places of the map where they may begin, and points of the figure. */
const TRACED_ROWS = 1500;
const PLACES = 24;
const POINTS = 300;

/**
 * Traces the compaction of a range of the base: of some evenly spread ranges, the one with the most
 * roll-ups. Reads the base once; holds the ranges in memory.
 */
export async function traceBase(
  { map, keys }: { readonly map: string; readonly keys: number },
  streams: MapStreams,
  weights: WeightOptions,
): Promise<TracePoint[]> {
  const gap = Math.max(1, Math.floor(keys / PLACES));
  const stretches: Uint8Array[][] = [];
  let row = 0;
  for await (const block of wholeLines(await chunksOf(map, streams), map)) {
    for (const line of rowsOf(block)) {
      if (row % gap === 0 && stretches.length < PLACES) stretches.push([]);
      for (const [i, stretch] of stretches.entries()) {
        if (row - i * gap < TRACED_ROWS) stretch.push(line.slice());
      }
      row++;
    }
  }
  let best = { rows: new Uint8Array(0), rollUps: -1 };
  for (const stretch of stretches) {
    const rows = joinBytes(stretch);
    const { rollUps } = await compacted([rows], weights, map);
    if (rollUps > best.rollUps) best = { rows, rollUps };
  }
  return traceCompaction(best.rows, weights);
}

/**
 * Traces a compaction of `rows`, whole lines without headers: the paper's figure of processed and
 * produced lines.
 *
 * A roll-up is decided as soon as a node exceeds its cutoff, so the output after n rows is the result of
 * compacting the first n rows alone. Quadratic, and meant for a few thousand rows.
 */
export async function traceCompaction(
  rows: Uint8Array,
  weights: WeightOptions,
): Promise<TracePoint[]> {
  const lines = [...rowsOf(rows)];
  const step = Math.max(1, Math.ceil(lines.length / POINTS));
  const points: TracePoint[] = [{ processed: 0, produced: 0 }];
  for (let n = step; n <= lines.length; n += step) {
    const { bytes } = await compacted(lines.slice(0, n), weights, "map");
    points.push({ processed: n, produced: countRows(bytes) });
  }
  return points;
}

async function chunksOf(path: string, streams: MapStreams): Promise<AsyncIterable<Uint8Array>> {
  return (await openInput(path, streams, { signal: streams.interrupt?.signal })).chunks;
}
