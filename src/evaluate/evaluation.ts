import { Confusion } from "./confusion.ts";
import type { MadeBy } from "./paper-sweep.ts";
import type { Predictor } from "./predictor.ts";

/** How well a map, or a rival of maps, answers lookups. */
export interface Evaluation {
  readonly map: string;
  readonly lines: number | null;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Lines for each original, or for each row of the truth where that is not known. */
  readonly relativeCost: number | null;
  readonly lookups: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  readonly accuracy: number;
  /** The share of all held keys that it calls present; below 1 is a fault. */
  readonly recall: number;
  /** The share of what was archived later that it calls present; none without such a list. */
  readonly freshness: number | null;
  /** How it was made, for the maps of the paper's sweep. */
  readonly made?: MadeBy | undefined;
}

/** Keys to be asked for, and whether they are held. */
export interface AskedKeys {
  readonly keys: readonly Uint8Array[];
  readonly isHeld: Uint8Array;
}

/** Evaluations of all lookups, and of those alone whose host is held. */
export interface EvaluationReport {
  readonly all: readonly Evaluation[];
  readonly onHeldHosts: readonly Evaluation[];
}

export interface EvaluationInput {
  readonly lookups: AskedKeys;
  /** Keys archived after the truth was made. */
  readonly future: readonly Uint8Array[] | undefined;
  readonly originals: number;
}

/**
 * Asks a predictor for every lookup, and for what was archived later.
 *
 * @param recall from a {@link RecallCount} over all that is held
 */
export function evaluate(predictor: Predictor, input: EvaluationInput, recall: number): Evaluation {
  const { lookups, future, originals } = input;
  const confusion = new Confusion();
  for (const [i, key] of lookups.keys.entries()) {
    confusion.add(lookups.isHeld[i] === 1, predictor.says(key));
  }
  const { truePositives, falsePositives, trueNegatives, falseNegatives, accuracy } = confusion;
  const { name, lines, bytes, gzipBytes } = predictor;
  return {
    map: name,
    lines: lines ?? null,
    bytes,
    gzipBytes,
    relativeCost: lines === undefined ? null : lines / Math.max(1, originals),
    lookups: confusion.total,
    truePositives,
    falsePositives,
    trueNegatives,
    falseNegatives,
    accuracy,
    recall,
    freshness: freshnessOf(predictor, future),
    ...(predictor.made === undefined ? {} : { made: predictor.made }),
  };
}

function freshnessOf(
  predictor: Predictor,
  future: readonly Uint8Array[] | undefined,
): number | null {
  if (future === undefined || future.length === 0) return null;
  return future.filter((key) => predictor.says(key)).length / future.length;
}

/** Counts how much of what is held predictors call present. */
export class RecallCount {
  #held = 0;
  readonly #predictors: readonly Predictor[];
  readonly #found: Float64Array;

  constructor(predictors: readonly Predictor[]) {
    this.#predictors = predictors;
    this.#found = new Float64Array(predictors.length);
  }

  /** Takes a key that is held. */
  add(key: Uint8Array): void {
    this.#held++;
    const predictors = this.#predictors;
    for (let i = 0; i < predictors.length; i++) if (predictors[i].says(key)) this.#found[i]++;
  }

  /** The recall of each predictor; 1 when nothing is held. */
  get recalls(): number[] {
    return Array.from(this.#found, (found) => (this.#held === 0 ? 1 : found / this.#held));
  }
}
