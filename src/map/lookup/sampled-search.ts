import { compareRanges, copyRange, CR, LF, SPACE } from "../../bytes/bytes.ts";
import { type ByteSource, readWhole, SharedRead } from "../../bytes/byte-source.ts";
import { checkSignal } from "../../interruption.ts";
import { lookupKeys, type LookupKey } from "../../surt/key.ts";
import { surt as surtOf } from "../../surt/uri-to-surt.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { columnEnd, type DatetimeRange } from "../../ukvs/record.ts";
import {
  type Answer,
  answerAt,
  answerFromRows,
  type KeyAnswer,
  type LookupOptions,
  lookupPeriod,
  type MapLookup,
} from "./map-lookup.ts";
import { olderSpellings, type RowLayout, rowLayout, type RowRange } from "./map-row.ts";

/** Below this many bytes, reading on line by line is as quick as halving. */
const SCAN_BYTES = 256;

const encoder = new TextEncoder();

/**
 * A key for every few kilobytes of a sorted map, and where its rows start: a few megabytes for a map
 * of a gigabyte. Rows of one key are never on both sides of a sample.
 */
export class KeySamples {
  readonly #segmentBytes: number;
  readonly #offsets: number[] = [];
  /** Where each key ends in `#bytes`; it starts where the one before ends. */
  readonly #ends: number[] = [];
  #bytes: Uint8Array = new Uint8Array(4096);

  /** @param options.segmentBytes how far apart samples are; default 8 KiB. */
  constructor(options: { readonly segmentBytes?: number } = {}) {
    this.#segmentBytes = options.segmentBytes ?? 8192;
  }

  get count(): number {
    return this.#offsets.length;
  }

  /** Takes the key `bytes[start, end)` if it is far enough from the last. Call it for each key. */
  add(offset: number, bytes: Uint8Array, start: number, end: number): void {
    const { count } = this;
    if (count > 0 && offset - this.#offsets[count - 1] < this.#segmentBytes) return;
    const from = count === 0 ? 0 : this.#ends[count - 1];
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(2 * to);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    copyRange(bytes, start, end, this.#bytes, from);
    this.#offsets.push(offset);
    this.#ends.push(to);
  }

  /** Where the rows of a sample start; undefined behind the last. */
  offset(sample: number): number | undefined {
    return this.#offsets[sample];
  }

  /** The last sample whose key is not after `key`; -1 where there is none. */
  before(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : this.#ends[middle - 1];
      const order = compareRanges(this.#bytes, start, this.#ends[middle], key, 0, key.length);
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Segments that one lookup waited for: it finds them again, whatever others read meanwhile. */
type Held = ReadonlyMap<number, Uint8Array>;
const NOTHING_HELD: Held = new Map();

/**
 * Search in a sorted map that is too large for memory, with samples of its keys.
 *
 * A key is in one segment of the map, which the samples tell. Segments are kept, those used last, up
 * to a number of bytes; a lookup whose segments are kept is answered at once, and lookups at the same
 * time share what is read. The order of the map is not checked.
 */
export class SampledSearch implements MapLookup {
  readonly headers: UkvsHeaders;
  readonly #source: ByteSource;
  readonly #samples: KeySamples;
  readonly #layout: RowLayout;
  readonly #maxBytes: number;
  /** Segments kept, by their numbers. */
  readonly #kept: (Uint8Array | undefined)[];
  #keptBytes = 0;
  /** 1 for each segment that was used since the hand was there last. */
  readonly #isUsed: Uint8Array;
  /** Goes round the segments and drops those not used since it came by: nearly the oldest. */
  #hand = 0;
  readonly #reads = new Map<number, SharedRead>();

  /** @param options.maxBytes how many bytes of the map to keep. */
  constructor(
    source: ByteSource,
    headers: UkvsHeaders,
    samples: KeySamples,
    options: { readonly maxBytes: number },
  ) {
    this.headers = headers;
    this.#source = source;
    this.#samples = samples;
    this.#layout = rowLayout(headers.fields, source.name);
    this.#maxBytes = options.maxBytes;
    this.#kept = Array.from({ length: samples.count });
    this.#isUsed = new Uint8Array(samples.count);
  }

  async lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurtNow(surtOf(uri), options);
  }

  async lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurtNow(surt, options);
  }

  /** Looks a SURT up: at once if what it takes is kept, with a promise otherwise. */
  lookupSurtNow(surt: string, options: LookupOptions = {}): Answer | Promise<Answer> {
    checkSignal(options.signal);
    const keys = lookupKeys(surt, this.#layout.fields);
    const period = lookupPeriod(options.at);
    return this.#complete((held) => this.#decide(keys, period, held), options.signal);
  }

  async find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    checkSignal(options.signal);
    const period = lookupPeriod(options.at);
    return this.#complete((held) => this.#find(key, period, held), options.signal);
  }

  /** Tries until no segment is missing, the number of which is what `attempt` returns otherwise. */
  #complete<T>(
    attempt: (held: Held) => T | number,
    signal: AbortSignal | undefined,
  ): T | Promise<T> {
    const first = attempt(NOTHING_HELD);
    return typeof first === "number" ? this.#completeLater(first, attempt, signal) : first;
  }

  async #completeLater<T>(
    missing: number,
    attempt: (held: Held) => T | number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const held = new Map<number, Uint8Array>();
    let segment = missing;
    for (;;) {
      held.set(segment, await this.#read(segment, signal));
      const found = attempt(held);
      if (typeof found !== "number") return found;
      segment = found;
    }
  }

  #decide(
    keys: readonly LookupKey[],
    period: DatetimeRange | undefined,
    held: Held,
  ): Answer | number {
    for (const { key, distance } of keys) {
      const found = this.#find(key, period, held);
      if (typeof found === "number") return found;
      if (found?.decides === true) return answerAt(found, distance);
    }
    return { present: false };
  }

  #find(
    key: string,
    period: DatetimeRange | undefined,
    held: Held,
  ): KeyAnswer | undefined | number {
    let undecided: KeyAnswer | undefined;
    for (const spelling of [key, ...olderSpellings(key, this.#layout.fields)]) {
      const bytes = encoder.encode(spelling);
      const segment = this.#samples.before(bytes);
      if (segment === -1) continue;
      const lines = held.get(segment) ?? this.#take(segment);
      if (lines === undefined) return segment;
      const rows = rowsOf(lines, bytes);
      if (rows.length === 0) continue;
      const answer = answerFromRows(rows, this.#layout, period);
      if (answer.decides) return answer;
      undecided ??= answer;
    }
    return undecided;
  }

  #take(segment: number): Uint8Array | undefined {
    this.#isUsed[segment] = 1;
    return this.#kept[segment];
  }

  #read(segment: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let read = this.#reads.get(segment);
    if (read === undefined) {
      const forget = (): void => {
        if (this.#reads.get(segment) === read) this.#reads.delete(segment);
      };
      read = new SharedRead((ended) => this.#readSegment(segment, ended), forget);
      this.#reads.set(segment, read);
    }
    return read.wait(signal);
  }

  async #readSegment(segment: number, signal: AbortSignal): Promise<Uint8Array> {
    const start = this.#samples.offset(segment) ?? 0;
    const end = this.#samples.offset(segment + 1) ?? this.#source.size;
    const lines = await readWhole(this.#source, start, end - start, signal);
    this.#keptBytes += lines.length - (this.#kept[segment]?.length ?? 0);
    this.#kept[segment] = lines;
    while (this.#keptBytes > this.#maxBytes) this.#moveHand();
    return lines;
  }

  #moveHand(): void {
    this.#hand = (this.#hand + 1) % this.#kept.length;
    const lines = this.#kept[this.#hand];
    if (lines !== undefined && this.#isUsed[this.#hand] === 0) {
      this.#kept[this.#hand] = undefined;
      this.#keptBytes -= lines.length;
    }
    this.#isUsed[this.#hand] = 0;
  }
}

/** The rows of a key among sorted lines. */
function rowsOf(lines: Uint8Array, key: Uint8Array): RowRange[] {
  const rows: RowRange[] = [];
  let start = narrow(lines, key);
  while (start < lines.length) {
    const end = lineEnd(lines, start);
    const order = compareKey(lines, start, end, key);
    if (order > 0) break;
    if (order === 0) rows.push({ bytes: lines, start, end: lines[end - 1] === CR ? end - 1 : end });
    start = end + 1;
  }
  return rows;
}

/** The start of a line shortly before the first whose key is not below `key`. */
function narrow(lines: Uint8Array, key: Uint8Array): number {
  // Lines that start before `low` have keys below `key`; those that start after `high` do not.
  let low = 0;
  let high = lines.length;
  while (high - low > SCAN_BYTES) {
    const middle = (low + high) >>> 1;
    const start = recordAfter(lines, middle);
    if (start >= high || compareKey(lines, start, lineEnd(lines, start), key) >= 0) high = middle;
    else low = start;
  }
  return low;
}

/** The start of the first line behind `offset` that is not blank. */
function recordAfter(lines: Uint8Array, offset: number): number {
  let start = lineEnd(lines, offset) + 1;
  while (start < lines.length && lines[start] <= SPACE) start = lineEnd(lines, start) + 1;
  return start;
}

/** A blank line is below every key. */
function compareKey(lines: Uint8Array, start: number, end: number, key: Uint8Array): number {
  return compareRanges(lines, start, columnEnd(lines, start, end), key, 0, key.length);
}

function lineEnd(lines: Uint8Array, from: number): number {
  const end = lines.indexOf(LF, from);
  return end === -1 ? lines.length : end;
}
