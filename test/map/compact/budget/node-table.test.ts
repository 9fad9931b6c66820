import { describe, expect, it } from "vitest";
import { FIELD, NodeTable } from "../../../../src/map/compact/budget/budget-survey.ts";
import type { SpillStore } from "../../../../src/files/scratch.ts";

/** A spill store in memory. */
class MemorySpill implements SpillStore {
  readonly written = new Map<number, Uint8Array>();
  writes = 0;

  write(offset: number, bytes: Uint8Array): void {
    this.writes++;
    this.written.set(offset, bytes.slice());
  }

  read(offset: number, target: Uint8Array): void {
    target.set(this.written.get(offset) ?? new Uint8Array(target.length));
  }
}

describe("NodeTable", () => {
  it("keeps records that do not fit in memory, and changes to them", () => {
    const spill = new MemorySpill();
    const table = new NodeTable(spill);
    const size = 540_000;
    for (let i = 0; i < size; i++) {
      const page = table.push();
      page[table.lastOffset + FIELD.name] = i;
    }
    expect(spill.written.size).toBeGreaterThan(1);
    table.changePagesBackwards((page, _, count) => {
      for (let at = count - 1; at >= 0; at--) {
        page[at + FIELD.parent] = page[at + FIELD.name] * 2;
      }
    });
    let expected = 0;
    let faults = 0;
    table.forEachPage(() => undefined);
    const { writes } = spill;
    table.forEachPage((page, first, count) => {
      for (let at = 0; at < count; at++) {
        const index = page[at + FIELD.name];
        const isRight = index === first + at && page[at + FIELD.parent] === index * 2;
        if (!isRight || index !== expected) faults++;
        expected++;
      }
    });
    expect(faults).toBe(0);
    expect(expected).toBe(size);
    // What is only read is not written again.
    expect(spill.writes).toBe(writes);
  });
});
