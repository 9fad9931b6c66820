import type { AskedLookups } from "./asked-lookups.ts";
import type { TracePoint } from "./compaction-trace.ts";
import type { AnswerCounts } from "./confusion.ts";
import { Confusion } from "./confusion.ts";
import type { AsOfFreshness } from "./freshness-count.ts";
import type { MadeBy } from "./paper-sweep.ts";
import type { Predictor } from "./predictor.ts";

/** How well a map, or a rival of maps, answers lookups. */
export interface Evaluation extends AnswerCounts {
  readonly map: string;
  readonly lines: number | null;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Lines for each original of the truth, or for each key: `costBasis` says which. */
  readonly relativeCost: number | null;
  readonly costBasis: "originals" | "keys";
  /** How many of them the truth has. */
  readonly costDivisor: number;
  /** The same as `keyAccuracy`. */
  readonly accuracy: number | null;
  /** The share of right answers to keys, which have no query. */
  readonly keyAccuracy: number | null;
  /** The share of right answers to URIs (URI-Rs), as the paper has it; null if not known. */
  readonly uriAccuracy: number | null;
  /** Answers by URI; null if the truth has only keys. */
  readonly uris: AnswerCounts | null;
  /** Answers to lookups whose host is held, by key and by URI. */
  readonly heldHosts: { readonly keys: AnswerCounts; readonly uris: AnswerCounts | null };
  /** The share of all held keys that it calls present; below 1 is a fault. */
  readonly recall: number;
  /**
   * The share of what was archived later that it calls present: keys of a list, or originals first
   * captured after a date. Null without either.
   */
  readonly freshness: number | null;
  /** What it says of captures after a date. */
  readonly asOf?: AsOfFreshness | undefined;
  /** How it was made, for the maps of the paper's sweep. */
  readonly made?: MadeBy | undefined;
}

/** Lookups, and which of them are held. */
export interface JudgedLookups {
  readonly asked: AskedLookups;
  /** For each key, 1 if it is held, and 1 if its host is. */
  readonly keyIsHeld: Uint8Array;
  readonly keyIsOnHeldHost: Uint8Array;
  /** For each URI, 1 if it is held; undefined if only keys are known. */
  readonly uriIsHeld: Uint8Array | undefined;
}

/** Evaluations of all lookups, and of those alone whose host is held. */
export interface EvaluationReport {
  readonly all: readonly Evaluation[];
  readonly onHeldHosts: readonly Evaluation[];
  readonly truth: TruthSummary;
  /** The map with all keys: what a sweep starts from. */
  readonly base: Evaluation | undefined;
  /** Processed and produced rows of a compaction of the base, where it was asked for. */
  readonly trace: readonly TracePoint[] | undefined;
  /** Lines of the lists that are neither URIs nor SURTs, and were left out. */
  readonly oddLines: number;
}

/** What the maps were compared with. */
export interface TruthSummary {
  readonly kind: "map" | "index";
  readonly keys: number;
  readonly originals: number | null;
  /** Why there is no accuracy by URI; null where there is one. */
  readonly noUris: string | null;
}

/** What is known of a predictor beside its answers to lookups. */
export interface PredictorFacts {
  readonly recall: number;
  readonly freshness: number | null;
  readonly asOf?: AsOfFreshness | undefined;
  readonly costBasis: "originals" | "keys";
  readonly costDivisor: number;
}

/** What a predictor says of every key that was asked for: 1 for present. */
export function answersOf(predictor: Predictor, { asked }: JudgedLookups): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from(asked.keys.texts, (key) => (predictor.says(encoder.encode(key)) ? 1 : 0));
}

/**
 * Compares answers with what is held.
 *
 * @param onlyHeldHosts whether lookups of other hosts are left out
 */
export function evaluation(
  predictor: Omit<Predictor, "says">,
  lookups: JudgedLookups,
  answers: Uint8Array,
  facts: PredictorFacts,
  onlyHeldHosts: boolean,
): Evaluation {
  const ofHeldHosts = countAnswers(lookups, answers, true);
  const { keys, uris } = onlyHeldHosts ? ofHeldHosts : countAnswers(lookups, answers, false);
  const { name, lines, bytes, gzipBytes, made } = predictor;
  const { recall, freshness, asOf, costBasis, costDivisor } = facts;
  return {
    map: name,
    lines: lines ?? null,
    bytes,
    gzipBytes,
    relativeCost: lines === undefined ? null : lines / Math.max(1, costDivisor),
    costBasis,
    costDivisor,
    ...keys,
    keyAccuracy: keys.accuracy,
    uriAccuracy: uris?.accuracy ?? null,
    uris,
    heldHosts: ofHeldHosts,
    recall,
    freshness,
    ...(asOf === undefined ? {} : { asOf }),
    ...(made === undefined ? {} : { made }),
  };
}

function countAnswers(
  { asked, keyIsHeld, keyIsOnHeldHost, uriIsHeld }: JudgedLookups,
  answers: Uint8Array,
  onlyHeldHosts: boolean,
): { keys: AnswerCounts; uris: AnswerCounts | null } {
  const [byKey, byUri] = [new Confusion(), new Confusion()];
  const counts = (key: number): boolean => !onlyHeldHosts || keyIsOnHeldHost[key] === 1;
  for (const [key, count] of asked.keys.counts.entries()) {
    if (counts(key)) byKey.add(keyIsHeld[key] === 1, answers[key] === 1, count);
  }
  if (uriIsHeld === undefined) return { keys: byKey.counts(), uris: null };
  for (const [uri, count] of asked.uris.counts.entries()) {
    const key = asked.keyOfUri[uri];
    if (counts(key)) byUri.add(uriIsHeld[uri] === 1, answers[key] === 1, count);
  }
  return { keys: byKey.counts(), uris: byUri.counts() };
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
