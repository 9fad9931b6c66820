import { describe, expect, it } from "vitest";
import { PrefixTable, type SlotOwner } from "../../../src/aggregate/learn/prefix-table.ts";
import { Random } from "../../../src/bytes/random.ts";

/** Entries with a worth of their own, and the hash that they belong to. */
class Entries implements SlotOwner {
  readonly worths: Float64Array;
  readonly owners: Uint32Array;
  constructor(capacity: number) {
    this.worths = new Float64Array(capacity);
    this.owners = new Uint32Array(capacity);
  }
  clear(slot: number): void {
    this.worths[slot] = 0;
    this.owners[slot] = 0;
  }
  move(from: number, to: number): void {
    this.worths[to] = this.worths[from];
    this.owners[to] = this.owners[from];
  }
  worth(slot: number): number {
    return this.worths[slot];
  }
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
    const table = new PrefixTable(capacity, entries);
    const random = new Random(3, "table");
    for (let i = 0; i < 20 * capacity; i++) {
      const [high, low] = [random.below(2 ** 31) * 2 + 1, random.below(2 ** 32)];
      const slot = table.obtain(high, low);
      entries.worths[slot] = worthOf(random);
      entries.owners[slot] = low;
      expect(table.find(high, low)).toBe(slot);
    }
    expect(table.size).toBeLessThanOrEqual(0.8 * capacity);
    expect(table.size).toBeGreaterThan(0.4 * capacity);
    expect(longestCluster(table)).toBeLessThan(1000);
    for (const [slot, high] of table.highs.entries()) {
      if (high === 0) continue;
      expect(table.find(high, table.lows[slot])).toBe(slot);
      expect(entries.owners[slot]).toBe(table.lows[slot]);
    }
  });

  it("drops what is worth least", () => {
    const entries = new Entries(1000);
    const table = new PrefixTable(1000, entries);
    const random = new Random(5, "table");
    const precious: [number, number][] = [];
    for (let i = 0; i < 20_000; i++) {
      const hash: [number, number] = [random.below(2 ** 31) * 2 + 1, random.below(2 ** 32)];
      const isPrecious = i % 100 === 0;
      entries.worths[table.obtain(...hash)] = isPrecious ? 9 : 1;
      if (isPrecious) precious.push(hash);
    }
    expect(precious.filter((hash) => table.find(...hash) < 0)).toEqual([]);
  });

  it.each([16, 17, 40])("goes on in a table of %i", (capacity) => {
    const table = new PrefixTable(capacity, new Entries(capacity));
    for (let i = 1; i < 5000; i++) {
      const slot = table.obtain(2 * i + 1, Math.imul(i, 0x9e3779b1) >>> 0);
      expect(slot).toBeGreaterThanOrEqual(0);
      expect(table.size).toBeLessThan(capacity);
    }
  });
});
