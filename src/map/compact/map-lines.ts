import {
  CLOSE_PAREN,
  COMMA,
  CR,
  DELETE,
  LF,
  OPEN_BRACE,
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
import { textOfLine } from "../lookup/map-head.ts";
import { plainFrequencyEnd } from "../lookup/map-row.ts";
import { rejectOrder } from "./key-tree.ts";

const encoder = new TextEncoder();

/** A row in the form that writers produce. */
export interface MapRow {
  /** The line with its end is `bytes[start, lineEnd)`, its key `bytes[start, keyEnd)`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly keyEnd: number;
  readonly lineEnd: number;
  /** Key columns behind the SURT, with the blanks between them; empty where there are none. */
  readonly moreKeysStart: number;
  readonly moreKeysEnd: number;
  /** The frequency that counts, which need not be in the line. */
  readonly frequencyStart: number;
  readonly frequencyEnd: number;
  /** What its JSON block holds of times of their own, where rows have a datetime. */
  readonly parts?: readonly RowPart[] | undefined;
  /** The key as the map spells it, where that is otherwise, so that its place may be another. */
  readonly respelledFrom?: string | undefined;
}

/** What a row holds of a time: the key columns behind the SURT for that time, and how much. */
interface RowPart {
  readonly moreKeys: string;
  readonly frequency: Frequency;
}

/** What rows are fed to. */
export interface RowSink {
  /** @throws MM_NOT_SORTED for a key that is not behind the last one. */
  add(row: MapRow): void;
}

/**
 * Puts a line of a map, without its end, into the form that writers produce.
 *
 * The frequency that counts is that of the row. Where that is 0 and the JSON block holds something of
 * some time, it is the sum of the block: such a row is present.
 *
 * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY; MM_BAD_HEADER for a header
 */
function canonicalRow(line: Uint8Array, fields: Fields): MapRow {
  const text = textOfLine(line, 0, line.length);
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
  const key = currentSpelling(written, fields);
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
    start: 0,
    keyEnd,
    lineEnd,
    moreKeysStart: hasOneKey ? keyEnd : keyEnd + 1,
    moreKeysEnd: columnsEnd(bytes, 0, lineEnd - 1, fields.keys.length),
    frequencyStart: lineEnd,
    frequencyEnd: bytes.length,
    parts: partsOf(record, fields),
    respelledFrom: key === written ? undefined : written,
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

/** Where in a text lines are; the first row of the text is line `firstLine`. */
export interface LinesPlace {
  readonly source: string;
  readonly firstLine: number;
}

/** Bytes of a key that need no closer look, and those that it may begin with. */
const isPlain = (byte: number): boolean => byte > SPACE && byte < DELETE && byte !== STAR;
const startsPlain = (byte: number): boolean =>
  isPlain(byte) && !startsHeader(byte) && byte !== QUOTE && byte !== OPEN_BRACE;

/**
 * A line that ends at `lineEnd` and is in the form of writers already, as nearly all are; undefined
 * for one that needs a closer look.
 */
function plainRow(
  bytes: Uint8Array,
  start: number,
  lineEnd: number,
  keyColumns: number,
): MapRow | undefined {
  let at = start;
  let keyEnd = start;
  for (let column = 0; column < keyColumns; column++) {
    if (!startsPlain(bytes[at])) return undefined;
    while (isPlain(bytes[at])) at++;
    if (column === 0) {
      if (bytes[at] === STAR && (bytes[at - 1] === SLASH || bytes[at - 1] === COMMA)) at++;
      // A home page without its slash is an older spelling.
      if (bytes[at - 1] === CLOSE_PAREN) return undefined;
      keyEnd = at;
    }
    if (bytes[at++] !== SPACE) return undefined;
  }
  if (plainFrequencyEnd(bytes, at, lineEnd) !== lineEnd) return undefined;
  return {
    bytes,
    start,
    keyEnd,
    lineEnd: lineEnd + 1,
    moreKeysStart: Math.min(keyEnd + 1, at - 1),
    moreKeysEnd: at - 1,
    frequencyStart: at,
    frequencyEnd: lineEnd,
  };
}

/**
 * Feeds the rows of a map, without its headers, to a compactor or a survey, in the form that writers
 * produce.
 */
export class MapLines {
  readonly #sink: RowSink;
  readonly #fields: Fields;
  /** All key columns of the last row, where there are several; the sink looks at the first only. */
  readonly #lastKeys: LastKey | undefined;
  /** How the map spells the key of the last row, where that is otherwise. */
  #lastSpelling: string | undefined;
  /** Lines read so far. */
  lines = 0;
  /** Rows taken. */
  rows = 0;
  /** Whether the map spells a key otherwise than it was taken. */
  hasRespelled = false;

  /** @throws MM_BAD_INPUT if the first key is not a SURT, or the first value not a frequency. */
  constructor(sink: RowSink, fields: Fields) {
    this.#sink = sink;
    this.#fields = fields;
    const { length } = fields.keys;
    this.#lastKeys = length === 1 ? undefined : new LastKey(length);
    if (fields.keys[0] !== "surt" || fields.values[0] !== "frequency") {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `not a map: its fields are ${JSON.stringify(fields)}, expected a "surt" key and a "frequency" first`,
      );
    }
  }

  /**
   * Takes the lines of `bytes`, which must be whole ones; the last may lack its end.
   *
   * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, MM_NOT_SORTED, with the place.
   */
  read(bytes: Uint8Array, place: LinesPlace): void {
    try {
      for (let at = 0; at < bytes.length;) {
        this.lines++;
        const feed = bytes.indexOf(LF, at);
        const row = this.#rowAt(bytes, at, feed);
        if (row !== undefined) this.#add(row);
        at = feed === -1 ? bytes.length : feed + 1;
      }
    } catch (error) {
      throw isMementoMapError(error) && error.position === undefined
        ? error.at({ source: place.source, line: place.firstLine + this.lines - 1 })
        : error;
    }
  }

  /** Counts rows that something else took, a line each. */
  skip(rows: number): void {
    this.lines += rows;
    this.rows += rows;
  }

  /** The row that ends at the line feed `feed`, or at the end for -1; undefined for a blank line. */
  #rowAt(bytes: Uint8Array, start: number, feed: number): MapRow | undefined {
    const { keys, values } = this.#fields;
    if (feed !== -1 && values.length === 1) {
      const row = plainRow(bytes, start, feed, keys.length);
      if (row !== undefined) return row;
    }
    let end = feed === -1 ? bytes.length : feed;
    if (end > start && bytes[end - 1] === CR) end--;
    if (skipBlanks(bytes, start, end) === end) return undefined;
    return canonicalRow(bytes.subarray(start, end), this.#fields);
  }

  #add(row: MapRow): void {
    const { bytes, start, keyEnd, moreKeysEnd, respelledFrom } = row;
    const last = this.#lastKeys;
    if (last !== undefined) {
      if (respelledFrom !== this.#lastSpelling) checkSpelling(last, bytes.subarray(start, keyEnd));
      checkKeys(last, bytes, start, moreKeysEnd);
      this.#lastSpelling = respelledFrom;
    }
    this.#sink.add(row);
    this.hasRespelled ||= respelledFrom !== undefined;
    this.rows++;
  }
}

/** Complains about rows of one SURT under two spellings: lookups ask for one after the other. */
function checkSpelling(last: LastKey, key: Uint8Array): void {
  const text = textOfLine(key, 0, key.length);
  if (last.text().startsWith(`${text} `)) rejectOrder(0, key, text);
}

/** Complains about rows of one SURT that are out of order, or the same. */
function checkKeys(last: LastKey, bytes: Uint8Array, start: number, end: number): void {
  const order = last.compareTo(bytes, start, end);
  if (order >= 0) rejectOrder(-order, bytes.subarray(start, end), last.text());
  last.remember(bytes, start, end);
}
