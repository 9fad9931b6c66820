import { MementoMapError, quote } from "../errors.ts";
import type { Fields } from "./header.ts";
import { formatJson, isJsonObject, parseRelaxedJson } from "./relaxed-json.ts";
import { formatAmount } from "../amount.ts";

/** One line of a file: key columns, value columns, and what its JSON block adds. */
export interface UkvsRecord {
  /** As many as the file has key fields. None is written `-`, or `:` for a datetime. */
  readonly keys: readonly string[];
  /** As many as the file has value fields; `undefined` for none, written `-`. */
  readonly values: readonly (string | undefined)[];
  readonly json?: Readonly<Record<string, unknown>>;
}

const NONE = "-";

/** A quoted column, which is a JSON string, or one without blanks. */
const COLUMN = /"[^"\\]*(?:\\.[^"\\]*)*"(?=[ \t]|$)|[^ \t"][^ \t]*/y;
const BLANKS = /[ \t]*/y;

/** C0 controls but for the tab, and DEL; not the C1 controls, which are no ASCII. */
const CONTROL = /[^\P{Cc}\t\u0080-\u009F]/u;

/** What a plain column may not hold, or not begin with. */
const NEEDS_QUOTES = /^$|^["{]|[^\P{Cc}\u0080-\u009F]| |\p{Surrogate}/u;
/** What the first column may not begin with: a header, or what readers take for a byte order mark. */
const NEEDS_QUOTES_FIRST = /^[!@\uFEFF]/;

/**
 * Reads the text of a record.
 *
 * Columns are separated by any run of spaces and tabs. A quoted column is a JSON string. The JSON
 * block may be relaxed.
 *
 * @throws MementoMapError `MM_BAD_LINE` for too few or too many columns, broken quotes or JSON, and
 *   control characters.
 */
export function parseRecord(line: string, fields: Fields): UkvsRecord {
  if (CONTROL.test(line)) {
    throw badLine(`the line looks binary: it holds a control character: ${quote(line)}`);
  }
  if (/^[ \t]/.test(line)) throw badLine(`the line begins with a blank: ${quote(line)}`);
  const expected = fields.keys.length + fields.values.length;
  const columns: (string | undefined)[] = [];
  let at = 0;
  while (columns.length < expected && at < line.length && line[at] !== "{") {
    COLUMN.lastIndex = at;
    const text = COLUMN.exec(line)?.[0];
    if (text === undefined) throw badLine(`a quoted column is not closed: ${quote(line)}`);
    const isValue = columns.length >= fields.keys.length;
    columns.push(isValue && text === NONE ? undefined : parseColumn(text));
    at = skipBlanks(line, at + text.length);
  }
  if (columns.length < expected) {
    const names = [...fields.keys, ...fields.values].join(", ");
    throw badLine(`expected ${expected} columns (${names}), got ${columns.length}: ${quote(line)}`);
  }
  // Only values are ever undefined, and there are enough columns: checked above.
  const keys = columns.slice(0, fields.keys.length) as string[];
  const values = columns.slice(fields.keys.length);
  return at === line.length ? { keys, values } : { keys, values, json: jsonBlock(line, at) };
}

/**
 * Writes a record, with one space between columns, quotes only where needed, and strict JSON.
 *
 * @throws MementoMapError `MM_BAD_LINE` if the record has other than the file's columns,
 *   `MM_BAD_INPUT` for a JSON block that JSON cannot express.
 */
export function formatRecord(record: UkvsRecord, fields: Fields): string {
  const { keys, values, json } = record;
  if (keys.length !== fields.keys.length || values.length !== fields.values.length) {
    throw badLine(
      `expected ${formatAmount(fields.keys.length, "key")} and ${formatAmount(fields.values.length, "value")}, got ${keys.length} and ${values.length} for ${quote(keys.join(" "))}`,
    );
  }
  const [first = "", ...others] = keys;
  const columns = [
    NEEDS_QUOTES_FIRST.test(first) ? formatJson(first) : formatColumn(first),
    ...others.map(formatColumn),
    ...values.map(formatValue),
  ];
  if (json !== undefined) columns.push(formatJson(json));
  return columns.join(" ");
}

function formatValue(value: string | undefined): string {
  if (value === undefined) return NONE;
  return value === NONE ? formatJson(value) : formatColumn(value);
}

function formatColumn(text: string): string {
  return NEEDS_QUOTES.test(text) ? formatJson(text) : text;
}

/**
 * What a column says, quoted or not.
 *
 * @throws MementoMapError `MM_BAD_LINE` for a quoted column that is no JSON string.
 */
export function parseColumn(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch (error) {
    throw badLine(`column ${quote(text)} is not a JSON string`, error);
  }
}

function jsonBlock(line: string, at: number): Record<string, unknown> {
  const text = line.slice(at);
  if (!text.startsWith("{")) {
    throw badLine(`more columns than the file has fields, from ${quote(text)} on`);
  }
  let json: unknown;
  try {
    json = parseRelaxedJson(text);
  } catch (error) {
    throw badLine(`the JSON block is broken: ${quote(text)}`, error);
  }
  if (!isJsonObject(json)) throw badLine(`the JSON block is no object: ${quote(text)}`);
  return json;
}

function skipBlanks(line: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.exec(line);
  return BLANKS.lastIndex;
}

function badLine(message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_LINE", message, { cause });
}
