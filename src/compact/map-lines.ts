import {
  CLOSE_PAREN,
  COMMA,
  DELETE,
  LF,
  NINE,
  OPEN_BRACE,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  ZERO,
} from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import { ownSpelling } from "../surt/spelling.ts";
import {
  columnEnd,
  columnsEnd,
  formatRecord,
  LastKey,
  parseRecord,
  type UkvsRecord,
} from "../ukvs/record.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  isPresent,
  parseFrequency,
} from "../ukvs/frequency.ts";
import { type Fields, isJsonObject, startsHeader } from "../ukvs/header.ts";
import { plainFrequencyEnd, readRow, Row, rowLayout } from "../ukvs/row.ts";
import { rejectOrder } from "../ukvs/key-tree.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A row in the form that writers produce. */
export interface MapRow {
  /** The line with its end is `bytes[start, lineEnd)`, its key `bytes[start, keyEnd)`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly keyEnd: number;
  readonly lineEnd: number;
  /** How many bytes the key has in common with that of the row before; -1 where that is not known. */
  readonly shared: number;
  /**
   * How many mementos the row has, if it is a page without a query (or a key that is opaque) and that
   * number alone; or else 0.
   */
  readonly count: number;
  /** Behind the last key column; the same as `keyEnd` where the key is the only one. */
  readonly tupleEnd: number;
  /** The frequency that counts, which need not be in the line. */
  readonly frequencyStart: number;
  readonly frequencyEnd: number;
  /** What its JSON block holds of times of their own, where rows have a datetime. */
  readonly parts?: readonly RowPart[] | undefined;
  /** The key as the map spells it, where that is otherwise. */
  readonly respelledFrom?: string | undefined;
}

/** What a row holds of a time: the key columns behind the SURT for that time, and how much. */
interface RowPart {
  readonly moreKeys: string;
  readonly frequency: Frequency;
}

/** What rows are fed to. */
export interface RowSink {
  /**
   * The row is valid during the call.
   *
   * @throws MM_NOT_SORTED for a key that is not behind the last one.
   */
  add(row: MapRow): void;
}

/**
 * Puts a row of a map into the form that writers produce.
 *
 * The frequency that counts is that of the row. Where that is 0 and the JSON block holds something of
 * some time, it is the sum of the block: such a row is present.
 *
 * @throws MM_BAD_LINE, MM_BAD_FREQUENCY
 */
function canonicalRow(bytes: Uint8Array, { start, end }: Row, fields: Fields): MapRow {
  const record = parseRecord(decoder.decode(bytes.subarray(start, end)), fields);
  const [written, ...otherKeys] = record.keys;
  const [, ...otherValues] = record.values;
  const frequency = parseFrequency(record.values[0] ?? "/");
  const keys = [ownSpelling(written, fields), ...otherKeys];
  const values = [formatFrequency(frequency), ...otherValues];
  const line = formatRecord({ ...record, keys, values }, fields);
  const counts = formatFrequency(
    isPresent(frequency) ? frequency : (heldAtTimes(record) ?? frequency),
  );
  const text = encoder.encode(`${line}\n${counts}`);
  const lineEnd = text.length - counts.length;
  const keyEnd = columnEnd(text, 0, lineEnd - 1);
  return {
    bytes: text,
    start: 0,
    keyEnd,
    lineEnd,
    shared: -1,
    count: 0,
    tupleEnd: columnsEnd(text, 0, lineEnd - 1, fields.keys.length),
    frequencyStart: lineEnd,
    frequencyEnd: text.length,
    parts: partsOf(record, fields),
    respelledFrom: keys[0] === written ? undefined : written,
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

/** A line that is in the form of writers already, as nearly all are. One object is used for all. */
class PlainRow implements MapRow {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  keyEnd = 0;
  lineEnd = 0;
  shared = -1;
  count = 0;
  tupleEnd = 0;
  frequencyStart = 0;
  frequencyEnd = 0;
  readonly parts = undefined;
  readonly respelledFrom = undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Whether the row before is in these bytes, and its key has no query. */
  #hasBefore = false;

  /** Begins with other lines. */
  begin(bytes: Uint8Array): void {
    // Never a Buffer: all code that looks at bytes sees one type of array.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#hasBefore = false;
  }

  /**
   * Reads the line that begins at `start`, with this many key columns; false for one that needs a closer
   * look. What the key has in common with the one before is not looked at twice.
   *
   * @param end behind a line feed, at or behind that of the line.
   */
  read(start: number, end: number, keyColumns: number): boolean {
    const { bytes } = this;
    const shared = this.#hasBefore ? this.#sharedWith(start, end) : 0;
    this.shared = this.#hasBefore ? shared : -1;
    this.#hasBefore = false;
    let at = start + shared;
    if (shared === 0 ? !startsPlain(bytes[at]) : bytes[at - 1] === STAR) return false;
    at = plainEnd(bytes, at);
    const isQuery = bytes[at] === QUESTION;
    while (bytes[at] === QUESTION) at = plainEnd(bytes, at + 1);
    const isWildcard = bytes[at] === STAR && (bytes[at - 1] === SLASH || bytes[at - 1] === COMMA);
    if (isWildcard) at++;
    // A home page without its slash is an older spelling.
    if (bytes[at] !== SPACE || at === start || bytes[at - 1] === CLOSE_PAREN) return false;
    this.start = start;
    this.keyEnd = this.tupleEnd = at;
    for (let column = 1; column < keyColumns; column++) {
      const columnStart = at + 1;
      at = plainEnd(bytes, columnStart);
      if (bytes[at] !== SPACE || at === columnStart) return false;
      this.tupleEnd = at;
    }
    this.frequencyStart = ++at;
    let count = 0;
    for (; bytes[at] >= ZERO && bytes[at] <= NINE; at++) count = count * 10 + bytes[at] - ZERO;
    const isCount = bytes[at] === LF && at - this.frequencyStart <= SAFE_DIGITS;
    if (!isCount) at = plainFrequencyEnd(bytes, this.frequencyStart, end);
    if (at <= this.frequencyStart || bytes[at] !== LF) return false;
    this.count = isCount && !isQuery && !isWildcard && keyColumns === 1 ? count : 0;
    this.frequencyEnd = at;
    this.lineEnd = at + 1;
    this.#hasBefore = !isQuery;
    return true;
  }

  /** How much of a key stands at `at`: four bytes at a time, because most of it does. */
  #sharedWith(at: number, end: number): number {
    const { bytes, start, keyEnd } = this;
    const view = this.#view;
    const limit = Math.min(keyEnd - start, end - at);
    let shared = 0;
    for (; shared + 4 <= limit; shared += 4) {
      const unlike = view.getInt32(start + shared, true) ^ view.getInt32(at + shared, true);
      // The lowest byte that differs comes first.
      if (unlike !== 0) return shared + ((31 - Math.clz32(unlike & -unlike)) >> 3);
    }
    while (shared < limit && bytes[start + shared] === bytes[at + shared]) shared++;
    return shared;
  }
}

const SAFE_DIGITS = 15;

const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (isPlain(byte) ? 1 : 0));

/** Where a key or column ends whose bytes need no closer look. */
function plainEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (PLAIN[bytes[at]] === 1) at++;
  return at;
}

function isPlain(byte: number): boolean {
  return byte > SPACE && byte < DELETE && byte !== STAR && byte !== QUESTION;
}

function startsPlain(byte: number): boolean {
  return isPlain(byte) && !startsHeader(byte) && byte !== QUOTE && byte !== OPEN_BRACE;
}

/**
 * Feeds the rows of a map, without its headers, to a compactor or a survey, in the form that writers
 * produce.
 */
export class MapLines {
  readonly #sink: RowSink;
  readonly #fields: Fields;
  readonly #source: string;
  readonly #firstLine: number;
  readonly #row = new Row();
  readonly #plainRow = new PlainRow();
  /** All key columns of the last row, where there are several; the sink looks at the first only. */
  readonly #lastKeys: LastKey | undefined;
  #lastSpelling: string | undefined;
  /** Lines read so far. */
  lines = 0;
  /** Rows taken. */
  rows = 0;

  /**
   * @param firstLine where in the source the first row is.
   * @throws MM_BAD_INPUT if the first key is not a SURT, or the first value not a frequency.
   */
  constructor(sink: RowSink, fields: Fields, source: string, firstLine: number) {
    rowLayout(fields, source);
    this.#sink = sink;
    this.#fields = fields;
    this.#source = source;
    this.#firstLine = firstLine;
    const { length } = fields.keys;
    this.#lastKeys = length === 1 ? undefined : new LastKey(length);
  }

  /**
   * Takes the lines of `bytes`, which must be whole ones; the last may lack its end.
   *
   * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, MM_NOT_SORTED, with the place.
   */
  read(bytes: Uint8Array): void {
    const { keys, values } = this.#fields;
    const row = this.#row;
    const plainRow = this.#plainRow;
    plainRow.begin(bytes);
    const plainEnd = values.length === 1 ? bytes.lastIndexOf(LF) + 1 : 0;
    try {
      for (let at = 0; at < bytes.length;) {
        this.lines++;
        if (at < plainEnd && plainRow.read(at, plainEnd, keys.length)) {
          this.#add(plainRow);
          at = plainRow.lineEnd;
          continue;
        }
        if (readRow(bytes, at, bytes.length, this.#fields, row)) {
          this.#add(canonicalRow(bytes, row, this.#fields));
        }
        at = row.next;
      }
    } catch (error) {
      if (!isMementoMapError(error) || error.position !== undefined) throw error;
      throw error.at({ source: this.#source, line: this.#firstLine + this.lines - 1 });
    }
  }

  #add(row: MapRow): void {
    const { bytes, start, keyEnd, tupleEnd, respelledFrom } = row;
    const last = this.#lastKeys;
    if (last !== undefined) {
      const key = bytes.subarray(start, keyEnd);
      // Under two spellings, what one row says of a time may be held by the other.
      const isInDoubt =
        respelledFrom !== this.#lastSpelling && last.text().startsWith(`${decoder.decode(key)} `);
      if (isInDoubt) rejectOrder(0, key, last.text());
      this.#lastSpelling = respelledFrom;
      const order = last.compareTo(bytes, start, tupleEnd);
      if (order >= 0) rejectOrder(-order, bytes.subarray(start, tupleEnd), last.text());
      last.remember(bytes, start, tupleEnd);
    }
    this.#sink.add(row);
    this.rows++;
  }
}
