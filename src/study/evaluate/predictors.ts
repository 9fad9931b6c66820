import { join } from "node:path";
import { BudgetCompaction } from "../../compact/budget-compaction.ts";
import type { MissList } from "../../compact/misses.ts";
import { openInput } from "../../files/input-file.ts";
import { ScratchSpill } from "../../files/scratch.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import type { PredictorFacts } from "./evaluation.ts";
import { paperMaps } from "./paper-maps.ts";
import { bytesOf, mapPredictor, type Predictor, readPredictor } from "./predictor.ts";
import type { Truth } from "./truth.ts";

/** From a thousandth to half of the keys. */
const FRONTIER_COSTS = [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];

/** Additional maps to make from the truth and evaluate: the paper's 36, or budgets. */
export type Sweep = "paper" | "frontier";

/** The inputs of predictors. */
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

/** All maps to evaluate: the named ones, and those made from the truth. */
export async function* predictorsOf(source: PredictorSource): Predictors {
  const { maps, sweep, held, streams, asOf, misses } = source;
  for (const path of maps) yield await readPredictor(path, path, streams);
  if (asOf !== undefined && maps.length === 0 && sweep === undefined) {
    yield await readPredictor(`all keys as of ${asOf}`, held.map, streams);
  }
  if (sweep === "paper") {
    for await (const { name, map, made } of paperMaps(held.map, streams)) {
      yield mapPredictor(name, map, made);
    }
  }
  if (sweep === "frontier") {
    yield* budgets(source, "budget", undefined);
    if (misses !== undefined) yield* budgets(source, "trained", misses);
  }
}

/** Maps within budgets. */
async function* budgets(
  { held, scratch, streams, cost }: PredictorSource,
  label: string,
  misses: MissList | undefined,
): Predictors {
  const read = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield* (await openInput(held.map, streams, { signal: streams.interrupt?.signal })).chunks;
  };
  const spill = new ScratchSpill(join(scratch, `${label}-nodes`));
  try {
    const options = { source: held.map, misses, spill };
    const compaction = await BudgetCompaction.survey(read, options);
    for (const share of FRONTIER_COSTS) {
      const maxRows = Math.floor(share * cost.costDivisor);
      // No map is that small.
      if (maxRows < compaction.leastRows) continue;
      const map = await bytesOf(compaction.write(compaction.plan(maxRows)));
      yield mapPredictor(`${label} ${(100 * share).toFixed(1)}%`, map);
    }
  } finally {
    spill.close();
  }
}
