import {
  AT,
  BACKSLASH,
  BANG,
  CLOSE_BRACE,
  COMMA,
  NextByte,
  OPEN_BRACE,
  QUOTE,
  SPACE,
  TAB,
} from "../bytes/bytes.ts";
import {
  type Capture,
  dateEnd,
  classifyRow,
  type LineReader,
  ROW,
  type RowKind,
} from "./capture.ts";
import { JsonMembers } from "../bytes/json-members.ts";
import { MEMBER_NAMES } from "./rows.ts";

/** The relevant members of a row's JSON block, as bits. */
const FACT = { uri: 1, status: 2, mime: 4 } as const;
const ALL_FACTS = FACT.uri | FACT.status | FACT.mime;

/**
 * CDXJ: `surt datetime {json}`, as pywb, WACZ and others write it.
 *
 * Nearly all rows of an index have the same members in the same order, so if the bytes between the
 * values match those of an earlier row, names and punctuation are not parsed again. The result for a
 * line does not depend on the lines before it.
 */
export class CdxjReader implements LineReader {
  readonly #json = new JsonMembers();
  readonly #spaces = new NextByte(SPACE);
  readonly #quotes = new NextByte(QUOTE);
  readonly #backslashes = new NextByte(BACKSLASH);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Layouts of recent rows, most recent first. */
  readonly #layouts: JsonLayout[] = [];

  take(bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#spaces.take(bytes);
    this.#quotes.take(bytes);
    this.#backslashes.take(bytes);
  }

  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const first = bytes[start];
    if ((first === BANG || first === AT) && isHeader(bytes, start, end)) return ROW.header;
    capture.reset();
    const block = this.#readColumns(bytes, start, end, capture);
    if (block === -1) return ROW.bad;
    if (!this.#matchLayouts(bytes, block, end, capture)) {
      if (!this.#walk(bytes, block, end, capture))
        return capture.reject("the JSON block is malformed");
    }
    let last = end - 1;
    while (bytes[last] <= SPACE) last--;
    if (bytes[last] !== CLOSE_BRACE) return capture.reject("the JSON block is not closed");
    return classifyRow(bytes, capture);
  }

  /** Reads key and datetime; returns the start of the JSON block, or -1. */
  #readColumns(bytes: Uint8Array, start: number, end: number, capture: Capture): number {
    let keyEnd = this.#spaces.from(start);
    let date = keyEnd + 1;
    let digitsEnd = date < end ? dateEnd(bytes, date, end) : -1;
    let block = digitsEnd + 1;
    const isUsual = digitsEnd !== -1 && bytes[digitsEnd] === SPACE && bytes[block] === OPEN_BRACE;
    if (!isUsual || keyEnd === start) {
      // Some writers use TABs, or several blanks.
      keyEnd = start;
      while (keyEnd < end && bytes[keyEnd] > SPACE) keyEnd++;
      date = skipBlanks(bytes, keyEnd, end);
      digitsEnd = dateEnd(bytes, date, end);
      block = digitsEnd === -1 ? end : skipBlanks(bytes, digitsEnd, end);
      if (keyEnd === start || date === keyEnd) {
        capture.reject("expected a key, a blank and a datetime");
        return -1;
      }
      if (digitsEnd === -1 || (block === digitsEnd && block < end)) {
        capture.reject("expected a datetime of 4 to 17 digits after the key");
        return -1;
      }
    }
    if (block >= end || bytes[block] !== OPEN_BRACE) {
      capture.reject("expected a JSON block after the datetime");
      return -1;
    }
    capture.keyStart = start;
    capture.keyEnd = keyEnd;
    capture.dateStart = date;
    capture.dateEnd = digitsEnd;
    return block;
  }

  #matchLayouts(bytes: Uint8Array, block: number, end: number, capture: Capture): boolean {
    const layouts = this.#layouts;
    for (let i = 0; i < layouts.length; i++) {
      const layout = layouts[i];
      if (!this.#match(layout, bytes, block, end, capture)) continue;
      if (i > 0) {
        layouts[i] = layouts[0];
        layouts[0] = layout;
      }
      return true;
    }
    return false;
  }

  /** Whether a block has this layout; fills the capture from its values. */
  #match(
    { text, view: textView, gapEnds, facts }: JsonLayout,
    bytes: Uint8Array,
    block: number,
    end: number,
    capture: Capture,
  ): boolean {
    const view = this.#view;
    if (block + text.length > end) return false;
    capture.uriStart = capture.statusStart = capture.mimeStart = -1;
    capture.hasEscapes = false;
    let at = block;
    let gap = 0;
    for (let i = 0; i < gapEnds.length; i++) {
      const gapEnd = gapEnds[i];
      if (at + gapEnd - gap > end) return false;
      while (gap + 4 <= gapEnd) {
        if (view.getInt32(at) !== textView.getInt32(gap)) return false;
        gap += 4;
        at += 4;
      }
      while (gap < gapEnd) if (bytes[at++] !== text[gap++]) return false;
      if (i === facts.length) return true;
      const valueStart = at;
      if (text[gapEnd - 1] === QUOTE) {
        at = this.#quotes.from(at);
        if (at >= end || bytes[at - 1] === BACKSLASH) return false;
      } else {
        at = bareEnd(bytes, at, end);
        if (at === -1) return false;
      }
      if (facts[i] !== 0) this.#setFact(capture, facts[i], valueStart, at);
    }
    return true;
  }

  /** Parses a block member by member, and records its layout; false if it is malformed. */
  #walk(bytes: Uint8Array, block: number, end: number, capture: Capture): boolean {
    const json = this.#json;
    const gaps: Uint8Array[] = [];
    const facts: number[] = [];
    let missing = ALL_FACTS;
    let isRegular = true;
    let from = block;
    capture.uriStart = capture.statusStart = capture.mimeStart = -1;
    capture.hasEscapes = false;
    json.open(bytes, block, end);
    // Members after the last fact are not parsed.
    while (missing !== 0) {
      const found = json.next();
      if (found === -1) return false;
      if (found === 0) {
        gaps.push(bytes.slice(from, json.offset + 1));
        break;
      }
      const named = factOf(bytes, json) & missing;
      // Only a string is a URI, not `null`.
      const fact = named === FACT.uri && !json.isString ? 0 : named;
      const { valueStart, valueEnd } = json;
      isRegular &&= json.isScalar;
      gaps.push(bytes.slice(from, valueStart));
      facts.push(fact);
      from = valueEnd;
      if (fact === 0) continue;
      missing ^= fact;
      if (json.isScalar) this.#setFact(capture, fact, valueStart, valueEnd);
    }
    if (isRegular) {
      this.#layouts.length = Math.min(this.#layouts.length, MAX_LAYOUTS - 1);
      this.#layouts.unshift(layoutOf(gaps, facts));
    }
    return true;
  }

  #setFact(capture: Capture, fact: number, start: number, end: number): void {
    if (fact === FACT.uri) {
      capture.uriStart = start;
      capture.uriEnd = end;
    } else if (fact === FACT.status) {
      capture.statusStart = start;
      capture.statusEnd = end;
    } else {
      capture.mimeStart = start;
      capture.mimeEnd = end;
    }
    if (this.#backslashes.from(start) < end) capture.hasEscapes = true;
  }
}

/** The layout of a row's JSON block. */
interface JsonLayout {
  /** The text before each value, from the end of the previous one; then the end of the block, if reached. */
  readonly text: Uint8Array;
  readonly view: DataView;
  readonly gapEnds: Int32Array;
  /** The fact in each value; 0 for skipped values. */
  readonly facts: Int32Array;
}

const MAX_LAYOUTS = 4;

function layoutOf(gaps: readonly Uint8Array[], facts: readonly number[]): JsonLayout {
  let length = 0;
  const gapEnds = Int32Array.from(gaps, (gap) => (length += gap.length));
  const text = new Uint8Array(length);
  gaps.forEach((gap, i) => text.set(gap, gapEnds[i] - gap.length));
  return { text, view: new DataView(text.buffer), gapEnds, facts: Int32Array.from(facts) };
}

/** Bytes that occur in numbers, `true`, `false` and `null`. */
const IS_BARE = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+.-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** The offset behind a number, `true`, `false` or `null`; -1 for anything else. */
function bareEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && IS_BARE[bytes[at]] === 1) at++;
  if (at === from || at === end) return -1;
  const next = bytes[at];
  return next === COMMA || next === CLOSE_BRACE || next <= SPACE ? at : -1;
}

/** Whether a line is `!name …` or `@name …`. A key may also begin with `!` or `@`. */
function isHeader(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start + 1;
  while (at < end && IS_NAME[bytes[at]] === 1) at++;
  return at === end || bytes[at] <= SPACE;
}

const IS_NAME = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\w-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}

const FACT_NAMES = (["uri", "status", "mime"] as const).flatMap((fact) =>
  MEMBER_NAMES[fact].map((name) => ({ fact: FACT[fact], name: new TextEncoder().encode(name) })),
);

/** The fact in the current member, or 0. */
function factOf(bytes: Uint8Array, json: JsonMembers): number {
  const first = bytes[json.nameStart];
  for (const { fact, name } of FACT_NAMES) {
    if (name[0] === first && json.isNamed(name)) return fact;
  }
  return 0;
}
