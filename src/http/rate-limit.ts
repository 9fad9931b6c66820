/**
 * Limits the requests per second of each address, with short bursts allowed: a token bucket.
 *
 * IPv6 addresses are grouped by /64 prefix, the usual allocation of a household. Holds at most `maxAddresses`
 * buckets; the oldest is evicted first, which errs on the side of admitting requests.
 *
 * @example
 * ```ts
 * import { RateLimit } from "mementomap/server";
 *
 * const limit = new RateLimit({ perSecond: 1, burst: 1 });
 * console.log(limit.take("192.0.2.1"), limit.take("192.0.2.1") > 0);
 * ```
 * ```
 * 0 true
 * ```
 */
export class RateLimit {
  readonly #msPerRequest: number;
  readonly #burst: number;
  readonly #maxAddresses: number;
  readonly #now: () => number;
  /** The time when the bucket of each network is full again. */
  readonly #fullAt = new Map<string, number>();

  constructor(options: {
    readonly perSecond: number;
    /** Default twice the rate. */
    readonly burst?: number;
    readonly maxAddresses?: number;
    readonly now?: () => number;
  }) {
    this.#msPerRequest = 1000 / options.perSecond;
    this.#burst = Math.max(1, options.burst ?? 2 * options.perSecond);
    this.#maxAddresses = options.maxAddresses ?? 10_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Seconds to wait before a request may be made; 0 when it may be made now. */
  take(address: string): number {
    const key = networkOf(address);
    const now = this.#now();
    const missingMs = Math.max(0, (this.#fullAt.get(key) ?? now) - now);
    const waitMs = missingMs - (this.#burst - 1) * this.#msPerRequest;
    if (waitMs > 0) return waitMs / 1000;
    this.#fullAt.set(key, now + missingMs + this.#msPerRequest);
    const [oldest] = this.#fullAt.keys();
    if (this.#fullAt.size > this.#maxAddresses && oldest !== undefined) this.#fullAt.delete(oldest);
    return 0;
  }
}

/** `2001:db8:1:2:3::4` → `2001:db8:1:2`; other addresses unchanged. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array.from({ length: zeros }, () => "0"), ...back].slice(0, 4).join(":");
}
