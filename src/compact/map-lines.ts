import { CR, LF, OPEN_BRACE, SPACE, TAB } from "../bytes/ascii.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import type { Fields } from "../ukvs/header.ts";
import type { Compactor } from "./compactor.ts";
import type { RowRange } from "./totals.ts";

/** Where in a text lines are; the first row of the text is line `firstLine`. */
export interface LinesPlace {
  readonly source: string;
  readonly firstLine: number;
}

/** Bytes of a bad line that are shown. */
const SHOWN_BYTES = 120;

/** Feeds the rows of a map, without its headers, to a compactor. */
export class MapLines {
  readonly #compactor: Compactor;
  readonly #keyColumns: number;
  readonly #valueColumns: number;
  readonly #frequencyColumn: number;
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
  constructor(compactor: Compactor, fields: Fields) {
    this.#compactor = compactor;
    this.#keyColumns = fields.keys.length;
    this.#valueColumns = fields.values.length;
    this.#frequencyColumn = fields.keys.length + fields.values.indexOf("frequency");
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
    const row = this.#row;
    let at = start;
    while (at < end) {
      let lineEnd = bytes.indexOf(LF, at);
      const hasEnd = lineEnd !== -1 && lineEnd < end;
      if (!hasEnd) lineEnd = end;
      const next = hasEnd ? lineEnd + 1 : end;
      const isWhole = hasEnd && bytes[lineEnd - 1] !== CR;
      if (lineEnd > at && bytes[lineEnd - 1] === CR) lineEnd--;
      this.#lines++;
      if (lineEnd === at) {
        at = next;
        continue;
      }
      try {
        const keyEnd = this.#columns(bytes, at, lineEnd);
        this.#compactor.checkOrder(
          isWhole
            ? this.#compactor.add(bytes, at, keyEnd, next, row)
            : this.#addRepaired(bytes, at, keyEnd, lineEnd),
        );
      } catch (error) {
        throw isMementoMapError(error) && error.position === undefined
          ? error.at({ source: place.source, line: place.firstLine + this.#lines - 1 })
          : error;
      }
      this.rows++;
      at = next;
    }
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
  #addRepaired(bytes: Uint8Array, start: number, keyEnd: number, end: number): number {
    const line = new Uint8Array(end - start + 1);
    line.set(bytes.subarray(start, end));
    line[end - start] = LF;
    const { moreKeysStart, moreKeysEnd, frequencyStart, frequencyEnd } = this.#row;
    return this.#compactor.add(line, 0, keyEnd - start, line.length, {
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

function badLine(bytes: Uint8Array, start: number, end: number): MementoMapError {
  const shown = new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + SHOWN_BYTES)));
  return new MementoMapError(
    "MM_BAD_LINE",
    `not a row of this map: ${quote(shown)}; expected its key and value columns and nothing else`,
  );
}
