/** Maps that can be compared at a time: each has a bit in three bytes of a number. */
export const MAX_COMPARED = 8;
const NO_SHIFT = 8;
const MAY_SHIFT = 16;

/**
 * What maps say about a key, as a number: which have a row of its own that says it is held, which say that it
 * is not, and which have a wildcard that covers it.
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

/** The code once wildcards decided for maps that had not: `present` those that cover, `absent` voids. */
function decided(code: number, present: number, absent: number): number {
  const open = ~(code | (code >> NO_SHIFT) | (code >> MAY_SHIFT)) & 0xff;
  return code | ((open & present) << MAY_SHIFT) | ((open & absent) << NO_SHIFT);
}

/**
 * How many things there are of each code, with the captures that each map has of them.
 *
 * The first entry needs no table: most sub-trees have but one.
 */
export class OverlapTable {
  /** How many, how many of them differ between the maps that hold them, and captures for each map. */
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

  /** Adds this to another table, with what wildcards decide about codes. */
  addTo(other: OverlapTable, present: number, absent: number): void {
    if (this.#first === -1) return;
    add(this.#firstNumbers, other.of(decided(this.#first, present, absent)));
    if (this.#others === undefined) return;
    for (const [code, numbers] of this.#others) {
      add(numbers, other.of(decided(code, present, absent)));
    }
  }

  /** Adds up what has the same maps that hold it and that may. */
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
