import { HASH, LF, markLength, SPACE } from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";
import { MementoMapError } from "../errors.ts";
import { beginsWithLookup, notAList, refuseForeignLine } from "../input/line-kind.ts";
import { surtKey, uriKey } from "../surt/key.ts";
import { webHostStart } from "../surt/uri-to-surt.ts";

/** A SURT has `)` before the first slash; a URI could only have it in a user name. */
const A_SURT = /^[^/?#]*\)(\/|$)/;
/** Above this fraction of lines that are neither URIs nor SURTs, the list is rejected. */
const MAX_SKIPPED_FRACTION = 0.01;
const SHOWN_BYTES = 400;

/**
 * Reads a list of lookups: one URI or SURT a line. Text after the first blank, such as a count, is
 * ignored, as are empty lines and lines starting with `#`.
 *
 * Files of other kinds are rejected. Lists extracted from logs may contain a few lines that are neither
 * URIs nor SURTs: up to 1% are skipped and counted.
 *
 * Keeps no part of the list in memory.
 */
export class LookupList {
  /** URIs and SURTs read so far. */
  lookups = 0;
  /** Lines skipped because they are neither URIs nor SURTs. */
  skippedLines = 0;
  readonly #source: string;
  readonly #decoder = new TextDecoder();
  #line = 0;
  #firstFault: MementoMapError | undefined;

  /** @param source the name of the list, for messages */
  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Visits the URIs and SURTs in a block of whole lines.
   *
   * @throws MM_BAD_INPUT for a line of a file of another kind
   */
  forEach(block: Uint8Array, visit: (start: number, end: number) => void): void {
    const { length } = block;
    let at = this.#line === 0 ? markLength(block) : 0;
    while (at < length) {
      let lineEnd = block.indexOf(LF, at);
      if (lineEnd === -1) lineEnd = length;
      this.#line++;
      let start = at;
      while (start < lineEnd && block[start] <= SPACE) start++;
      let end = start;
      while (end < lineEnd && block[end] > SPACE) end++;
      if (end > start && block[start] !== HASH && this.#isLookup(block, at, start, lineEnd)) {
        this.lookups++;
        visit(start, end);
      }
      at = lineEnd + 1;
    }
  }

  /**
   * Call this after the last block.
   *
   * @throws MM_BAD_INPUT for a list without lookups, or with too many skipped lines
   */
  end(): void {
    const { lookups, skippedLines } = this;
    const limit = MAX_SKIPPED_FRACTION * (lookups + skippedLines);
    if (this.#firstFault !== undefined && skippedLines > limit) {
      throw this.#firstFault;
    }
    if (lookups > 0) return;
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "the list is empty; expected a URI or SURT on each line",
      { position: { source: this.#source } },
    );
  }

  #isLookup(block: Uint8Array, lineStart: number, start: number, lineEnd: number): boolean {
    if (isWebUri(block, start, lineEnd)) return true;
    const shown = block.subarray(lineStart, Math.min(lineEnd, lineStart + SHOWN_BYTES));
    const line = this.#decoder.decode(shown).replace(/\r$/, "");
    const position = { source: this.#source, line: this.#line };
    refuseForeignLine(line, position);
    if (beginsWithLookup(line)) return true;
    this.skippedLines++;
    this.#firstFault ??= notAList(line, "this is neither a URI nor a SURT", position);
    return false;
  }
}

/** Whether the text is an `http://` or `https://` URI, as nearly every line is. */
function isWebUri(block: Uint8Array, start: number, end: number): boolean {
  const host = webHostStart(block, start, end);
  return host !== -1 && host < end && block[host] > SPACE;
}

/**
 * The lookups of a list as text, in order, a block of lines at a time. Holds one block.
 *
 * @throws MM_BAD_INPUT if the input is not a list of URIs or SURTs, MM_LIMIT for a line that is too long
 */
export async function* lookupTexts(
  chunks: AsyncIterable<Uint8Array>,
  list: LookupList,
  source: string,
): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const block of wholeLines(chunks, source)) {
    const texts: string[] = [];
    list.forEach(block, (start, end) => {
      texts.push(decoder.decode(block.subarray(start, end)));
    });
    yield texts;
  }
  list.end();
}

/** Whether a lookup is a SURT. */
export function isSurtText(text: string): boolean {
  return A_SURT.test(text);
}

/** The key of a URI or SURT: `com,cnn)/a`. */
export function lookupKey(text: string): string {
  return isSurtText(text) ? surtKey(text) : uriKey(text);
}
