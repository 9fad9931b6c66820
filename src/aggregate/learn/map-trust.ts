import { lowerMean, wilson } from "./intervals.ts";

/** Verdict of a map on an original: absent, covered by a wildcard, or listed by its own key. */
export type MapWord = "absent" | "covered" | "listed";

/** Evidence that answers contradict a map. */
export interface StaleMap {
  /** When it was detected, in milliseconds since 1970. */
  readonly since: number;
  /** `missing`: the archive has originals that the map lacks; `gone`: it lacks originals that the map lists. */
  readonly kind: "missing" | "gone";
  /** Lower bound on the fraction of hits that the map misses, or of listed keys that are gone. */
  readonly share: number;
  /** A key that the map is wrong about. */
  readonly example: string;
}

/** Counts about the map of an archive. */
interface Counts {
  /** The version of the map; another version starts with new counts. */
  version: string;
  /** Hits where the map says absent, and the sum of their weights. */
  missing: number;
  missingWeight: number;
  /** Hits where the map says present. */
  covered: number;
  /** Answers for keys that the map lists, and how many of them have no mementos. */
  listed: number;
  gone: number;
  stale: StaleMap | undefined;
}

/** A map is stale if it misses more than this fraction of an archive's hits. */
const MISSED_SHARE = 0.05;
const MIN_MISSING = 3;
/** A map is stale if more than this fraction of its listed keys are gone. */
const GONE_SHARE = 0.5;
const MIN_LISTED = 20;
/** Beyond this many answers, counts are halved. */
const MAX_ANSWERS = 20_000;

/**
 * Compares answers with the maps of their archives, and detects stale maps.
 *
 * A map is stale if, with a confidence of 97.5 %, it misses more than 5 % of its archive's hits (at least
 * three were found by querying although the map says absent), or if more than half of the keys it lists are
 * gone (of at least twenty answers). It stays stale until it changes.
 */
export class MapTrust {
  readonly #counts = new Map<string, Counts>();
  readonly #onStale: ((archive: string, stale: StaleMap) => void) | undefined;

  constructor(onStale?: (archive: string, stale: StaleMap) => void) {
    this.#onStale = onStale;
  }

  /** Sets the current version of an archive's map; undefined if there is none. */
  use(archive: string, version: string | undefined): void {
    if (version === undefined) this.#counts.delete(archive);
    else if (this.#counts.get(archive)?.version !== version) {
      this.#counts.set(archive, { ...NONE, version, stale: undefined });
    }
  }

  /** Why the map of an archive is not trusted; undefined if it is. */
  staleOf(archive: string): StaleMap | undefined {
    return this.#counts.get(archive)?.stale;
  }

  /**
   * Records an answer.
   *
   * @param propensity the probability with which the archive was queried.
   */
  note(
    archive: string,
    word: MapWord,
    answer: {
      readonly isHit: boolean;
      readonly propensity: number;
      readonly surt: string;
      readonly time: number;
    },
  ): void {
    const counts = this.#counts.get(archive);
    if (counts === undefined || counts.stale !== undefined) return;
    const { isHit, propensity } = answer;
    if (word === "listed") counts.listed++;
    if (word === "listed" && !isHit) counts.gone++;
    if (word === "absent" && isHit) {
      counts.missing++;
      counts.missingWeight += 1 / propensity;
    }
    if (word !== "absent" && isHit) counts.covered += 1 / propensity;
    if (counts.covered > MAX_ANSWERS || counts.listed > MAX_ANSWERS) halve(counts);
    const verdict = word === "absent" ? missingVerdict(counts) : goneVerdict(counts);
    const isContradiction = word === "absent" ? isHit : word === "listed" && !isHit;
    if (!isContradiction || verdict === undefined) return;
    counts.stale = { ...verdict, since: answer.time, example: keyOf(answer.surt) };
    this.#onStale?.(archive, counts.stale);
  }

  /** Drops all archives but these. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#counts.keys()) if (!ids.has(id)) this.#counts.delete(id);
  }

  /** Plain data. */
  get state(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.#counts);
  }

  /** Loads the counts of another instance; `state` is from the same program. */
  restore(state: Readonly<Record<string, unknown>>): void {
    for (const [archive, counts] of Object.entries(state)) {
      this.#counts.set(archive, { ...(counts as Counts) });
    }
  }
}

const NONE = { missing: 0, missingWeight: 0, covered: 0, listed: 0, gone: 0 };

function halve(counts: Counts): void {
  for (const name of ["missing", "missingWeight", "covered", "listed", "gone"] as const) {
    counts[name] /= 2;
  }
}

type Verdict = Pick<StaleMap, "kind" | "share">;

function missingVerdict({ missing, missingWeight, covered }: Counts): Verdict | undefined {
  if (missing < MIN_MISSING) return undefined;
  const least = lowerMean(missing) * (missingWeight / missing);
  const share = least / (least + covered);
  return share > MISSED_SHARE ? { kind: "missing", share } : undefined;
}

function goneVerdict({ listed, gone: count }: Counts): Verdict | undefined {
  if (listed < MIN_LISTED) return undefined;
  const share = wilson(count, listed).low;
  return share > GONE_SHARE ? { kind: "gone", share } : undefined;
}

const MAX_EXAMPLE_LENGTH = 200;

/** Without the query, which may contain personal data. */
function keyOf(surt: string): string {
  return surt.replace(/\?.*/s, "").slice(0, MAX_EXAMPLE_LENGTH);
}
