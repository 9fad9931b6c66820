import { MAX_DEPTH } from "../packed/packed-file.ts";

/** Hosts in columns: each is known by its number. */
export class HostColumns {
  count = 0;
  /** The hashes of their names. */
  low: Uint32Array;
  high: Uint32Array;
  /** Rows by depth, a bit each, as in a descriptor: of pages, and from bit 8 on of folders. */
  masks: Uint16Array;
  flags: Uint8Array;
  rows: Uint32Array;

  constructor(room = 1024) {
    this.low = new Uint32Array(room);
    this.high = new Uint32Array(room);
    this.masks = new Uint16Array(room);
    this.flags = new Uint8Array(room);
    this.rows = new Uint32Array(room);
  }

  /** Adds a host without rows; returns its number. */
  push(low: number, high: number): number {
    if (this.count === this.low.length) this.#resize(2 * this.count);
    this.low[this.count] = low;
    this.high[this.count] = high;
    return this.count++;
  }

  /** Adds what `other` says of one of its hosts to a host. */
  include(host: number, other: HostColumnData, index: number): void {
    this.masks[host] |= other.masks[index];
    this.flags[host] |= other.flags[index];
    this.rows[host] += other.rows[index];
  }

  /** Gives back room that is not used. */
  trim(): void {
    this.#resize(this.count);
  }

  #resize(size: number): void {
    this.low = resized(new Uint32Array(size), this.low);
    this.high = resized(new Uint32Array(size), this.high);
    this.masks = resized(new Uint16Array(size), this.masks);
    this.flags = resized(new Uint8Array(size), this.flags);
    this.rows = resized(new Uint32Array(size), this.rows);
  }
}

type HostColumnData = Pick<HostColumns, "count" | "low" | "high" | "masks" | "flags" | "rows">;

function resized<T extends Uint32Array | Uint16Array | Uint8Array>(target: T, source: T): T {
  target.set(source.subarray(0, target.length));
  return target;
}

/** What is said of all hosts. */
interface HostTotals {
  /** The numbers of labels, as bits, that some `com,cnn,*` and some `com,cnn,*)/a` have. */
  hostWildcards: number;
  hostSpreads: number;
  /** Pages by their depth, as in a descriptor. */
  readonly depths: Float64Array;
  /** Rows that need a place in a filter. */
  rowCount: number;
  /** Domains with a void, such as `com,cnn,*`, up to their star. */
  readonly voidDomains: string[];
  /** Whether some key has a query, though the map does not say so; see `withPresentKeys`. */
  hasOtherKeys: boolean;
}

/** The hosts of a part of a map; what threads send each other. */
export type HostPart = HostColumnData & HostTotals & { readonly opaque: HostColumnData };

/**
 * The number that names have whose keys have no host, such as `dns:a.com`. These keys are those of one host
 * without a name, wherever they are in the map; it becomes the last one.
 */
export const OPAQUE_HOST: number = 2 ** 32 - 1;

/**
 * What the rows of each host are. Hosts come in the order of the map.
 *
 * Holds 15 bytes for each host.
 */
export class HostProfiles extends HostColumns implements HostTotals {
  hostWildcards = 0;
  hostSpreads = 0;
  readonly depths: Float64Array = new Float64Array(MAX_DEPTH + 1);
  rowCount = 0;
  readonly voidDomains: string[] = [];
  hasOtherKeys = false;
  /** The host of keys without one, if there are any. */
  readonly opaque: HostColumns = new HostColumns(1);

  /** Adds the hosts of the next part of the map; returns the number of its first one. */
  append(part: HostPart): number {
    const last = this.count - 1;
    const isSame =
      part.count > 0 &&
      last >= 0 &&
      this.low[last] === part.low[0] &&
      this.high[last] === part.high[0];
    const first = isSame ? last : this.count;
    for (let i = 0; i < part.count; i++) {
      const host = i === 0 && isSame ? last : this.push(part.low[i], part.high[i]);
      this.include(host, part, i);
    }
    if (part.opaque.count > 0) {
      if (this.opaque.count === 0) this.opaque.push(part.opaque.low[0], part.opaque.high[0]);
      this.opaque.include(0, part.opaque, 0);
    }
    this.hostWildcards |= part.hostWildcards;
    this.hostSpreads |= part.hostSpreads;
    part.depths.forEach((pages, depth) => {
      this.depths[depth] += pages;
    });
    this.rowCount += part.rowCount;
    this.voidDomains.push(...part.voidDomains);
    this.hasOtherKeys ||= part.hasOtherKeys;
    return first;
  }

  /** Makes the host of keys without one the last. Call it when all parts are there. */
  finish(): this {
    if (this.opaque.count > 0) {
      this.include(this.push(this.opaque.low[0], this.opaque.high[0]), this.opaque, 0);
    }
    return this;
  }
}
