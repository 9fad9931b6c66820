/**
 * Limits the requests a second of each address, with short bursts allowed: a token bucket.
 *
 * IPv6 addresses count by their first 64 bits, which is what one household has. Holds at most
 * `maxAddresses` buckets; the oldest is forgotten first, which errs on the side of answering.
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
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #maxAddresses: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(options: {
    readonly perSecond: number;
    /** Default twice the rate. */
    readonly burst?: number;
    readonly maxAddresses?: number;
    readonly now?: () => number;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = Math.max(1, options.burst ?? 2 * options.perSecond);
    this.#maxAddresses = options.maxAddresses ?? 10_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Seconds to wait before a request may be made; 0 when it may be made now. */
  take(address: string): number {
    const bucket = this.#bucketOf(address);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#perSecond;
    bucket.tokens -= 1;
    return 0;
  }

  /** The bucket of an address as it is now. */
  #bucketOf(address: string): { tokens: number; at: number } {
    const key = networkOf(address);
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    const gained = ((now - bucket.at) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }

  #add(key: string, now: number): { tokens: number; at: number } {
    if (this.#buckets.size >= this.#maxAddresses) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    const bucket = { tokens: this.#burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** `2001:db8:1:2:3::4` → `2001:db8:1:2`; other addresses as they are. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array.from({ length: zeros }, () => "0"), ...back].slice(0, 4).join(":");
}
