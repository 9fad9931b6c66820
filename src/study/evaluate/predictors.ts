import { join } from "node:path";
import { isMementoMapError } from "../../errors.ts";
import { BudgetCompaction, type ReadMap } from "../../compact/budget-compaction.ts";
import type { MissList } from "../../compact/misses.ts";
import { openInput } from "../../files/input-file.ts";
import { ScratchSpill } from "../../files/scratch.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { packMap, type PackOptions } from "../../pack/pack-files.ts";
import { headerText, UkvsHeaders } from "../../ukvs/header.ts";
import type { PredictorFacts } from "./evaluation.ts";
import { compacted, paperMaps } from "./paper-maps.ts";
import {
  BloomFilter,
  bloomPredictor,
  bytesOf,
  cutKey,
  FIXED_POLICIES,
  mapPredictor,
  type Predictor,
  readPredictor,
} from "./predictor.ts";
import { forEachHeld, type Truth } from "./truth.ts";

const BASELINE_WEIGHTS: readonly (readonly [number, number])[] = [
  [4, 4],
  [4, 2],
  [4, 1],
  [1, 0.5],
  [0.25, 0.25],
];
/** From a thousandth to half of the keys. */
const FRONTIER_COSTS = [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];

/** Which maps to make of the truth and evaluate besides. */
export type Sweep = "paper" | "frontier";

/** What predictors are made of. */
export interface PredictorSource {
  readonly sweep?: Sweep | undefined;
  readonly asOf?: string | undefined;
  readonly streams: MapStreams;
  readonly maps: readonly string[];
  readonly misses: MissList | undefined;
  readonly held: Truth;
  readonly cost: Pick<PredictorFacts, "costBasis" | "costDivisor">;
  readonly scratch: string;
}

type Predictors = AsyncGenerator<Predictor, void, undefined>;

/** Everything to be evaluated: the maps named, what is made of the truth, and rivals. */
export async function* predictorsOf(source: PredictorSource): Predictors {
  const { maps, sweep, held, streams, asOf } = source;
  const sizes = new Set<number>();
  for (const path of maps) {
    const predictor = await readPredictor(path, path, streams);
    sizes.add(predictor.gzipBytes);
    yield predictor;
  }
  if (asOf !== undefined && maps.length === 0 && sweep === undefined) {
    yield await readPredictor(`all keys as of ${asOf}`, held.map, streams);
  }
  if (sweep === "paper") {
    for await (const { name, map, made } of paperMaps(held.map, streams)) {
      yield mapPredictor(name, map, made);
    }
  }
  if (sweep !== "frontier") return;
  for (const [hostWeight, pathWeight] of BASELINE_WEIGHTS) {
    const chunks = readTruth(held, streams)();
    const { bytes } = await compacted(chunks, { hostWeight, pathWeight }, held.map);
    yield mapPredictor(`weights ${hostWeight}/${pathWeight}`, bytes);
  }
  for await (const budget of budgets(source, undefined)) {
    sizes.add(budget.gzipBytes);
    yield budget;
  }
  if (source.misses !== undefined) yield* budgets(source, source.misses);
  yield* await fixedPolicies(source);
  yield* rivals(
    [...sizes].sort((a, b) => a - b),
    source,
  );
}

/** Reads the map of what is held, from the start at each call. */
function readTruth({ map }: Truth, streams: MapStreams): ReadMap {
  return async function* read() {
    yield* (await openInput(map, streams, { signal: streams.interrupt?.signal })).chunks;
  };
}

/** Maps within budgets. */
async function* budgets(source: PredictorSource, misses: MissList | undefined): Predictors {
  const { held, scratch, streams, cost } = source;
  const label = misses === undefined ? "budget" : "trained";
  const spill = new ScratchSpill(join(scratch, `${label}-nodes`));
  try {
    const options = { source: held.map, misses, spill };
    const compaction = await BudgetCompaction.survey(readTruth(held, streams), options);
    for (const share of FRONTIER_COSTS) {
      const maxRows = Math.floor(share * cost.costDivisor);
      // No map can keep it.
      if (maxRows < compaction.leastRows) continue;
      const map = await bytesOf(compaction.write(compaction.plan(maxRows)));
      yield mapPredictor(`${label} ${(100 * share).toFixed(1)}%`, map);
    }
  } finally {
    spill.close();
  }
}

/** The profiles that fixed policies give, as maps. */
async function fixedPolicies({ held, streams }: PredictorSource): Promise<Predictor[]> {
  const kept = FIXED_POLICIES.map(() => new Set<string>());
  const decoder = new TextDecoder();
  await forEachHeld(held.map, streams, (bytes) => {
    const [key = ""] = decoder.decode(bytes).split(held.queries ? "?" : "\n", 1);
    for (const [i, policy] of FIXED_POLICIES.entries()) kept[i].add(cutKey(key, policy));
  });
  const head = headerText(new UkvsHeaders([]));
  return FIXED_POLICIES.map(({ name }, i) => {
    // Keys are ASCII, so this is byte order.
    const rows = [...kept[i]].sort((a, b) => (a < b ? -1 : 1)).map((key) => `${key} 1\n`);
    return mapPredictor(name, Buffer.concat([head, Buffer.from(rows.join(""))]));
  });
}

/** Packed maps and Bloom filters of the same sizes. */
async function* rivals(sizes: readonly number[], source: PredictorSource): Predictors {
  const { held, misses, scratch, streams } = source;
  if (sizes.length === 0) return;
  for (const learned of misses === undefined ? [undefined] : [undefined, misses]) {
    const label = learned === undefined ? "packed" : "packed, trained,";
    for (const maxBytes of sizes) {
      const file = await packedTo(held.map, { maxBytes, misses: learned, scratch, streams });
      if (file !== undefined) yield mapPredictor(`${label} ${maxBytes} B`, file);
    }
  }
  const filters = sizes.map((bytes) => new BloomFilter(bytes, held.keys));
  await forEachHeld(held.map, streams, (key) => {
    for (const filter of filters) filter.add(key);
  });
  yield* sizes.map((bytes, i) => bloomPredictor(`bloom ${bytes} B`, bytes, filters[i], held));
}

/** Undefined where no packed map is so small. */
async function packedTo(path: string, options: PackOptions): Promise<Uint8Array | undefined> {
  try {
    return (await packMap(path, options)).file;
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_BUDGET") return undefined;
    throw error;
  }
}
