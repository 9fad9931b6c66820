import {
  AT,
  BANG,
  CLOSE_PAREN,
  COMMA,
  isDigit,
  PLUS,
  SLASH,
  SPACE,
  STAR,
  TAB,
} from "../bytes/bytes.ts";
import type { Capture, RowKind, RowParser } from "./capture.ts";
import { ROW } from "./capture.ts";

/**
 * The rows of a map, to add to them: `key [datetime] mementos`.
 *
 * Only what can be added up: no wildcards, no originals, no counts that are about right or at most.
 */
export class CountedRowsParser implements RowParser {
  readonly leadsWithKey = true;
  readonly #datetimeDigits: number;

  /** @param datetimeDigits how many a second key column has at most; 0 if there is none. */
  constructor(datetimeDigits: number) {
    this.#datetimeDigits = datetimeDigits;
  }

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    if (bytes[start] === BANG || bytes[start] === AT) return ROW.header;
    capture.reset();
    let at = start;
    while (at < end && bytes[at] > SPACE) at++;
    if (isWildcard(bytes, start, at)) {
      return capture.reject("a wildcard cannot be added to; add before compact, or use merge");
    }
    capture.keyStart = start;
    capture.keyEnd = at;
    at = skipBlanks(bytes, at, end);
    if (this.#datetimeDigits > 0) {
      capture.dateStart = at;
      while (at < end && isDigit(bytes[at])) at++;
      capture.dateEnd = at;
      const digits = at - capture.dateStart;
      if (digits === 0 || digits > this.#datetimeDigits) {
        return capture.reject(`expected a datetime of ${this.#datetimeDigits} digits; see --by`);
      }
      at = skipBlanks(bytes, at, end);
    }
    let count = 0;
    const countStart = at;
    for (; at < end && isDigit(bytes[at]); at++) count = count * 10 + (bytes[at] - 0x30);
    if (at > countStart && bytes[at] === PLUS && at < end) {
      capture.isSample = true;
      at++;
    }
    at = skipBlanks(bytes, at, end);
    if (at === countStart || at !== end || !Number.isSafeInteger(count)) {
      return capture.reject("only plain counts, as 12 or 12+, can be added to; use merge");
    }
    capture.count = count;
    return ROW.capture;
  }
}

/**
 * Whether a key ends in a wildcard, `com,*` or `com,a)/*`, or its host does, `com,*)/a`. Another `*`
 * belongs to a URI; maps of earlier versions have such keys.
 */
function isWildcard(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== STAR) continue;
    const before = at === start ? SLASH : bytes[at - 1];
    const isLast = at + 1 === end || bytes[at + 1] === CLOSE_PAREN;
    if (isLast && (before === SLASH || before === COMMA)) return true;
  }
  return false;
}

function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}
