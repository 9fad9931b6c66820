import { lineBatches } from "../bytes/lines.ts";
import { MementoMapError, quote } from "../errors.ts";
import { ROW } from "./capture.ts";
import { type CaptureBatch, CaptureBatches, type CaptureText } from "./capture-batch.ts";

/** What CDX servers call the members of a capture. */
const NAMES = {
  key: ["urlkey"],
  uri: ["url", "original"],
  date: ["timestamp"],
  mime: ["mime", "mimetype"],
  status: ["status", "statuscode"],
} as const satisfies Record<keyof CaptureText, readonly string[]>;

/**
 * Reads what CDX servers answer for `output=json`, as captures: an array of rows whose first names
 * the columns (Internet Archive, OutbackCDX), an array of objects, or an object a line (pywb).
 * Anything else becomes a bad row.
 *
 * Objects are read as a stream; an array is held whole.
 *
 * @throws MM_BAD_INPUT, MM_LIMIT
 */
export async function* cdxJsonCaptures(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly source: string; readonly isArray: boolean; readonly maxLineBytes: number },
): AsyncGenerator<CaptureBatch, void, undefined> {
  const captures = new CaptureBatches();
  for await (const row of options.isArray
    ? arrayRows(await wholeText(chunks, options.source), options.source)
    : objectRows(chunks, options)) {
    if (typeof row === "string") captures.addOther(row === "" ? ROW.blank : ROW.bad, row);
    else captures.add(row);
    if (captures.isFull) yield captures.take();
  }
  if (!captures.isEmpty) yield captures.take();
}

/** A capture, or the text of something else. */
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
      yield rowOf((name) => {
        const at = names.indexOf(name);
        return at === -1 ? undefined : (values[at] as unknown);
      });
    }
  }
}

function columnNames(head: readonly unknown[], source: string): string[] {
  const names = head.map(String);
  if ([...NAMES.key, ...NAMES.uri].some((name) => names.includes(name))) return names;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `the first row must name the columns, ${NAMES.key[0]} or ${NAMES.uri[1]} among them: ` +
      quote(JSON.stringify(head)),
    { position: { source } },
  );
}

/** Where the rows end: an empty one and one with the resume key may follow. */
function withoutResumeKey(rows: readonly unknown[]): number {
  const isOf = (at: number, length: number): boolean => {
    const row = rows.at(at);
    return Array.isArray(row) && row.length === length;
  };
  if (isOf(-1, 1) && isOf(-2, 0)) return rows.length - 2;
  return isOf(-1, 0) ? rows.length - 1 : rows.length;
}

async function* objectRows(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly source: string; readonly maxLineBytes: number },
): AsyncGenerator<Found, void, undefined> {
  const decoder = new TextDecoder();
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, options)) {
    for (let i = 0; i < count; i++) {
      const text = decoder.decode(bytes.subarray(starts[i], ends[i]));
      yield text.trim() === "" ? "" : parsedRow(text);
    }
  }
}

function parsedRow(text: string): Found {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? objectRow(value) : text;
  } catch {
    return text;
  }
}

function objectRow(value: unknown): Found {
  const row = isObject(value) ? rowOf((name) => value[name]) : undefined;
  const isCapture = row !== undefined && (row.key !== "" || row.uri !== "");
  return isCapture ? row : JSON.stringify(value);
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
    key: text(NAMES.key),
    uri: text(NAMES.uri),
    date: text(NAMES.date),
    mime: text(NAMES.mime),
    status: text(NAMES.status),
  };
}

function parseArray(text: string, source: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value as unknown[];
  } catch (cause) {
    throw notAnArray(text, source, cause);
  }
  throw notAnArray(text, source);
}

function notAnArray(text: string, source: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `not a JSON array: ${quote(text)}`, {
    position: { source },
    cause,
  });
}

const MAX_TEXT_BYTES = 2 ** 28;

/**
 * All of a stream as text, for formats that can be read only whole.
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
      throw new MementoMapError(
        "MM_LIMIT",
        `holds more than ${MAX_TEXT_BYTES} bytes, which must be read at once`,
        { position: { source } },
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
