/** Maximum number of maps per comparison: each has a bit in three bytes of a number. */
export const MAX_COMPARED = 8;
const NO_SHIFT = 8;
const MAY_SHIFT = 16;

/**
 * Encodes the answers of maps about a key as a number: which maps hold it by a row of its own, which exclude
 * it by such a row, and which have a wildcard that covers it.
 */
export function codeOf(held: number, no: number, may: number = 0): number {
  return held | (no << NO_SHIFT) | (may << MAY_SHIFT);
}

function heldOf(code: number): number {
  return code & 0xff;
}

function mayOf(code: number): number {
  return (code >> MAY_SHIFT) & 0xff;
}

/** The code after wildcards decide for the undecided maps: `present` cover the key, `absent` are voids. */
function decided(code: number, present: number, absent: number): number {
  const open = ~(code | (code >> NO_SHIFT) | (code >> MAY_SHIFT)) & 0xff;
  return code | ((open & present) << MAY_SHIFT) | ((open & absent) << NO_SHIFT);
}

/**
 * Number of items by code, with the captures of each map.
 *
 * The first entry needs no table: most subtrees have only one.
 */
export class OverlapTable {
  /** Per code: items, items that differ between the maps that hold them, captures for each map. */
  readonly #width: number;
  #first = -1;
  readonly #firstNumbers: Float64Array;
  #others: Map<number, Float64Array> | undefined;

  constructor(maps: number) {
    this.#width = maps + 2;
    this.#firstNumbers = new Float64Array(this.#width);
  }

  clear(): void {
    this.#first = -1;
    this.#firstNumbers.fill(0);
    this.#others = undefined;
  }

  /** The numbers of a code, to be added to: how many, how many differ, captures for each map. */
  of(code: number): Float64Array {
    if (this.#first === code) return this.#firstNumbers;
    if (this.#first === -1) {
      this.#first = code;
      return this.#firstNumbers;
    }
    this.#others ??= new Map();
    let numbers = this.#others.get(code);
    if (numbers === undefined) {
      numbers = new Float64Array(this.#width);
      this.#others.set(code, numbers);
    }
    return numbers;
  }

  /** Adds this table to another, with codes updated by wildcards. */
  addTo(other: OverlapTable, present: number, absent: number): void {
    if (this.#first === -1) return;
    add(this.#firstNumbers, other.of(decided(this.#first, present, absent)));
    if (this.#others === undefined) return;
    for (const [code, numbers] of this.#others) {
      add(numbers, other.of(decided(code, present, absent)));
    }
  }

  /** Totals by the maps that hold items and the maps that may. */
  entries(): { held: number; may: number; numbers: Float64Array }[] {
    const found = new Map<number, Float64Array>();
    const note = (code: number, numbers: Float64Array): void => {
      const key = codeOf(heldOf(code), 0, mayOf(code));
      const sum = found.get(key) ?? new Float64Array(this.#width);
      add(numbers, sum);
      found.set(key, sum);
    };
    if (this.#first !== -1) note(this.#first, this.#firstNumbers);
    for (const [code, numbers] of this.#others ?? []) note(code, numbers);
    return Array.from(found, ([code, numbers]) => ({
      held: heldOf(code),
      may: mayOf(code),
      numbers,
    }));
  }
}

function add(from: Float64Array, to: Float64Array): void {
  for (let i = 0; i < from.length; i++) to[i] += from[i];
}
