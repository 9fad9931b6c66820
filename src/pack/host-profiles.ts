import { MAX_DEPTH } from "../packed/packed-file.ts";

/**
 * The profile of the rows of each host, in columns. Hosts are numbered in map order.
 *
 * Holds 15 bytes per host.
 */
export class HostProfiles {
  count = 0;
  /** Hashes of host names. */
  low: Uint32Array = new Uint32Array(1024);
  high: Uint32Array = new Uint32Array(1024);
  /** Depths of rows as bits, as in a descriptor: pages, and from bit 8 on folders. */
  masks: Uint16Array = new Uint16Array(1024);
  flags: Uint8Array = new Uint8Array(1024);
  /** Rows stored in a filter. */
  rows: Uint32Array = new Uint32Array(1024);

  /** Such rows of all hosts. */
  rowCount = 0;
  /** Label counts of keys `com,cnn,*` and of keys `com,cnn,*)/a`, as bits. */
  hostWildcards = 0;
  hostSpreads = 0;
  /** Pages by their depth, as in a descriptor. */
  readonly depths: Float64Array = new Float64Array(MAX_DEPTH + 1);
  /** Domains with a void, such as `com,cnn,*`, up to their star. */
  readonly voidDomains: string[] = [];

  /** Adds a host without rows; returns its number. */
  push(low: number, high: number): number {
    const host = this.count++;
    if (host === this.low.length) this.#enlarge();
    this.low[host] = low;
    this.high[host] = high;
    return host;
  }

  #enlarge(): void {
    const room = 2 * this.low.length;
    this.low = copied(this.low, new Uint32Array(room));
    this.high = copied(this.high, new Uint32Array(room));
    this.masks = copied(this.masks, new Uint16Array(room));
    this.flags = copied(this.flags, new Uint8Array(room));
    this.rows = copied(this.rows, new Uint32Array(room));
  }
}

/** Copies an array into a larger one. */
export function copied<T extends Uint32Array | Uint16Array | Uint8Array | Int32Array>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
