import type { Archive } from "./archive.ts";

/** As many answers as what was thought before counts for. */
const PRIOR_WEIGHT = 20;

/** After so many answers the older ones begin to count for less: what archives hold changes. */
const MEMORY = 10_000;

/** How often an archive had what it was asked for, for reasons of one kind. */
export class HitRate {
  #asked = 0;
  #hits = 0;

  note(isHit: boolean): void {
    this.#asked += 1;
    if (isHit) this.#hits += 1;
    if (this.#asked < MEMORY) return;
    this.#asked /= 2;
    this.#hits /= 2;
  }

  /** How likely the next request finds something, if `prior` is what one would think without any. */
  likelihood(prior: number): number {
    return (this.#hits + PRIOR_WEIGHT * prior) / (this.#asked + PRIOR_WEIGHT);
  }
}

const ESTIMATE_CLASSES = 8;

/** How often one archive had what it was asked for. */
export class ArchiveRates {
  /** Asked while nothing was known about what it holds. */
  readonly withoutMap: HitRate = new HitRate();
  /** Asked for a part of a page that it holds. */
  readonly byReferer: HitRate = new HitRate();
  /** Asked because its map has the URI itself. */
  readonly byKey: HitRate = new HitRate();
  readonly #byWildcard = Array.from({ length: ESTIMATE_CLASSES }, () => new HitRate());

  /** Asked because its map has a wildcard, with an estimate below 1 of about this size. */
  byWildcard(estimate: number): HitRate {
    return this.#byWildcard[Math.floor(estimate * ESTIMATE_CLASSES)];
  }
}

/**
 * How often each archive had what it was asked for.
 *
 * What maps and lists say about archives is where likelihoods start from; what the archives answer
 * then corrects it. A few numbers an archive.
 */
export class HitRates {
  readonly #rates = new Map<string, ArchiveRates>();

  of({ id }: Archive): ArchiveRates {
    const known = this.#rates.get(id);
    if (known !== undefined) return known;
    const rates = new ArchiveRates();
    this.#rates.set(id, rates);
    return rates;
  }

  /** Forgets all archives but these. */
  keepOnly(archives: readonly Archive[]): void {
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.#rates.keys()) if (!ids.has(id)) this.#rates.delete(id);
  }
}
