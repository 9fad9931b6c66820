import { NextByte, isDigit, QUESTION, TAB, ZERO } from "../bytes/bytes.ts";
import type { DamageLog, StreamPart } from "../bytes/damage.ts";
import { type Capture, dateEnd, judgeRow, type LineReader, ROW, type RowKind } from "./capture.ts";

/*
 * Captures as lines, for inputs that have no lines of their own, such as WARC and Parquet:
 *
 *     URI TAB datetime TAB media type TAB status TAB key [TAB count]
 *
 * A column is `-` where the value is not known, and empty where the input never says it. A `?` stands
 * for a line that shows nothing; any other text is a bad line.
 */

/** What an input says of a capture: empty where it is unknown, undefined where it never says it. */
export interface CaptureText {
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  readonly mime?: string | undefined;
  readonly status?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * What it is called in JSON (pywb, Internet Archive, InterPlanetary Wayback) and in Parquet (Common
 * Crawl, End of Term).
 */
export const MEMBER_NAMES = {
  key: ["urlkey", "url_surtkey", "surt_url"],
  uri: ["url", "original", "original_uri", "original_url"],
  date: ["timestamp", "fetch_time", "datetime"],
  mime: ["mime", "mimetype", "mime_type", "content_mime_type"],
  status: ["status", "statuscode", "status_code", "fetch_status"],
} as const satisfies Record<keyof CaptureText, readonly string[]>;

/** The line of something that shows no capture. */
export const UNPROVEN_LINE = "?";

/** The line of a capture, or of `count` captures. */
export function rowLine({ uri, date, mime, status, key }: CaptureText, count?: number): string {
  const columns = [uri, date, mime, status, key].map((text) =>
    text === undefined ? "" : text === "" ? "-" : plainLine(text),
  );
  return count === undefined ? columns.join("\t") : `${columns.join("\t")}\t${count}`;
}

/** A text without what would end a line or a column. */
export function plainLine(text: string): string {
  return /[\t\n\r]/.test(text) ? text.replaceAll(/[\t\n\r]/g, encodeURIComponent) : text;
}

/** Writes the captures in a stream, decompressed, as lines. */
export type RowSource = (
  parts: AsyncIterable<StreamPart>,
  options: RowSourceOptions,
) => AsyncIterable<string>;

export interface RowSourceOptions {
  /** Named in errors. */
  readonly source: string;
  readonly maxLineBytes: number;
  /**
   * Which archive to take from inputs that name several, logs and TimeMaps of aggregators: of the
   * latter, mementos whose address has this in its host or path.
   */
  readonly archive?: string | undefined;
  /** Set to skip what is damaged, and to note it here. */
  readonly damage?: DamageLog | undefined;
}

const BLOCK_CHARACTERS = 1 << 16;

/** Joins lines to blocks of bytes. */
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

/** Reads what {@link rowLine} writes. */
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
    return judgeRow(bytes, capture);
  }
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end && isDigit(bytes[at]); at++) value = value * 10 + bytes[at] - ZERO;
  return value;
}
