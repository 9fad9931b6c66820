import { CR, LF, OPEN_BRACE, SPACE, TAB } from "../bytes/ascii.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import type { Fields } from "../ukvs/header.ts";
import { LastKey } from "../ukvs/key-order.ts";
import type { RowRange } from "./totals.ts";

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

/** Bytes of a bad line that are shown. */
const SHOWN_BYTES = 120;

/** Feeds the rows of a map, without its headers, to a compactor or a survey. */
export class MapLines {
  readonly #sink: RowSink;
  readonly #keyColumns: number;
  readonly #valueColumns: number;
  readonly #frequencyColumn: number;
  /** Whether rows have a key and a frequency and nothing else, but for a JSON block. */
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

  /** @throws MM_BAD_INPUT if the first key is no SURT, or there is no frequency. */
  constructor(sink: RowSink, fields: Fields) {
    this.#sink = sink;
    this.#keyColumns = fields.keys.length;
    this.#valueColumns = fields.values.length;
    this.#frequencyColumn = fields.keys.length + fields.values.indexOf("frequency");
    this.#isPlain = this.#keyColumns === 1 && this.#valueColumns === 1;
    this.#lastKeys = this.#keyColumns === 1 ? undefined : new LastKey(this.#keyColumns);
    if (fields.keys[0] !== "surt" || !fields.values.includes("frequency")) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `not a map: its fields are ${JSON.stringify(fields)}, expected a "surt" key and a "frequency"`,
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
   * @throws MM_BAD_LINE, MM_BAD_FREQUENCY, MM_NOT_SORTED, with the place.
   */
  read(bytes: Uint8Array, start: number, end: number, place: LinesPlace): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = start;
    try {
      while (at < end) {
        this.#lines++;
        at = this.#readPlain(bytes, view, at, end) ?? this.#readAny(bytes, view, at, end);
      }
    } catch (error) {
      throw isMementoMapError(error) && error.position === undefined
        ? error.at({ source: place.source, line: place.firstLine + this.#lines - 1 })
        : error;
    }
  }

  /** Takes a line `key frequency`, as nearly all are; returns where the next one is. */
  #readPlain(bytes: Uint8Array, view: DataView, start: number, end: number): number | undefined {
    if (!this.#isPlain) return undefined;
    const shared = this.#sink.sharedBytes(view, start, end);
    let at = start + shared;
    while (at < end && bytes[at] > SPACE) at++;
    const keyEnd = at++;
    if (keyEnd === start || at >= end || bytes[keyEnd] !== SPACE) return undefined;
    if (bytes[at] === OPEN_BRACE) return undefined;
    while (at < end && bytes[at] > SPACE) at++;
    if (at === end || bytes[at] !== LF || at === keyEnd + 1) return undefined;
    const row = this.#row;
    row.moreKeysStart = row.moreKeysEnd = keyEnd;
    row.frequencyStart = keyEnd + 1;
    row.frequencyEnd = at;
    const next = at + 1;
    const order = this.#sink.add(bytes, start, shared, keyEnd, next, row);
    if (order <= 0) this.#sink.rejectOrder(order, bytes, start, keyEnd);
    this.rows++;
    return next;
  }

  /** Takes a line of any kind, and passes over an empty one; returns where the next one is. */
  #readAny(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const feed = bytes.indexOf(LF, start);
    const hasEnd = feed !== -1 && feed < end;
    const next = hasEnd ? feed + 1 : end;
    let lineEnd = hasEnd ? feed : end;
    const hasReturn = lineEnd > start && bytes[lineEnd - 1] === CR;
    if (hasReturn) lineEnd--;
    if (lineEnd === start) return next;
    const keyEnd = this.#columns(bytes, start, lineEnd);
    if (this.#lastKeys !== undefined)
      checkKeys(this.#lastKeys, bytes, start, this.#row.moreKeysEnd);
    const shared = this.#sink.sharedBytes(view, start, keyEnd);
    const order =
      hasEnd && !hasReturn
        ? this.#sink.add(bytes, start, shared, keyEnd, next, this.#row)
        : this.#addRepaired(bytes, start, shared, keyEnd, lineEnd);
    if (order <= 0) this.#sink.rejectOrder(order, bytes, start, keyEnd);
    this.rows++;
    return next;
  }

  /** Finds the columns of a line; returns the end of the first. */
  #columns(bytes: Uint8Array, start: number, end: number): number {
    const row = this.#row;
    let at = start;
    while (at < end && bytes[at] > SPACE) at++;
    const keyEnd = at;
    if (keyEnd === start || (at < end && !isBlank(bytes[at]))) throw badLine(bytes, start, end);
    row.moreKeysStart = row.moreKeysEnd = keyEnd;
    const columns = this.#keyColumns + this.#valueColumns;
    let found = false;
    for (let column = 1; column < columns; column++) {
      while (at < end && isBlank(bytes[at])) at++;
      const from = at;
      while (at < end && bytes[at] > SPACE) at++;
      if (at === from || bytes[from] === OPEN_BRACE) throw badLine(bytes, start, end);
      if (column < this.#keyColumns) {
        if (column === 1) row.moreKeysStart = from;
        row.moreKeysEnd = at;
      } else if (column === this.#frequencyColumn) {
        row.frequencyStart = from;
        row.frequencyEnd = at;
        found = true;
      }
    }
    while (at < end && isBlank(bytes[at])) at++;
    if (!found || (at < end && bytes[at] !== OPEN_BRACE)) throw badLine(bytes, start, end);
    return keyEnd;
  }

  /** A line with CR LF, or without an end: the output has LF. */
  #addRepaired(
    bytes: Uint8Array,
    start: number,
    shared: number,
    keyEnd: number,
    end: number,
  ): number {
    const line = new Uint8Array(end - start + 1);
    line.set(bytes.subarray(start, end));
    line[end - start] = LF;
    const { moreKeysStart, moreKeysEnd, frequencyStart, frequencyEnd } = this.#row;
    return this.#sink.add(line, 0, shared, keyEnd - start, line.length, {
      moreKeysStart: moreKeysStart - start,
      moreKeysEnd: moreKeysEnd - start,
      frequencyStart: frequencyStart - start,
      frequencyEnd: frequencyEnd - start,
    });
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
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

function badLine(bytes: Uint8Array, start: number, end: number): MementoMapError {
  const shown = new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + SHOWN_BYTES)));
  return new MementoMapError(
    "MM_BAD_LINE",
    `not a row of this map: ${quote(shown)}; expected its key and value columns and nothing else`,
  );
}
