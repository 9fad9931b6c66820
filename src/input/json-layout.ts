import { stringEnd } from "./json-members.ts";

/**
 * The beginning of a JSON object as the row before had it: what stands between its string values.
 *
 * Nearly all rows of an index have the same members in the same order. Where the bytes between two
 * values are those of the row before, names and punctuation need not be looked at one by one.
 */
export class JsonLayout {
  /** Where the values of the current row are. */
  readonly valueStarts: number[] = [];
  readonly valueEnds: number[] = [];
  /** What each value tells, as the caller counts; 0 for values that are only passed over. */
  readonly facts: number[] = [];
  /** What comes before each value, from the end of the value before it. */
  #gaps: Uint8Array[] = [];

  /** Forgets the layout. */
  clear(): void {
    this.#gaps = [];
    this.facts.length = 0;
  }

  /** Adds a string value of a row that was read member by member; `from` is where the last ended. */
  learn(bytes: Uint8Array, from: number, valueStart: number, fact: number): void {
    this.#gaps.push(bytes.slice(from, valueStart));
    this.facts.push(fact);
  }

  /** Finds the values of a row that has the same layout; false, with nothing found, if it has not. */
  match(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const gaps = this.#gaps;
    if (gaps.length === 0) return false;
    let at = start;
    for (let i = 0; i < gaps.length; i++) {
      const gap = gaps[i];
      const { length } = gap;
      if (at + length > end) return false;
      for (let j = 0; j < length; j++) if (bytes[at + j] !== gap[j]) return false;
      at += length;
      this.valueStarts[i] = at;
      at = stringEnd(bytes, view, at, end);
      if (at === -1) return false;
      this.valueEnds[i] = at;
    }
    return true;
  }
}
