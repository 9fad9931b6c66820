import { CLOSE_BRACE, COMMA, QUOTE, SPACE, standsAt } from "../bytes/bytes.ts";
import { stringEnd } from "../bytes/json-members.ts";

/** What a member of the JSON block of a row tells; bits, so that several can be wanted. */
export const FACT = { uri: 1, status: 2, mime: 4 } as const;

/**
 * How the JSON block of a row is laid out: what stands between its values.
 *
 * Nearly all rows of an index have the same members in the same order. Where the bytes between two
 * values are those of an earlier row, names and punctuation need not be looked at one by one.
 */
export class JsonLayout {
  /** The facts that were looked for; what follows the last of them is not part of the layout. */
  readonly wanted: number;
  /** What each value tells; 0 for values that are skipped. */
  readonly facts: number[] = [];
  /** What comes before each value, from the end of the value before it. */
  readonly gaps: Uint8Array[] = [];
  /** What ends the block behind the last value, if a fact was looked for up to there in vain. */
  tail: Uint8Array | undefined;
  /** Where the values of the row matched last are. */
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  /** Finds the values of a row that has this layout; false if it has not. */
  match(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const { gaps, tail } = this;
    let at = start;
    for (let i = 0; i < gaps.length; i++) {
      const gap = gaps[i];
      if (!standsAt(bytes, at, end, gap)) return false;
      at += gap.length;
      this.valueStarts[i] = at;
      at = endsWithQuote(gap) ? stringEnd(bytes, view, at, end) : bareEnd(bytes, at, end);
      if (at === -1) return false;
      this.valueEnds[i] = at;
    }
    return tail === undefined || standsAt(bytes, at, end, tail);
  }
}

/** How many layouts are known at a time. */
export const MAX_LAYOUTS = 4;

/** The layouts that rows had lately. */
export class JsonLayouts {
  readonly #layouts: JsonLayout[] = [];
  /** The layout of the row matched last, or learned. */
  #current = 0;
  #next = 0;

  /** The layout of a row, whose values it then tells. */
  match(
    wanted: number,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
  ): JsonLayout | undefined {
    const { length } = this.#layouts;
    for (let i = 0; i < length; i++) {
      const index = (this.#current + i) % length;
      const layout = this.#layouts[index];
      if (layout.wanted !== wanted || !layout.match(bytes, view, start, end)) continue;
      this.#current = index;
      return layout;
    }
    return undefined;
  }

  /** Adds a layout, in the place of the oldest if there are many. */
  add(layout: JsonLayout): void {
    this.#current = this.#next;
    this.#layouts[this.#next] = layout;
    this.#next = (this.#next + 1) % MAX_LAYOUTS;
  }
}

/** Whether the value behind a gap is a string. */
export function endsWithQuote(gap: Uint8Array): boolean {
  return gap[gap.length - 1] === QUOTE;
}

/** Which bytes a number, `true`, `false` and `null` are made of. */
const IS_BARE: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+.-]/.test(String.fromCharCode(byte)),
);

/** The offset behind a number, `true`, `false` or `null`; -1 for anything else. */
function bareEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && IS_BARE[bytes[at]]) at++;
  if (at === from || at === end) return -1;
  const next = bytes[at];
  return next === COMMA || next === CLOSE_BRACE || next <= SPACE ? at : -1;
}
