import {
  CLOSE_PAREN,
  COMMA,
  CR,
  DELETE,
  LF,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
} from "../../bytes/bytes.ts";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { currentSpelling } from "../../surt/key.ts";
import {
  columnEnd,
  columnsEnd,
  formatRecord,
  LastKey,
  parseRecord,
  skipBlanks,
  type UkvsRecord,
} from "../../ukvs/record.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  isPresent,
  parseFrequency,
} from "../../ukvs/frequency.ts";
import { type Fields, isJsonObject, startsHeader } from "../../ukvs/header.ts";
import type { RowPart, RowRange } from "./totals.ts";
import { plainFrequencyEnd } from "../lookup/map-row.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** A row in the form that writers produce, in bytes of its own. */
interface CanonicalRow extends RowRange {
  /** The line with its end, and behind it the frequency that counts. */
  readonly bytes: Uint8Array;
  readonly keyEnd: number;
  readonly lineEnd: number;
  /** Whether the map spells the key otherwise, so that its place may be another. */
  readonly isRespelled: boolean;
}

/**
 * Puts a line of a map, without its end, into the form that writers produce.
 *
 * The frequency that counts is that of the row. Where that is 0 and the JSON block holds something of
 * some time, it is the sum of the block: such a row is present.
 *
 * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY; MM_BAD_HEADER for a header
 */
function canonicalRow(line: Uint8Array, fields: Fields): CanonicalRow {
  const text = textOfLine(line);
  if (startsHeader(line[0])) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header after the first record: ${quote(text)}; headers come first`,
    );
  }
  if (line[0] === QUOTE) {
    throw new MementoMapError(
      "MM_BAD_KEY",
      `the key is quoted, which keys of a map never are: ${quote(text)}`,
    );
  }
  const record = parseRecord(text, fields);
  const [written, ...otherKeys] = record.keys;
  const [, ...otherValues] = record.values;
  const key = currentSpelling(written);
  const frequency = parseFrequency(record.values[0] ?? "/");
  const row = formatRecord(
    {
      ...record,
      keys: [key, ...otherKeys],
      values: [formatFrequency(frequency), ...otherValues],
    },
    fields,
  );
  const counts = formatFrequency(
    isPresent(frequency) ? frequency : (heldAtTimes(record) ?? frequency),
  );
  const bytes = encoder.encode(`${row}\n${counts}`);
  const lineEnd = bytes.length - counts.length;
  const keyEnd = columnEnd(bytes, 0, lineEnd - 1);
  const hasOneKey = otherKeys.length === 0;
  return {
    bytes,
    keyEnd,
    lineEnd,
    moreKeysStart: hasOneKey ? keyEnd : keyEnd + 1,
    moreKeysEnd: columnsEnd(bytes, 0, lineEnd - 1, fields.keys.length),
    frequencyStart: lineEnd,
    frequencyEnd: bytes.length,
    parts: partsOf(record, fields),
    isRespelled: key !== written,
  };
}

/** The sum of what a JSON block holds of some time; undefined where that is nothing. */
export function heldAtTimes(record: Pick<UkvsRecord, "json">): Frequency | undefined {
  const held = heldParts(record).map(({ frequency }) => frequency);
  return held.length === 0 ? undefined : held.reduce(addFrequencies);
}

function heldParts({ json }: Pick<UkvsRecord, "json">): { time: string; frequency: Frequency }[] {
  const parts = json?.["datetime"];
  if (!isJsonObject(parts)) return [];
  return Object.entries(parts)
    .map(([time, value]) => ({ time, frequency: parseFrequency(String(value)) }))
    .filter(({ frequency }) => isPresent(frequency));
}

function partsOf(record: UkvsRecord, fields: Fields): RowPart[] | undefined {
  const column = fields.keys.indexOf("datetime") - 1;
  if (column < 0 || record.json === undefined) return undefined;
  return heldParts(record).map(({ time, frequency }) => ({
    moreKeys: record.keys.slice(1).with(column, time).join(" "),
    frequency,
  }));
}

/** @throws MM_BAD_LINE for what is not UTF-8 */
export function textOfLine(line: Uint8Array): string {
  try {
    return decoder.decode(line);
  } catch (error) {
    throw new MementoMapError("MM_BAD_LINE", "the line looks binary: it is not UTF-8", {
      cause: error,
    });
  }
}

/** Where in a text lines are; the first row of the text is line `firstLine`. */
export interface LinesPlace {
  readonly source: string;
  readonly firstLine: number;
}

/** What rows are fed to; `Compactor` says what each method does. */
export interface RowSink {
  sharedBytes(view: DataView, start: number, end: number): number;
  add(
    bytes: Uint8Array,
    lineStart: number,
    sharedBytes: number,
    keyEnd: number,
    lineEnd: number,
    row: RowRange,
  ): number;
  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never;
}

/** Bytes of a key that need no closer look, and those that it may begin with. */
const PLAIN = bytesOf((byte) => byte > SPACE && byte < DELETE && byte !== STAR);
const PLAIN_FIRST = bytesOf(
  (byte) => PLAIN[byte] === 1 && !`!@"{`.includes(String.fromCharCode(byte)),
);

/**
 * Feeds the rows of a map, without its headers, to a compactor or a survey, in the form that writers
 * produce.
 */
export class MapLines {
  readonly #sink: RowSink;
  readonly #fields: Fields;
  readonly #keyColumns: number;
  /** Whether rows have keys and a frequency and nothing else, but for a JSON block. */
  readonly #isPlain: boolean;
  /** All key columns of the last row, where there are several; the sink looks at the first only. */
  readonly #lastKeys: LastKey | undefined;
  readonly #row: { -readonly [Name in keyof RowRange]: RowRange[Name] } = {
    moreKeysStart: 0,
    moreKeysEnd: 0,
    frequencyStart: 0,
    frequencyEnd: 0,
  };
  #lines = 0;
  /** Rows taken. */
  rows = 0;
  /** Whether the map spells a key otherwise than it was taken. */
  hasRespelled = false;

  /** @throws MM_BAD_INPUT if the first key is not a SURT, or the first value not a frequency. */
  constructor(sink: RowSink, fields: Fields) {
    this.#sink = sink;
    this.#fields = fields;
    this.#keyColumns = fields.keys.length;
    this.#isPlain = fields.values.length === 1;
    this.#lastKeys = this.#keyColumns === 1 ? undefined : new LastKey(this.#keyColumns);
    if (fields.keys[0] !== "surt" || fields.values[0] !== "frequency") {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `not a map: its fields are ${JSON.stringify(fields)}, expected a "surt" key and a "frequency" first`,
      );
    }
  }

  /** Lines read so far. */
  get lines(): number {
    return this.#lines;
  }

  /**
   * Takes the lines of `bytes[start, end)`, which must be whole ones; the last may lack its end.
   *
   * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, MM_NOT_SORTED, with the place.
   */
  read(bytes: Uint8Array, start: number, end: number, place: LinesPlace): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = start;
    try {
      while (at < end) {
        this.#lines++;
        at = this.#readPlain(bytes, view, at, end) ?? this.#readAny(bytes, at, end);
      }
    } catch (error) {
      throw isMementoMapError(error) && error.position === undefined
        ? error.at({ source: place.source, line: place.firstLine + this.#lines - 1 })
        : error;
    }
  }

  /** Takes a line that is as writers have it, as nearly all are; returns where the next one is. */
  #readPlain(bytes: Uint8Array, view: DataView, start: number, end: number): number | undefined {
    if (!this.#isPlain) return undefined;
    const shared = this.#sink.sharedBytes(view, start, end);
    let at = start + shared;
    if (shared === 0 ? PLAIN_FIRST[bytes[at]] === 0 : bytes[at - 1] === STAR) return undefined;
    while (at < end && PLAIN[bytes[at]] === 1) at++;
    if (at < end && bytes[at] === STAR && isSeparator(bytes[at - 1])) at++;
    const keyEnd = at;
    // A home page without its slash is an older spelling.
    if (keyEnd >= end || bytes[keyEnd] !== SPACE || bytes[keyEnd - 1] === CLOSE_PAREN) {
      return undefined;
    }
    const row = this.#row;
    row.moreKeysStart = row.moreKeysEnd = keyEnd;
    if (this.#lastKeys !== undefined) {
      row.moreKeysStart = keyEnd + 1;
      row.moreKeysEnd = at = this.#plainKeysEnd(bytes, keyEnd, end);
      if (at === -1) return undefined;
    }
    row.frequencyStart = at + 1;
    row.frequencyEnd = plainFrequencyEnd(bytes, at + 1, end);
    const next = row.frequencyEnd + 1;
    if (next === 0 || next > end || bytes[next - 1] !== LF) return undefined;
    this.#add(bytes, start, shared, keyEnd, next, row);
    return next;
  }

  /** The end of the key columns behind the first; -1 where they need a closer look. */
  #plainKeysEnd(bytes: Uint8Array, keyEnd: number, end: number): number {
    let at = keyEnd;
    for (let column = 1; column < this.#keyColumns; column++) {
      const start = at + 1;
      at = start;
      if (PLAIN_FIRST[bytes[at]] === 0) return -1;
      while (at < end && PLAIN[bytes[at]] === 1) at++;
      if (at === start || at >= end || bytes[at] !== SPACE) return -1;
    }
    return at;
  }

  /** Takes a line of any kind, and skips a blank one; returns where the next one is. */
  #readAny(bytes: Uint8Array, start: number, end: number): number {
    const feed = bytes.indexOf(LF, start);
    const hasEnd = feed !== -1 && feed < end;
    const next = hasEnd ? feed + 1 : end;
    let lineEnd = hasEnd ? feed : end;
    if (lineEnd > start && bytes[lineEnd - 1] === CR) lineEnd--;
    if (skipBlanks(bytes, start, lineEnd) === lineEnd) return next;
    const row = canonicalRow(bytes.subarray(start, lineEnd), this.#fields);
    this.hasRespelled ||= row.isRespelled;
    const view = new DataView(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
    const shared = this.#sink.sharedBytes(view, 0, row.keyEnd);
    this.#add(row.bytes, 0, shared, row.keyEnd, row.lineEnd, row);
    return next;
  }

  #add(
    bytes: Uint8Array,
    start: number,
    shared: number,
    keyEnd: number,
    lineEnd: number,
    row: RowRange,
  ): void {
    if (this.#lastKeys !== undefined) checkKeys(this.#lastKeys, bytes, start, row.moreKeysEnd);
    const order = this.#sink.add(bytes, start, shared, keyEnd, lineEnd, row);
    if (order <= 0) this.#sink.rejectOrder(order, bytes, start, keyEnd);
    this.rows++;
  }
}

function isSeparator(byte: number): boolean {
  return byte === SLASH || byte === COMMA;
}

function bytesOf(isMember: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isMember(byte) ? 1 : 0));
}

/** Complains about rows of one SURT that are out of order, or the same. */
function checkKeys(last: LastKey, bytes: Uint8Array, start: number, end: number): void {
  const order = last.compareTo(bytes, start, end);
  if (order >= 0) {
    const key = quote(new TextDecoder().decode(bytes.subarray(start, end)));
    const what =
      order === 0
        ? `key ${key} comes twice; merge adds such rows up`
        : `key ${key} comes after ${quote(last.text())}; sort the rows with LC_ALL=C sort`;
    throw new MementoMapError("MM_NOT_SORTED", what);
  }
  last.remember(bytes, start, end);
}
