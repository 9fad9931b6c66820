import {
  BACKSLASH,
  COMMA,
  LF,
  QUOTE,
  skipBlanks,
  skipBlanksAndCommas,
  SPACE,
} from "../bytes/bytes.ts";

/** A link of a `Link` header (RFC 8288). */
export interface WebLink {
  /** As written; relative to the URL of the response. */
  readonly target: string;
  /** In lower case. */
  readonly rels: readonly string[];
  /** The context of the link, as written; undefined means the URL of the response. */
  readonly anchor: string | undefined;
}

const ENCODER = new TextEncoder();

/**
 * Parses a `Link` header, or several joined by commas. Lenient: invalid links are skipped.
 *
 * Linear time.
 */
export function parseLinkHeader(header: string): WebLink[] {
  const bytes = ENCODER.encode(header);
  const scanner = new LinkScanner();
  const links: WebLink[] = [];
  let at = scanner.next(bytes, 0, bytes.length, true);
  while (at !== -1) {
    links.push(linkOf(scanner, bytes));
    at = scanner.next(bytes, at, bytes.length, true);
  }
  return links;
}

function linkOf(scanner: LinkScanner, bytes: Uint8Array): WebLink {
  // The first of repeated parameters is used.
  const parameters = new Map<string, string>();
  for (let i = 0; i < scanner.parameterCount; i++) {
    const name = targetText(bytes, scanner.nameStart(i), scanner.nameEnd(i)).toLowerCase();
    if (parameters.has(name)) continue;
    parameters.set(name, valueText(bytes, scanner.valueStart(i), scanner.valueEnd(i)));
  }
  return {
    target: targetText(bytes, scanner.targetStart, scanner.targetEnd),
    rels: (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
    anchor: parameters.get("anchor"),
  };
}

const SEMICOLON = 0x3b;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;

/**
 * Finds the links of RFC 8288 in bytes: `<target>; name=value; name="value", …`.
 *
 * Lenient, because archives are not strict: blanks, line ends and empty elements are allowed between the parts, a
 * comma
 * between links may be missing, junk after a parameter is skipped. An invalid link counts as one fault, up to the
 * next
 * comma or line end followed by `<`. Allocates no strings: results are offsets, valid until the next call. Linear
 * time.
 */
export class LinkScanner {
  targetStart = 0;
  targetEnd = 0;
  parameterCount = 0;
  /** Number of invalid links. */
  faults = 0;
  /** Offset of the first fault in the bytes of the current call; -1 if there was none. */
  faultStart = -1;
  /** Bytes scanned of the longest fault before it was recognized as one. */
  longestFault = 0;
  /** Offset of the bytes to pass again, after {@link next} found no complete link. */
  resumeAt = 0;
  readonly #offsets: number[] = [];
  /** Whether the scanner is within a fault, and whether a link may begin at the next `<`. */
  #isSkipping = false;
  #isBehindBreak = false;

  nameStart(parameter: number): number {
    return this.#offsets[parameter * 4];
  }

  nameEnd(parameter: number): number {
    return this.#offsets[parameter * 4 + 1];
  }

  /** Within the quotes, if any; escapes are not decoded. */
  valueStart(parameter: number): number {
    return this.#offsets[parameter * 4 + 2];
  }

  valueEnd(parameter: number): number {
    return this.#offsets[parameter * 4 + 3];
  }

  /**
   * Finds the first link at or after `from`; returns the offset after it.
   *
   * Returns -1 if there is no complete link before `end`. With `isLast` that is final; otherwise `resumeAt` is
   * the offset
   * of the bytes to pass again with more data. It is the start of the link, if there is one.
   */
  next(bytes: Uint8Array, from: number, end: number, isLast: boolean): number {
    let at = from;
    this.faultStart = -1;
    for (;;) {
      if (this.#isSkipping) at = this.#skipTo(bytes, at, end);
      at = skipBlanksAndCommas(bytes, at, end);
      this.resumeAt = at;
      if (at === end) return -1;
      const behind = this.#link(bytes, at, end);
      if (behind >= 0 && (behind < end || isLast)) return behind;
      if (behind !== FAULT && !isLast) return -1;
      // A fault, or a truncated last link.
      this.faults++;
      if (this.faultStart === -1) this.faultStart = at;
      this.#isSkipping = true;
      this.#isBehindBreak = false;
      at++;
    }
  }

  /** Skips a fault: to the next `<` after a comma or line end, ignoring blanks. */
  #skipTo(bytes: Uint8Array, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      const byte = bytes[at];
      if (byte === LESS && this.#isBehindBreak) {
        this.#isSkipping = false;
        return at;
      }
      if (byte === COMMA || byte === LF) this.#isBehindBreak = true;
      else if (byte > SPACE) this.#isBehindBreak = false;
    }
    return end;
  }

  /** The offset after the link at `start`, `CUT_OFF` or `FAULT`. */
  #link(bytes: Uint8Array, start: number, end: number): number {
    if (bytes[start] !== LESS) return FAULT;
    let at = start + 1;
    for (; ; at++) {
      if (at >= end) return CUT_OFF;
      const byte = bytes[at];
      if (byte === GREATER) break;
      if (byte === LESS) {
        this.longestFault = Math.max(this.longestFault, at - start);
        return FAULT;
      }
    }
    this.targetStart = skipBlanks(bytes, start + 1, at);
    this.targetEnd = trimEnd(bytes, this.targetStart, at);
    this.parameterCount = 0;
    at++;
    for (;;) {
      at = skipBlanks(bytes, at, end);
      if (at >= end) return end;
      const byte = bytes[at];
      if (byte === SEMICOLON) {
        at = this.#parameter(bytes, at + 1, end);
        if (at === CUT_OFF) return CUT_OFF;
      } else if (byte === COMMA || byte === LESS) {
        return at;
      } else {
        at++;
      }
    }
  }

  /** Reads the parameter at `from`, if any; returns the offset after it, or `CUT_OFF`. */
  #parameter(bytes: Uint8Array, from: number, end: number): number {
    const nameStart = skipBlanks(bytes, from, end);
    let at = nameStart;
    while (at < end && !isNameEnd(bytes[at])) at++;
    const nameEnd = at;
    if (nameEnd === nameStart) return at;
    at = skipBlanks(bytes, at, end);
    if (at >= end || bytes[at] !== EQUALS) {
      this.#add(nameStart, nameEnd, nameEnd, nameEnd);
      return at;
    }
    at = skipBlanks(bytes, at + 1, end);
    if (at < end && bytes[at] === QUOTE) {
      const valueStart = at + 1;
      for (at = valueStart; ; at++) {
        if (at >= end) return CUT_OFF;
        const byte = bytes[at];
        if (byte === QUOTE) break;
        if (byte === BACKSLASH) at++;
      }
      this.#add(nameStart, nameEnd, valueStart, at);
      return at + 1;
    }
    const valueStart = at;
    while (at < end && !isValueEnd(bytes[at])) at++;
    this.#add(nameStart, nameEnd, valueStart, at);
    return at;
  }

  #add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const offsets = this.#offsets;
    const at = this.parameterCount++ * 4;
    offsets[at] = nameStart;
    offsets[at + 1] = nameEnd;
    offsets[at + 2] = valueStart;
    offsets[at + 3] = valueEnd;
  }
}

const CUT_OFF = -2;
const FAULT = -3;

function isNameEnd(byte: number): boolean {
  return (
    byte <= SPACE ||
    byte === EQUALS ||
    byte === SEMICOLON ||
    byte === COMMA ||
    byte === QUOTE ||
    byte === LESS
  );
}

function isValueEnd(byte: number): boolean {
  return byte <= SPACE || byte === SEMICOLON || byte === COMMA || byte === QUOTE;
}

function trimEnd(bytes: Uint8Array, start: number, from: number): number {
  let end = from;
  while (end > start && bytes[end - 1] <= SPACE) end--;
  return end;
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** The target of a link found by a scanner in these bytes. */
export function targetText(bytes: Uint8Array, start: number, end: number): string {
  return DECODER.decode(bytes.subarray(start, end));
}

/** The value of a parameter, with escapes decoded. */
export function valueText(bytes: Uint8Array, start: number, end: number): string {
  const text = targetText(bytes, start, end);
  return text.includes("\\") ? text.replaceAll(/\\([^])/g, "$1") : text;
}
