import { lineBatches } from "../bytes/lines.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { RowText } from "./row-lines.ts";
import { RowLines } from "./row-lines.ts";
import { wholeText } from "./whole-text.ts";

/** What CDX servers call the members of a capture. */
const NAMES = {
  key: ["urlkey"],
  uri: ["url", "original"],
  date: ["timestamp"],
  mime: ["mime", "mimetype"],
  status: ["status", "statuscode"],
} as const satisfies Record<keyof RowText, readonly string[]>;

/**
 * Reads what CDX servers answer for `output=json`, as lines of `ROW_LINE_COLUMNS`: an array of rows
 * whose first names the columns (Internet Archive, OutbackCDX), or an object a line (pywb).
 *
 * Objects are read as a stream; an array is held whole.
 *
 * @throws MM_BAD_INPUT, MM_BAD_LINE with the line, MM_LIMIT
 */
export async function* cdxJsonRows(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly source: string; readonly isArray: boolean; readonly maxLineBytes: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const lines = new RowLines();
  for await (const row of options.isArray
    ? arrayRows(await wholeText(chunks, options.source), options.source)
    : objectRows(chunks, options)) {
    lines.add(row);
    if (lines.isFull) yield lines.take();
  }
  if (!lines.isEmpty) yield lines.take();
}

function* arrayRows(text: string, source: string): Generator<RowText, void, undefined> {
  const rows = parseJson(text, source, undefined);
  const [head, ...rest] = Array.isArray(rows) ? (rows as unknown[]) : [];
  if (!Array.isArray(head)) return;
  const names = head.map(String);
  for (const values of rest) {
    // An empty row and a row with the resume key may end the list.
    if (!Array.isArray(values) || values.length < names.length) continue;
    yield rowOf((name) => {
      const at = names.indexOf(name);
      return at === -1 ? undefined : (values[at] as unknown);
    });
  }
}

async function* objectRows(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly source: string; readonly maxLineBytes: number },
): AsyncGenerator<RowText, void, undefined> {
  const decoder = new TextDecoder();
  for await (const { bytes, starts, ends, count, firstLine } of lineBatches(chunks, options)) {
    for (let i = 0; i < count; i++) {
      const text = decoder.decode(bytes.subarray(starts[i], ends[i]));
      if (text.trim() === "") continue;
      const value = parseJson(text, options.source, firstLine + i) as Record<string, unknown>;
      yield rowOf((name) => value[name]);
    }
  }
}

function rowOf(member: (name: string) => unknown): RowText {
  const text = (names: readonly string[]): string => {
    const value = names.map(member).find((found) => found !== undefined && found !== null);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  return {
    key: text(NAMES.key),
    uri: text(NAMES.uri),
    date: text(NAMES.date),
    mime: text(NAMES.mime),
    status: text(NAMES.status),
  };
}

function parseJson(text: string, source: string, line: number | undefined): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MementoMapError(
      line === undefined ? "MM_BAD_INPUT" : "MM_BAD_LINE",
      `not JSON: ${quote(text)}`,
      { position: { source, line }, cause },
    );
  }
}
