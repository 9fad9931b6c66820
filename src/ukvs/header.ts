import { formatAmount } from "../format.ts";
import JSON5 from "json5";
import {
  AT,
  BANG,
  compareBytes,
  htmlInstead,
  LF,
  looksLikeHtml,
  markLength,
  PACKED_MAGIC,
  standsAt,
} from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";

/** One header line: `!name value`. */
export interface Header {
  readonly name: string;
  /** Any JSON value. */
  readonly value: unknown;
}

/** The names of the columns of a file, in order. */
export interface Fields {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** Whether the keys of a map include queries, so that a key without one is the page without a query. */
  readonly queries?: boolean | undefined;
}

/** The default columns, those of a MementoMap. */
export const DEFAULT_FIELDS: Fields = { keys: ["surt"], values: ["frequency"] };

/** Whether a file with these columns is a MementoMap, which has one row per key. */
export function isMap({ keys, values }: Fields): boolean {
  return keys[0] === "surt" && values[0] === "frequency";
}

/** Whether the headers name the columns explicitly. */
function namesFields(headers: readonly Header[]): boolean {
  return headers.some(({ name }) => name === "fields" || name === "keys");
}

const HEADER_NAME = /^[!@]([^\s!@]+)[ \t]+/;
/** A number between name and value, in older files. */
const HEADER_NUMBER = /^\d+[ \t]+(?=\S)/;

/** Splits a header line in linear time. Blanks around the value are removed. */
function splitHeader(line: string): { name: string; json: string } | undefined {
  const [start, name] = HEADER_NAME.exec(line) ?? [];
  if (start === undefined || name === undefined) return undefined;
  let end = line.length;
  while (end > start.length && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  const json = line.slice(start.length, end).replace(HEADER_NUMBER, "");
  return json === "" || /\s$/.test(json.slice(-1)) ? undefined : { name, json };
}

/** Whether a line that starts with this byte is a header. */
export function startsHeader(firstByte: number): boolean {
  return firstByte === BANG || firstByte === AT;
}

/**
 * Parses a header line: strict or relaxed JSON, after `!` or the older `@`. A number between name and value
 * (`!meta 0 {...}`) is ignored.
 *
 * @throws MementoMapError `MM_BAD_HEADER`.
 */
export function parseHeader(line: string): Header {
  const { name, json } = splitHeader(line) ?? {};
  if (name === undefined || json === undefined) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header ${quote(line)} is not of the form "!name JSON"`,
    );
  }
  try {
    return { name, value: parseRelaxedJson(json) };
  } catch (error) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `the value of header "!${name}" is not JSON: ${quote(json)}`,
      { cause: error },
    );
  }
}

/**
 * Writes a header line in strict JSON.
 *
 * @throws MementoMapError `MM_BAD_HEADER` for an invalid name, `MM_BAD_INPUT` for a value that JSON cannot
 *   express.
 */
export function formatHeader(header: Header): string {
  const line = `!${header.name} ${formatJson(header.value)}`;
  if (splitHeader(line)?.name !== header.name) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header name ${quote(header.name)} is empty or contains a blank, "!" or "@"`,
    );
  }
  return line;
}

/**
 * Writes header lines in strict JSON, with `!fields` instead of the older `!keys`. `!size` is omitted, because it
 * applies
 * to the bytes of one file; `SizedHead` writes it.
 */
export function formatHeaders(headers: UkvsHeaders): string[] {
  const hasFields = headers.list.some((header) => header.name === "fields");
  const lines = headers.list.flatMap((header) => {
    if (header.name === SIZE_HEADER) return [];
    if (header.name !== "keys") return [formatHeader(header)];
    return hasFields ? [] : [formatHeader({ name: "fields", value: headers.fields })];
  });
  return sortedByBytes(lines);
}

/** Header lines in strict JSON and byte order, with line ends, without `!size`. */
export function headerText(headers: UkvsHeaders): Uint8Array {
  const lines = formatHeaders(headers).map((line) => `${line}\n`);
  return new TextEncoder().encode(lines.join(""));
}

/**
 * All headers of a file, as a list and parsed.
 *
 * @example
 * ```ts
 * import { UkvsHeaders } from "mementomap";
 *
 * const headers = new UkvsHeaders([{ name: "meta", value: { name: "Example Archive" } }]);
 * console.log(headers.meta["name"], headers.fields.keys);
 * ```
 * ```
 * Example Archive [ 'surt' ]
 * ```
 */
export class UkvsHeaders {
  /** All headers in file order, including unknown ones. */
  readonly list: readonly Header[];
  /** The columns from `!fields`, the older `!keys`, or `DEFAULT_FIELDS`. */
  readonly fields: Fields;
  /** All `!meta` headers merged; the last of repeated members wins. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The URI of the archive or other thing described, from `!id`. */
  readonly id: string | undefined;
  /** The entries of all `!context` headers, which define the terms. */
  readonly context: readonly unknown[];
  /** The size of the file after its headers, from `!size`; undefined if not stated. */
  readonly size: MapSize | undefined;

  /** @throws MementoMapError `MM_BAD_HEADER` if `!fields`, `!id`, `!meta` or `!size` are invalid. */
  constructor(list: readonly Header[] = []) {
    this.list = [...list];
    this.fields = fieldsOf(list);
    this.meta = metaOf(list);
    this.id = idOf(list);
    this.context = valuesOf(list, "context").flat();
    this.size = sizeOf(list);
  }

  /** Whether the columns are named explicitly. */
  get namesFields(): boolean {
    return namesFields(this.list);
  }

  /** A copy with more headers appended. */
  with(...more: readonly Header[]): UkvsHeaders {
    return new UkvsHeaders([...this.list, ...more]);
  }
}

function valuesOf(list: readonly Header[], name: string): unknown[] {
  return list.filter((header) => header.name === name).map((header) => header.value);
}

function metaOf(list: readonly Header[]): Record<string, unknown> {
  const members = valuesOf(list, "meta").flatMap((value) => {
    if (!isJsonObject(value)) throw badHeader("meta", value, 'an object, as {"name": "…"}');
    return Object.entries(value);
  });
  // Assigning a member named "__proto__" would change the prototype; this defines a member.
  return Object.fromEntries(members);
}

function idOf(list: readonly Header[]): string | undefined {
  const value = onlyValue(list, "id");
  if (value === undefined) return undefined;
  const uri = isJsonObject(value) ? value["uri"] : value;
  if (typeof uri !== "string") throw badHeader("id", value, 'an object, as {"uri": "…"}');
  return uri;
}

function sizeOf(list: readonly Header[]): MapSize | undefined {
  const value = onlyValue(list, SIZE_HEADER);
  return value === undefined ? undefined : parseSize(value);
}

function fieldsOf(list: readonly Header[]): Fields {
  const value = onlyValue(list, "fields");
  if (value !== undefined) {
    const expected = 'an object, as {"keys": ["surt"], "values": ["frequency"]}';
    if (!isJsonObject(value)) throw badHeader("fields", value, expected);
    const { keys, values = [], queries } = value;
    if (!areNames(keys) || keys.length === 0 || !areNames(values)) {
      throw badHeader("fields", value, expected);
    }
    refuseRepeatedNames([...keys, ...values]);
    if (queries === undefined || queries === false) return { keys, values };
    if (queries !== true) throw badHeader("fields", value, '"queries": true, or no such member');
    return { keys, values, queries };
  }
  const keys = onlyValue(list, "keys");
  if (keys === undefined) return DEFAULT_FIELDS;
  if (!areNames(keys) || keys.length === 0) throw badHeader("keys", keys, 'a list, as ["surt"]');
  refuseRepeatedNames(keys);
  // In old profiles a frequency follows the keys; in other old files only a JSON block.
  return { keys, values: keys[0] === "surt" ? DEFAULT_FIELDS.values : [] };
}

function onlyValue(list: readonly Header[], name: string): unknown {
  const [first, ...others] = valuesOf(list, name);
  if (others.length === 0) return first;
  const text = formatJson(first);
  const different = others.map(formatJson).find((other) => other !== text);
  if (different === undefined) return first;
  throw new MementoMapError(
    "MM_BAD_HEADER",
    `header "!${name}" occurs twice with different values: ${quote(text)} and ${quote(different)}`,
  );
}

function areNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

function refuseRepeatedNames(names: readonly string[]): void {
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated === undefined) return;
  throw new MementoMapError("MM_BAD_HEADER", `field ${quote(repeated)} is named twice`);
}

function badHeader(name: string, value: unknown, expected: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_HEADER",
    `the value of header "!${name}" is ${quote(formatJson(value))}; expected ${expected}`,
  );
}

/** Sorts by UTF-8 bytes, because UTF-16 order differs for code points above U+FFFF. */
function sortedByBytes(lines: readonly string[]): string[] {
  const encoder = new TextEncoder();
  return lines
    .map((line) => ({ line, bytes: encoder.encode(line) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
    .map(({ line }) => line);
}

/** Matches any text whose numbers may not all be finite. */
const MAY_BE_INFINITE = /e\+?\d{3}|\d{300}|Infinity|NaN/i;

/**
 * Parses JSON, or the relaxed form of older files (`{keys: ["surt"]}`, parsed as JSON5).
 *
 * A member named `__proto__` is treated like any other. Numbers that JSON cannot represent, such as `1e999`, are
 * rejected,
 * so that every value can be written again; so is deep nesting. Throws the errors of the JSON5 parser, which callers
 * wrap with the line.
 */
export function parseRelaxedJson(text: string): unknown {
  const value = parseEither(text);
  if (text.length > MAX_DEPTH) refuseDeepNesting(value);
  if (MAY_BE_INFINITE.test(text)) JSON.stringify(value, refuseInexpressible);
  return value;
}

/** Limits the recursion of functions that walk a value. */
const MAX_DEPTH = 100;

/** @throws SyntaxError */
export function refuseDeepNesting(value: unknown, levels: number = MAX_DEPTH): void {
  if (typeof value !== "object" || value === null) return;
  if (levels === 0) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  for (const member of Object.values(value)) refuseDeepNesting(member, levels - 1);
}

function parseEither(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Strict JSON is the common case and much faster; its error is not useful here.
    // The JSON5 parser prints a warning for an unescaped line separator.
    return JSON5.parse(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
  }
}

/**
 * Writes strict JSON on one line, without characters forbidden in records.
 *
 * @throws MementoMapError `MM_BAD_INPUT` for values that JSON cannot express, such as NaN.
 */
export function formatJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseInexpressible);
  } catch (error) {
    throw new MementoMapError("MM_BAD_INPUT", "the value cannot be written as JSON", {
      cause: error,
    });
  }
  if (text === undefined) {
    throw new MementoMapError("MM_BAD_INPUT", `a ${typeof value} cannot be written as JSON`);
  }
  return text.replaceAll("\u007f", "\\u007f");
}

function refuseInexpressible(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`member ${JSON.stringify(name)} is ${value}`);
  }
  return value;
}

/** Whether a JSON value is an object and not an array or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The size of a file after its headers, as stated by the header `!size`. */
export interface MapSize {
  /** Bytes of all lines after the last header. */
  readonly bytes: number;
  readonly records: number;
}

/** The name of the size header. */
export const SIZE_HEADER = "size";

/** Digits of the largest safe integer, so that the line has the same length for all sizes. */
const MAX_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const LINE_LENGTH = textOf({ bytes: 0, records: 0 }).length + 2 * (MAX_DIGITS - 1);

/**
 * The header line, without its end. It is padded with blanks to the same length for every size, so that a writer can
 * reserve room for it and fill it in when the size is known.
 */
export function sizeLine(size: MapSize): string {
  return textOf(size).padEnd(LINE_LENGTH);
}

function textOf({ bytes, records }: MapSize): string {
  return `!${SIZE_HEADER} {"bytes":${bytes},"records":${records}}`;
}

/**
 * Parses the value of the header.
 *
 * @throws MementoMapError `MM_BAD_HEADER`.
 */
function parseSize(value: unknown): MapSize {
  const { bytes, records } = isJsonObject(value) ? value : {};
  if (isCount(bytes) && isCount(records)) return { bytes, records };
  throw badHeader(SIZE_HEADER, value, '{"bytes": 120, "records": 4}');
}

/** Whether a JSON value is an integer ≥ `min`. */
export function isCount(value: unknown, min: number = 0): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min;
}

/**
 * Rejects a file with fewer bytes than its `!size` states, or another number of records. More bytes for the same
 * number of
 * records are accepted: the lines may end in CRLF.
 *
 * @throws MementoMapError `MM_CUT`.
 */
export function checkSize(stated: MapSize | undefined, found: FoundSize, source: string): void {
  const fault = stated === undefined ? undefined : sizeFault(stated, found);
  if (fault === undefined) return;
  throw new MementoMapError(
    "MM_CUT",
    `${fault}; fetch or copy the file again, or, if its rows were edited, ` +
      `write it with "mementomap merge --force" or remove the line "!${SIZE_HEADER}"`,
    { position: { source } },
  );
}

/** The size found by a reader, without the members it does not know. */
export type FoundSize = Partial<MapSize>;

/** Describes a size mismatch; undefined if there is none. */
export function sizeFault(stated: MapSize, found: FoundSize): string | undefined {
  const { bytes = stated.bytes, records = stated.records } = found;
  if (bytes >= stated.bytes && records === stated.records) return undefined;
  const isCut = bytes < stated.bytes || records < stated.records;
  const fault = isCut ? "the map is cut short" : "the map has more records than it states";
  const expected = `"!${SIZE_HEADER}" states ${formatAmount(stated.bytes, "byte")} and ${formatAmount(stated.records, "record")}`;
  const held = [
    ...(found.bytes === undefined ? [] : [formatAmount(bytes, "byte")]),
    ...(found.records === undefined ? [] : [formatAmount(records, "record")]),
  ];
  return `${fault}: ${expected}, found ${held.join(" and ")}`;
}

/**
 * Rejects a map with neither records nor a `!size` to confirm it: an empty file, or a map truncated within its
 * headers.
 * Otherwise everything would be reported as absent.
 *
 * @throws MementoMapError `MM_EMPTY`.
 */
export function refuseNoRecords(stated: MapSize | undefined, source: string): void {
  if (stated !== undefined) return;
  throw new MementoMapError(
    "MM_EMPTY",
    `the map has no records, and no "!${SIZE_HEADER}" to confirm it; fetch or create it again`,
    { position: { source } },
  );
}

const ENCODER = new TextEncoder();
const UNKNOWN: MapSize = { bytes: 0, records: 0 };

/** The header lines of a map including `!size`, with the same length for every size. */
export class SizedHead {
  readonly #before: string;
  readonly #after: string;
  /** Length of all lines in bytes. */
  readonly length: number;
  /** Number of lines. */
  readonly lines: number;

  constructor(headers: UkvsHeaders) {
    const lines = formatHeaders(headers);
    const own = ENCODER.encode(sizeLine(UNKNOWN));
    const isBefore = (line: string): boolean => compareBytes(ENCODER.encode(line), own) < 0;
    this.#before = linesText(lines.filter(isBefore));
    this.#after = linesText(lines.filter((line) => !isBefore(line)));
    this.lines = lines.length + 1;
    this.length = this.bytes(UNKNOWN).length;
  }

  /** The lines with their line ends. */
  bytes(size: MapSize): Uint8Array {
    return ENCODER.encode(`${this.#before}${sizeLine(size)}\n${this.#after}`);
  }
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** The part of the first row used to detect the kind of a file. */
const START_BYTES = 16 * 1024;
const DECODER = new TextDecoder("latin1");

/** Inputs of `generate`, by their first row. */
const INDEXES: readonly (readonly [kind: string, firstRow: RegExp])[] = [
  ["a WARC file", /^WARC\/\d/],
  ["an ARC file", /^filedesc:\/\/\S+ /],
  // oxlint-disable-next-line no-control-regex -- ZIP files begin so
  ["a WACZ file", /^PK\u0003\u0004/],
  ["a Parquet file", /^PAR1/],
  // A frequency never looks like a 14-digit datetime.
  ["a CDXJ index", /^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]+\{/],
  ["a CDX index", /^ ?CDX(?: [A-Za-z])+\s*$|^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/],
];

/** Leading bytes of a packed map that survive a text-mode transfer. */
const PACKED_NAME_BYTES = 4;

/** Whether a file begins like a packed map; `start` may be only its first line. */
function isPackedStart(start: Uint8Array): boolean {
  const known = start.subarray(0, PACKED_MAGIC.length);
  return known.length > PACKED_NAME_BYTES && standsAt(PACKED_MAGIC, 0, PACKED_MAGIC.length, known);
}

/**
 * Rejects files that are not maps by the first row after their headers: web pages, indexes, WARC files.
 *
 * All readers of maps call this first: otherwise a lookup would report everything as absent, and other readers
 * would report
 * an error for each row. Files that name their fields are not checked.
 *
 * @param bytes the file from its first row on.
 * @throws MM_BAD_INPUT
 */
export function refuseForeignFile(
  bytes: Uint8Array,
  headers: readonly Header[],
  source: string,
): void {
  if (namesFields(headers)) return;
  const start = bytes.subarray(markLength(bytes), START_BYTES);
  const end = start.indexOf(LF);
  const row = DECODER.decode(end === -1 ? start : start.subarray(0, end)).trimEnd();
  if (looksLikeHtml(`${row} `)) throw htmlInstead("a map", source);
  if (standsAt(start, 0, start.length, PACKED_MAGIC.subarray(0, PACKED_NAME_BYTES))) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      isPackedStart(start)
        ? "this is a packed map, which has no rows to read; use the original map instead"
        : "this is a damaged packed map: truncated, or altered by a text-mode transfer; copy it again in binary mode",
      { position: { source } },
    );
  }
  const [kind] = INDEXES.find(([, firstRow]) => firstRow.test(`${row} `)) ?? [];
  if (kind === undefined) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `this is ${kind}, not a map; make a map with mementomap generate`,
    { position: { source } },
  );
}
