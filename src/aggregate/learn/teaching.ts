/** Lookups of one network that teach at any time, of everything, of a domain and of a host. */
const BASES = [100, 30, 3] as const;
/** Beyond these, a network teaches as long as its lookups are at most this share of those that did. */
const SHARE = 0.25;
/** After as many lookups, those of everything count half: what teaches now is what counts now. */
const WINDOW = 8192;
/** Counts of domains and hosts; the oldest go. */
const MAX_COUNTS = 100_000;

/**
 * Bounds what one network can teach: of all lookups, and of those of a domain and of a host.
 *
 * Whoever looks up pages that nobody holds teaches that an archive has nothing of a site. So the lookups of a
 * network count as long as they are few, or other networks look the same site up, too.
 */
export class Teaching {
  /** By network, and for all of them under the empty name. */
  #all = new Map<string, number>();
  readonly #sites = new Map<string, number>();

  /**
   * Whether a lookup teaches, which counts it.
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
  // Those in use stay.
  counts.delete(key);
  counts.set(key, count + 1);
}
