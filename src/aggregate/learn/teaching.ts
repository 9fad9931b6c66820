/** Lookups of one network that always teach: in total, per domain and per host. */
const BASES = [100, 30, 3] as const;
/** Beyond these, a network teaches while its lookups are at most this fraction of those that taught. */
const SHARE = 0.25;
/** After this many lookups, the total counts are halved: recent lookups count. */
const WINDOW = 8192;
/** Number of counts of domains and hosts; the oldest are dropped. */
const MAX_COUNTS = 100_000;

/**
 * Bounds the influence of one network on learning: in total, and per domain and host.
 *
 * Otherwise a client could look up nonexistent pages to teach that an archive has nothing of a site. So the
 * lookups of a network count only while they are few, or while other networks look up the same site too.
 */
export class Teaching {
  /** By network, with totals under the empty name. */
  #all = new Map<string, number>();
  readonly #sites = new Map<string, number>();

  /**
   * Whether a lookup teaches; counts it if so.
   *
   * @param network of the client; undefined for the operator's own, which always teaches.
   */
  admit(network: string | undefined, domain: string, host: string): boolean {
    const places = [
      [this.#all, ""],
      [this.#sites, domain],
      [this.#sites, host],
    ] as const;
    const isWithin = ([counts, place]: (typeof places)[number], level: number): boolean => {
      const own = counts.get(`${place} ${network}`) ?? 0;
      return own < BASES[level] + SHARE * (counts.get(place) ?? 0);
    };
    if (network !== undefined && !places.every(isWithin)) return false;
    for (const [counts, place] of places) {
      increment(counts, place);
      if (network !== undefined) increment(counts, `${place} ${network}`);
    }
    if ((this.#all.get("") ?? 0) >= WINDOW) {
      const halves = [...this.#all].map(([key, count]) => [key, count / 2] as const);
      this.#all = new Map(halves.filter(([, count]) => count >= 1));
    }
    for (const key of this.#sites.keys()) {
      if (this.#sites.size <= MAX_COUNTS) break;
      this.#sites.delete(key);
    }
    return true;
  }
}

function increment(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0;
  // Recently used counts stay.
  counts.delete(key);
  counts.set(key, count + 1);
}
