import { MAX_DEPTH } from "../packed/packed-file.ts";

/**
 * What the rows of each host are, in columns. Hosts are numbered in the order of the map.
 *
 * Holds 15 bytes for each host.
 */
export class HostProfiles {
  count = 0;
  /** The hashes of their names. */
  low: Uint32Array = new Uint32Array(1024);
  high: Uint32Array = new Uint32Array(1024);
  /** Rows by depth, a bit each, as in a descriptor: of pages, and from bit 8 on of folders. */
  masks: Uint16Array = new Uint16Array(1024);
  flags: Uint8Array = new Uint8Array(1024);
  /** Rows that need a place in a filter. */
  rows: Uint32Array = new Uint32Array(1024);

  /** Such rows of all hosts. */
  rowCount = 0;
  /** The numbers of labels, as bits, that some `com,cnn,*` and some `com,cnn,*)/a` have. */
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

/** Copies the elements of an array into a larger one. */
export function copied<T extends Uint32Array | Uint16Array | Uint8Array | Int32Array>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
