import { type ByteSource, readWhole } from "../bytes/byte-source.ts";
import { isPacked } from "../bytes/bytes.ts";
import { NameHash } from "./name-hash.ts";
import {
  crc32,
  damaged,
  dataStartOf,
  MAX_DELTAS,
  type PackedHead,
  type PackedHeader,
  parseHead,
  refused,
} from "./packed-file.ts";

/*
 * A packed map in one file: a whole one, and perhaps deltas behind it. Each delta is a packed map of what
 * the parts before it call absent; it names the part that it was made behind by its mark.
 */

/** Enough for the header of most packed maps. */
const FIRST_BYTES = 8192;
/** Enough for most deltas. */
const DELTA_FIRST_BYTES = 4096;

/** How a packed map is read. */
export interface ReadPackedOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of each part that was read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/**
 * The name that a delta knows a part by: the hash of its head, with the checksums of all its shards.
 *
 * @param head the bytes of the part up to its data.
 */
export function markOf(head: Uint8Array): string {
  const { low, high } = new NameHash().reset().extend(head, 0, head.length).finish();
  return [low, high].map((half) => half.toString(16).padStart(8, "0")).join("");
}

/** The parts of a packed map that are read one after the other, each checked against those before. */
export class PackedParts {
  readonly heads: PackedHead[] = [];
  readonly #source: string;
  /** The bytes of the last part up to its data. */
  #lastHead: Uint8Array = new Uint8Array(0);

  constructor(source: string) {
    this.#source = source;
  }

  /** The header of the newest part, whose description is that of the map. */
  get header(): PackedHeader {
    return this.heads[this.heads.length - 1].header;
  }

  /** The mark of the last part. */
  get mark(): string {
    return markOf(this.#lastHead);
  }

  /** Where the next part begins. */
  get end(): number {
    return this.heads.at(-1)?.end ?? 0;
  }

  /**
   * Takes the bytes of the next part, up to its data or more.
   *
   * @param size the size of the file.
   * @throws MM_BAD_INPUT for what is damaged, or does not belong behind the parts before; MM_CUT; MM_LIMIT
   */
  take(bytes: Uint8Array, size: number): PackedHead {
    const start = this.end;
    if (this.heads.length > 0 && !isPacked(bytes)) {
      throw damaged("end: bytes follow the last shard", this.#source);
    }
    const head = parseHead(bytes, size, this.#source, start);
    this.#checkPlace(head);
    this.#lastHead = bytes.subarray(0, head.dataStart - start);
    this.heads.push(head);
    return head;
  }

  #checkPlace({ header: { delta, queries } }: PackedHead): void {
    const position = this.heads.length;
    if (position === 0) {
      if (delta === undefined) return;
      throw refused(
        `is a delta: it must follow the packed map that it was made for, with the mark ` +
          `${delta.base}; put both into one file`,
        this.#source,
      );
    }
    if (delta === undefined) {
      throw refused("a whole packed map follows another one; use it alone", this.#source);
    }
    if (delta.base !== this.mark || delta.position !== position) {
      throw refused(
        `delta ${position} belongs to another packed map, with the mark ${delta.base}; ` +
          `this one has ${this.mark}`,
        this.#source,
      );
    }
    if (position > MAX_DELTAS || queries !== this.heads[0].header.queries) {
      throw damaged(`delta ${position}`, this.#source);
    }
  }
}

/** Reads the heads of all parts of a packed map in memory. @throws as `PackedParts.take`. */
export function parseParts(bytes: Uint8Array, source: string): PackedParts {
  const parts = new PackedParts(source);
  do parts.take(bytes.subarray(parts.end), bytes.length);
  while (parts.end < bytes.length);
  return parts;
}

/**
 * Reads the heads of all parts of a packed map.
 *
 * @throws as `PackedParts.take`; MM_IO
 */
export async function readParts(
  source: ByteSource,
  { signal }: ReadPackedOptions = {},
): Promise<PackedParts> {
  const parts = new PackedParts(source.name);
  do {
    const at = parts.end;
    const start = await source.read(at, at === 0 ? FIRST_BYTES : DELTA_FIRST_BYTES, signal);
    const isHead = at === 0 || isPacked(start);
    const dataStart = isHead ? dataStartOf(start, source.name) : 0;
    const bytes = dataStart <= start.length ? start : await source.read(at, dataStart, signal);
    parts.take(bytes, source.size);
  } while (parts.end < source.size);
  return parts;
}

/**
 * Checks all of a packed map: its header, its directory and every shard, and the same of its deltas.
 * Holds one shard.
 *
 * @throws as {@link readParts}; the message names the part that is damaged.
 */
export async function checkPacked(
  source: ByteSource,
  options: ReadPackedOptions = {},
): Promise<PackedParts> {
  const parts = await readParts(source, options);
  for (const [number, head] of parts.heads.entries()) {
    options.onRead?.(head.dataStart - head.start);
    for (const [index, { words, crc }] of head.shards.entries()) {
      const offset = head.dataStart + 4 * words;
      const next = head.shards.at(index + 1);
      const end = next === undefined ? head.end : head.dataStart + 4 * next.words;
      const bytes = await readWhole(source, offset, end - offset, options.signal);
      if (crc32(bytes, 0, bytes.length) !== crc) {
        const part = number === 0 ? "" : `delta ${number}, `;
        throw damaged(`${part}shard ${index}`, source.name);
      }
      options.onRead?.(bytes.length);
    }
  }
  return parts;
}
