import { AT, BANG } from "../bytes/ascii.ts";
import { compareBytes } from "../bytes/compare.ts";
import { MementoMapError, quote } from "../errors.ts";
import { type MapSize, parseSize, SIZE_HEADER } from "./map-size.ts";
import { formatJson, isJsonObject, parseRelaxedJson } from "./relaxed-json.ts";

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
}

/** The columns of a file that does not name them: those of a MementoMap. */
export const DEFAULT_FIELDS: Fields = { keys: ["surt"], values: ["frequency"] };

/** Whether a file with these columns is a MementoMap, which has one row for each key. */
export function isMap({ keys, values }: Fields): boolean {
  return keys[0] === "surt" && values[0] === "frequency";
}

/** Whether headers name the columns, which are those of a MementoMap by default. */
export function namesFields(headers: readonly Header[]): boolean {
  return headers.some(({ name }) => name === "fields" || name === "keys");
}

const HEADER_LINE = /^[!@]([^\s!@]+)[ \t]+(?:\d+[ \t]+(?=\S))?(.*\S)[ \t]*$/s;

/** Whether a line whose first byte this is, is a header. */
export function startsHeader(firstByte: number): boolean {
  return firstByte === BANG || firstByte === AT;
}

/**
 * Reads a header line: strict or relaxed JSON, after `!` or the older `@`. A number between name
 * and value (`!meta 0 {...}`) carries no meaning and is dropped.
 *
 * @throws MementoMapError `MM_BAD_HEADER`.
 */
export function parseHeader(line: string): Header {
  const [, name, json] = HEADER_LINE.exec(line) ?? [];
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
 * @throws MementoMapError `MM_BAD_HEADER` for a name that would not read back, `MM_BAD_INPUT` for a
 *   value that JSON cannot express.
 */
export function formatHeader(header: Header): string {
  const line = `!${header.name} ${formatJson(header.value)}`;
  if (HEADER_LINE.exec(line)?.[1] !== header.name) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header name ${quote(header.name)} is empty or holds a blank, "!" or "@"`,
    );
  }
  return line;
}

export interface FormatHeadersOptions {
  /** `bytes`: sorted, as in a sorted file; `given`: in the order of the list. Default `bytes`. */
  readonly order?: "bytes" | "given";
}

/**
 * Writes header lines in strict JSON, `!fields` in place of the older `!keys`. `!size` is left out: it
 * is about the bytes of one file, and `SizedHead` writes it.
 */
export function formatHeaders(headers: UkvsHeaders, options: FormatHeadersOptions = {}): string[] {
  const hasFields = headers.list.some((header) => header.name === "fields");
  const lines = headers.list.flatMap((header) => {
    if (header.name === SIZE_HEADER) return [];
    if (header.name !== "keys") return [formatHeader(header)];
    return hasFields ? [] : [formatHeader({ name: "fields", value: headers.fields })];
  });
  return options.order === "given" ? lines : sortedByBytes(lines);
}

/** Header lines in strict JSON and byte order, each with its end, without `!size`. */
export function headerText(headers: UkvsHeaders): Uint8Array {
  const lines = formatHeaders(headers).map((line) => `${line}\n`);
  return new TextEncoder().encode(lines.join(""));
}

/** All headers of a file, as given and as understood. */
export class UkvsHeaders {
  /** Every header in the order given, known or not. */
  readonly list: readonly Header[];
  /** The columns: of `!fields`, of the older `!keys`, or `DEFAULT_FIELDS`. */
  readonly fields: Fields;
  /** All `!meta` headers in one; of members given twice the last holds. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The URI of the archive or other thing described, from `!id`. */
  readonly id: string | undefined;
  /** Where the terms are defined: the entries of all `!context` headers. */
  readonly context: readonly unknown[];
  /** What the file holds behind its headers, from `!size`; undefined where it does not say. */
  readonly size: MapSize | undefined;

  /** @throws MementoMapError `MM_BAD_HEADER` if `!fields`, `!id`, `!meta` or `!size` make no sense. */
  constructor(list: readonly Header[] = []) {
    this.list = [...list];
    this.fields = fieldsOf(list);
    this.meta = metaOf(list);
    this.id = idOf(list);
    this.context = valuesOf(list, "context").flat();
    this.size = sizeOf(list);
  }

  /** Whether the columns are named, or those of a MementoMap by default. */
  get namesFields(): boolean {
    return namesFields(this.list);
  }

  /** These headers and more, after them. */
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
    const { keys, values = [] } = value;
    if (!areNames(keys) || keys.length === 0 || !areNames(values)) {
      throw badHeader("fields", value, expected);
    }
    refuseRepeatedNames([...keys, ...values]);
    return { keys, values };
  }
  const keys = onlyValue(list, "keys");
  if (keys === undefined) return DEFAULT_FIELDS;
  if (!areNames(keys) || keys.length === 0) throw badHeader("keys", keys, 'a list, as ["surt"]');
  refuseRepeatedNames(keys);
  // Profiles follow their keys by a frequency; other files of that age by a JSON block only.
  return { keys, values: keys[0] === "surt" ? DEFAULT_FIELDS.values : [] };
}

function onlyValue(list: readonly Header[], name: string): unknown {
  const [first, ...others] = valuesOf(list, name);
  if (others.length === 0) return first;
  const said = formatJson(first);
  for (const other of others) {
    if (formatJson(other) !== said) {
      throw new MementoMapError(
        "MM_BAD_HEADER",
        `header "!${name}" is given twice, as ${quote(said)} and as ${quote(formatJson(other))}`,
      );
    }
  }
  return first;
}

function areNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

function refuseRepeatedNames(names: readonly string[]): void {
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name)) {
      throw new MementoMapError("MM_BAD_HEADER", `field ${quote(name)} is named twice`);
    }
    known.add(name);
  }
}

function badHeader(name: string, value: unknown, expected: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_HEADER",
    `the value of header "!${name}" is ${quote(formatJson(value))}; expected ${expected}`,
  );
}

/** Bytes, because UTF-16 units are in another order than the code points above U+FFFF. */
function sortedByBytes(lines: readonly string[]): string[] {
  const encoder = new TextEncoder();
  return lines
    .map((line) => ({ line, bytes: encoder.encode(line) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
    .map(({ line }) => line);
}
