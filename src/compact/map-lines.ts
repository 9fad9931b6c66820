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

/** A row in canonical form. */
export interface MapRow {
  /** The line with its end is `bytes[start, lineEnd)`, its key `bytes[start, keyEnd)`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly keyEnd: number;
  readonly lineEnd: number;
  /** Length of the prefix shared with the key of the previous row; -1 if unknown. */
  readonly shared: number;
  /**
   * The number of mementos, if the row is a page without a query (or an opaque key) and has only this
   * number; else 0.
   */
  readonly count: number;
  /** End of the last key column; equals `keyEnd` if there is only one. */
  readonly tupleEnd: number;
  /** The effective frequency, which need not be in the line. */
  readonly frequencyStart: number;
  readonly frequencyEnd: number;
  /** Frequencies of single periods in the JSON block, if rows have a datetime. */
  readonly parts?: readonly RowPart[] | undefined;
  /** The key as spelled in the map, if that differs. */
  readonly respelledFrom?: string | undefined;
}

/** The frequency of a row in a period, and the key columns after the SURT for it. */
interface RowPart {
  readonly moreKeys: string;
  readonly frequency: Frequency;
}

/** Receives rows. */
export interface RowSink {
  /**
   * The row is valid during the call.
   *
   * @throws MM_NOT_SORTED for a key that does not sort after the last one.
   */
  add(row: MapRow): void;
}

/**
 * Converts a row of a map to canonical form.
 *
 * Its frequency is that of the row, or, if that is 0, the sum of the JSON block: a row with mementos in
 * some period is present.
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

/** The sum of the periods in a JSON block; undefined if there are no mementos. */
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

/** A line that is already in canonical form, as nearly all are. One object is reused for all. */
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
  /** Whether the previous row is in these bytes and its key has no query. */
  #hasBefore = false;

  /** Starts a new block of lines. */
  begin(bytes: Uint8Array): void {
    // Never a Buffer: code that reads bytes is faster if it sees only one type of array.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#hasBefore = false;
  }

  /**
   * Reads the line that begins at `start`, with this many key columns; false for a line that must be
   * parsed in full. The prefix shared with the previous key is not checked again.
   *
   * @param end the end of this line or of a later one, after its line feed.
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
    // A home page without a slash is an older spelling.
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

  /** Length of the prefix shared with the previous key, compared four bytes at a time. */
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

/** The end of a key or column of plain bytes. */
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
 * Feeds the rows of a map, without its headers, to a compactor or a survey, in canonical form.
 */
export class MapLines {
  readonly #sink: RowSink;
  readonly #fields: Fields;
  readonly #source: string;
  readonly #firstLine: number;
  readonly #row = new Row();
  readonly #plainRow = new PlainRow();
  /** All key columns of the last row, if there are several; the sink checks only the first. */
  readonly #lastKeys: LastKey | undefined;
  #lastSpelling: string | undefined;
  /** Lines read so far. */
  lines = 0;
  /** Rows fed so far. */
  rows = 0;

  /**
   * @param firstLine the line number of the first row.
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
   * Reads the lines of `bytes`, which must be whole; the last may lack its line feed.
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
      // If a key has two spellings, a period of one row may overlap the other row.
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
