import { NextByte, isDigit, QUESTION, TAB, ZERO } from "../bytes/bytes.ts";
import type { DamageLog, StreamPart } from "../bytes/damage.ts";
import {
  type Capture,
  dateEnd,
  classifyRow,
  type LineReader,
  ROW,
  type RowKind,
} from "./capture.ts";

/*
 * Captures as lines, for inputs that are not line-based, such as WARC and Parquet:
 *
 *     URI TAB datetime TAB media type TAB status TAB key [TAB count]
 *
 * A column is `-` where the value is unknown, and empty where the format does not have it. A `?` is an
 * unproven line; any other text is a bad line.
 */

/** The fields of a capture: empty where unknown, undefined where the format does not have them. */
export interface CaptureText {
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  readonly mime?: string | undefined;
  readonly status?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Field names in JSON (pywb, Internet Archive, InterPlanetary Wayback) and in Parquet (Common Crawl,
 * End of Term).
 */
export const MEMBER_NAMES = {
  key: ["urlkey", "url_surtkey", "surt_url"],
  uri: ["url", "original", "original_uri", "original_url"],
  date: ["timestamp", "fetch_time", "datetime"],
  mime: ["mime", "mimetype", "mime_type", "content_mime_type"],
  status: ["status", "statuscode", "status_code", "fetch_status"],
} as const satisfies Record<keyof CaptureText, readonly string[]>;

/** A line without evidence of a capture. */
export const UNPROVEN_LINE = "?";

/** The line of a capture, or of `count` captures. */
export function rowLine({ uri, date, mime, status, key }: CaptureText, count?: number): string {
  const columns = [uri, date, mime, status, key].map((text) =>
    text === undefined ? "" : text === "" ? "-" : plainLine(text),
  );
  return count === undefined ? columns.join("\t") : `${columns.join("\t")}\t${count}`;
}

/** Percent-encodes the characters that would end a line or a column. */
export function plainLine(text: string): string {
  return /[\t\n\r]/.test(text) ? text.replaceAll(/[\t\n\r]/g, encodeURIComponent) : text;
}

/** Converts the captures of a decompressed stream to lines. */
export type RowSource = (
  parts: AsyncIterable<StreamPart>,
  options: RowSourceOptions,
) => AsyncIterable<string>;

export interface RowSourceOptions {
  /** Named in errors. */
  readonly source: string;
  readonly maxLineBytes: number;
  /**
   * The archive to read from logs and TimeMaps of aggregators, which name several; in TimeMaps,
   * mementos whose address contains this in its host or path.
   */
  readonly archive?: string | undefined;
  /** Set to skip damaged data and record it here. */
  readonly damage?: DamageLog | undefined;
}

const BLOCK_CHARACTERS = 1 << 16;

/** Joins lines into blocks of bytes. */
export async function* rowBlocks(
  lines: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < BLOCK_CHARACTERS) continue;
    yield encoder.encode(text);
    text = "";
  }
  if (text !== "") yield encoder.encode(text);
}

const COLUMNS = 5;

/** Reads the lines that {@link rowLine} writes. */
export class RowLineReader implements LineReader {
  readonly #tabs = new NextByte(TAB);
  readonly #starts = new Int32Array(COLUMNS + 1);
  readonly #ends = new Int32Array(COLUMNS + 1);

  take(bytes: Uint8Array): void {
    this.#tabs.take(bytes);
  }

  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    capture.reset();
    if (end - start === 1 && bytes[start] === QUESTION) return ROW.unproven;
    const starts = this.#starts.fill(-1);
    const ends = this.#ends.fill(-1);
    let columns = 0;
    for (let at = start; at <= end && columns <= COLUMNS; columns++) {
      const to = Math.min(this.#tabs.from(at), end);
      if (to > at) starts[columns] = at;
      ends[columns] = to > at ? to : -1;
      at = to + 1;
    }
    [capture.uriStart, capture.dateStart, capture.mimeStart] = starts;
    [capture.uriEnd, capture.dateEnd, capture.mimeEnd] = ends;
    [, , , capture.statusStart, capture.keyStart] = starts;
    [, , , capture.statusEnd, capture.keyEnd] = ends;
    const isDated =
      starts[1] === -1 || dateEnd(bytes, capture.dateStart, capture.dateEnd) === capture.dateEnd;
    if (columns < COLUMNS || !isDated) {
      return capture.reject("expected a capture, with a URI or its key and a datetime");
    }
    if (columns > COLUMNS) capture.count = decimal(bytes, starts[COLUMNS], ends[COLUMNS]);
    return classifyRow(bytes, capture);
  }
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end && isDigit(bytes[at]); at++) value = value * 10 + bytes[at] - ZERO;
  return value;
}
