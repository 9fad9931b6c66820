import { describe, expect, it } from "vitest";
import { OWN_WORDS, PrefixTable } from "../../../src/aggregate/learn/prefix-table.ts";
import { Random } from "../../../src/bytes/random.ts";

/** Entries with a worth of their own, and the hash that they belong to. */
class Entries {
  readonly table: PrefixTable;

  constructor(capacity: number) {
    const bytes = capacity * 4 * (1 + OWN_WORDS + 2);
    this.table = new PrefixTable(bytes, 2, (slot) => this.table.floats[this.#at(slot)]);
  }

  #at(slot: number): number {
    return slot * this.table.width + OWN_WORDS;
  }

  set(slot: number, worth: number, owner: number): void {
    this.table.floats[this.#at(slot)] = worth;
    this.table.words[this.#at(slot) + 1] = owner;
  }

  lowOf(slot: number): number {
    return this.table.words[slot * this.table.width];
  }

  ownerOf(slot: number): number {
    return this.table.words[this.#at(slot) + 1];
  }
}

function someHash(random: Random): [high: number, low: number] {
  return [random.below(2 ** 31) * 2 + 1, random.below(2 ** 32)];
}

/** The most entries without an empty slot among them. */
function longestCluster({ highs }: PrefixTable): number {
  let [longest, length] = [0, 0];
  for (const high of highs) {
    length = high === 0 ? 0 : length + 1;
    longest = Math.max(longest, length);
  }
  return longest;
}

describe("PrefixTable", () => {
  // Originals of one day are all worth the same; a table that is never full is no test of this.
  it.each([
    ["all are worth the same", () => 1],
    ["a few are worth more", (random: Random) => (random.chance(0.1) ? 2 : 1)],
    ["all differ", (random: Random) => random.real()],
  ])("has short searches however often it was full, where %s", (_, worthOf) => {
    const capacity = 20_000;
    const entries = new Entries(capacity);
    const { table } = entries;
    const random = new Random(3, "table");
    const wrong: number[] = [];
    for (let i = 0; i < 20 * capacity; i++) {
      const [high, low] = someHash(random);
      const slot = table.obtain(high, low);
      if (entries.ownerOf(slot) !== 0 || table.find(high, low) !== slot) wrong.push(slot);
      entries.set(slot, worthOf(random), low);
    }
    expect(wrong).toEqual([]);
    expect(table.capacity).toBe(capacity);
    expect(table.size).toBeLessThanOrEqual(0.8 * capacity);
    expect(table.size).toBeGreaterThan(0.4 * capacity);
    expect(longestCluster(table)).toBeLessThan(1000);
    for (const [slot, high] of table.highs.entries()) {
      if (high === 0) continue;
      const low = entries.lowOf(slot);
      if (entries.ownerOf(slot) !== low || table.find(high, low) !== slot) wrong.push(slot);
    }
    expect(wrong).toEqual([]);
  });

  it("drops what is worth least", () => {
    const entries = new Entries(1000);
    const { table } = entries;
    const random = new Random(5, "table");
    const precious: [number, number][] = [];
    for (let i = 0; i < 20_000; i++) {
      const hash = someHash(random);
      const isPrecious = i % 100 === 0;
      entries.set(table.obtain(...hash), isPrecious ? 9 : 1, hash[1]);
      if (isPrecious) precious.push(hash);
    }
    expect(precious.filter((hash) => table.find(...hash) < 0)).toEqual([]);
  });

  // A pause for a whole table would hold up all lookups.
  it("makes room a little at a time, and says when entries changed their slots", () => {
    const capacity = 100_000;
    const { table } = new Entries(capacity);
    const random = new Random(7, "table");
    let [last, lastSlot]: [[number, number], number] = [[1, 0], -1];
    let [most, moved] = [0, 0];
    for (let i = 0; i < 3 * capacity; i++) {
      const hash = someHash(random);
      const { size, moves } = table;
      const slot = table.obtain(...hash);
      most = Math.max(most, size + 1 - table.size);
      if (table.moves === moves && table.find(...last) !== lastSlot) moved++;
      [last, lastSlot] = [hash, slot];
    }
    expect(moved).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(200);
  });

  it.each([16, 17, 40])("goes on in a table of %i", (capacity) => {
    const { table } = new Entries(capacity);
    for (let i = 1; i < 5000; i++) {
      const slot = table.obtain(2 * i + 1, Math.imul(i, 0x9e3779b1) >>> 0);
      expect(slot).toBeGreaterThanOrEqual(0);
      expect(table.size).toBeLessThan(capacity);
    }
  });
});
