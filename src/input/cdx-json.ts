import { refuseDeepNesting } from "../ukvs/header.ts";
import { isChunk, unbroken } from "../bytes/damage.ts";
import { cutLines } from "../bytes/lines.ts";
import { peekParts } from "../bytes/peek.ts";
import { badInput, MementoMapError, overLimit, quote } from "../errors.ts";
import { byteString } from "../bytes/bytes.ts";
import { type CaptureText, MEMBER_NAMES, plainLine, rowLine, type RowSource } from "./rows.ts";

/**
 * Converts responses of CDX servers for `output=json` to lines: an array of rows whose first names
 * the columns (Internet Archive, OutbackCDX), an array of objects, or one object per line (pywb).
 * Anything else is passed on unchanged, as a bad line.
 *
 * Objects are streamed; an array is held whole.
 *
 * @throws MM_BAD_INPUT, MM_LIMIT
 */
export const cdxJsonRows: RowSource = async function* (parts, options) {
  let first: string | undefined;
  const { all: chunks } = await peekParts(parts, (part) => {
    const text = isChunk(part) ? byteString(part, 0, part.length) : "";
    first = /[^\s\xef\xbb\xbf]/.exec(text)?.[0];
    return first !== undefined;
  });
  for await (const row of first === "["
    ? arrayRows(await wholeText(unbroken(chunks, options.source), options.source), options.source)
    : objectRows(cutLines(chunks, options.maxLineBytes, options.damage))) {
    yield typeof row === "string" ? plainLine(row) : rowLine(row);
  }
};

/** A capture, or the text of anything else. */
type Found = CaptureText | string;

function* arrayRows(text: string, source: string): Generator<Found, void, undefined> {
  const rows = parseArray(text, source);
  const [head] = rows;
  const names = Array.isArray(head) ? columnNames(head, source) : undefined;
  const end = names === undefined ? rows.length : withoutResumeKey(rows);
  for (let i = names === undefined ? 0 : 1; i < end; i++) {
    const values = rows[i];
    if (names === undefined || !Array.isArray(values)) {
      yield objectRow(values);
    } else if (values.length < names.length) {
      yield JSON.stringify(values);
    } else {
      const row = rowOf((name) => {
        const at = names.indexOf(name);
        return at === -1 ? undefined : (values[at] as unknown);
      });
      yield capture(row, JSON.stringify(values));
    }
  }
}

function columnNames(head: readonly unknown[], source: string): string[] {
  const names = head.map(String);
  const { key, uri } = MEMBER_NAMES;
  if ([...key, ...uri].some((name) => names.includes(name))) return names;
  throw badInput(
    source,
    `the first row must name the columns, urlkey or original among them: ${quote(JSON.stringify(head))}`,
  );
}

/** The number of rows without a trailing empty row and resume key. */
function withoutResumeKey(rows: readonly unknown[]): number {
  const isOf = (at: number, length: number): boolean => {
    const row = rows.at(at);
    return Array.isArray(row) && row.length === length;
  };
  if (isOf(-1, 1) && isOf(-2, 0)) return rows.length - 2;
  return isOf(-1, 0) ? rows.length - 1 : rows.length;
}

async function* objectRows(
  blocks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Found, void, undefined> {
  const decoder = new TextDecoder();
  for await (const lines of blocks) {
    const text = decoder.decode(lines).replace(/\r?\n$/, "");
    for (const line of text.split(/\r?\n/)) yield line.trim() === "" ? "" : parsedRow(line);
  }
}

function parsedRow(text: string): Found {
  try {
    const value: unknown = JSON.parse(text);
    refuseDeepNesting(value);
    return objectRow(value, text);
  } catch {
    return text;
  }
}

function objectRow(value: unknown, text: string = JSON.stringify(value)): Found {
  if (!isObject(value)) return text;
  const row = rowOf((name) => value[name]);
  return row.key === "" && row.uri === "" ? text : capture(row, text);
}

/** The capture in a row, or the row's text if it has no datetime. */
function capture(row: CaptureText, text: string): Found {
  return /^\d{4,17}$/.test(row.date ?? "") ? row : text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function rowOf(member: (name: string) => unknown): CaptureText {
  const text = (names: readonly string[]): string => {
    const value = names.map(member).find((found) => found !== undefined && found !== null);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  return {
    key: text(MEMBER_NAMES.key),
    uri: text(MEMBER_NAMES.uri),
    date: text(MEMBER_NAMES.date),
    mime: text(MEMBER_NAMES.mime),
    status: text(MEMBER_NAMES.status),
  };
}

function parseArray(text: string, source: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    refuseDeepNesting(value);
    if (Array.isArray(value)) return value as unknown[];
  } catch (cause) {
    throw notAnArray(text, source, cause);
  }
  throw notAnArray(text, source);
}

function notAnArray(text: string, source: string, cause?: unknown): MementoMapError {
  return badInput(source, `not a JSON array: ${quote(text)}`, cause);
}

const MAX_TEXT_BYTES = 2 ** 28;

/**
 * Reads a whole stream as text, for formats that cannot be streamed.
 *
 * @throws MM_LIMIT beyond 256 MiB.
 */
export async function wholeText(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) {
      throw overLimit(
        source,
        `more than ${MAX_TEXT_BYTES} bytes, in a format that must be held in memory`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
