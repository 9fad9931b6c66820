import { LF } from "../../bytes/bytes.ts";
import { type ByteSource, readWhole } from "../../bytes/byte-source.ts";
import { type MapPage, pageHead, type PageMembers, type SplitPlan } from "../../map/split.ts";

/**
 * A page of a map as a source of its own, without a byte of the map copied.
 *
 *     [0, head)            headers of the map, and `!meta {"page": …}`
 *     [head, head+records) records, where they stand in the map
 *     [.., size)           a line feed, if the map lacks its last
 */
export class PageSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #map: ByteSource;
  readonly #head: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  readonly #tail: Uint8Array;

  private constructor(map: ByteSource, head: Uint8Array, page: MapPage, tail: Uint8Array) {
    this.name = `page ${page.number} of ${map.name}`;
    this.#map = map;
    this.#head = head;
    this.#start = page.start;
    this.#end = page.end;
    this.#tail = tail;
    this.size = head.length + (page.end - page.start) + tail.length;
  }

  /** Makes a page ready; reads the last byte of its records. `more` goes into its header. */
  static async open(
    map: ByteSource,
    plan: SplitPlan,
    page: MapPage,
    more: PageMembers = {},
  ): Promise<PageSource> {
    const isEmpty = page.end === page.start;
    const [last] = isEmpty ? [LF] : await readWhole(map, page.end - 1, 1);
    const tail = last === LF ? new Uint8Array(0) : Uint8Array.of(LF);
    return new PageSource(map, pageHead(plan, page, more), page, tail);
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size);
    if (offset >= end) return new Uint8Array(0);
    const recordsStart = this.#head.length;
    const recordsEnd = recordsStart + this.#end - this.#start;
    const parts: Uint8Array[] = [];
    if (offset < recordsStart) parts.push(this.#head.subarray(offset, end));
    const from = Math.max(offset, recordsStart);
    const to = Math.min(end, recordsEnd);
    if (from < to) {
      const start = this.#start + from - recordsStart;
      parts.push(await readWhole(this.#map, start, to - from, signal));
    }
    if (end > recordsEnd) parts.push(this.#tail);
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }
}
