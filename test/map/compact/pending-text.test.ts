import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SpillStore } from "../../../src/files/scratch.ts";
import { PendingText } from "../../../src/map/compact/pending-text.ts";

/** A spill store in memory. */
class MemorySpill implements SpillStore {
  bytes: Buffer = Buffer.alloc(0);

  write(offset: number, bytes: Uint8Array): void {
    const end = offset + bytes.length;
    if (end > this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(end - this.bytes.length)]);
    }
    this.bytes.set(bytes, offset);
  }

  read(offset: number, target: Uint8Array): void {
    if (offset + target.length > this.bytes.length) throw new Error("read behind what was written");
    target.set(this.bytes.subarray(offset, offset + target.length));
  }
}

/** The same as one string; a byte that was struck out is a NUL. */
class Model {
  text = "";
  start = 0;
  written = "";

  strikeOut(from: number, to: number): void {
    if (from >= to) return;
    this.text = this.text.slice(0, from) + "\0".repeat(to - from) + this.text.slice(to);
  }

  release(position: number): void {
    this.written += this.text.slice(this.start, position).replaceAll("\0", "");
    this.start = position;
  }

  lines(from: number, to: number): string[] {
    const lines = this.text.slice(from, to).replaceAll("\0", "").split("\n");
    return lines.slice(0, -1).map((line) => `${line}\n`);
  }
}

type Step =
  | { readonly kind: "append"; readonly size: number }
  | { readonly kind: "truncate" | "release"; readonly at: number }
  | { readonly kind: "strikeOut" | "read"; readonly at: number; readonly to: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });

function stepsOf(maxSize: number): fc.Arbitrary<Step[]> {
  const size = fc.integer({ min: 0, max: maxSize });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant("append" as const), size }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("truncate" as const), at: share }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), at: share }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("strikeOut" as const), at: share, to: share }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("read" as const), at: share, to: share }),
    },
  );
  return fc.array(step, { maxLength: 40 });
}

/** What was written after some steps, and what should have been. */
function outcome(
  steps: readonly Step[],
  spill?: MemorySpill,
  memoryBytes?: number,
): { written: string; expected: string } {
  let written = "";
  const pending = new PendingText(
    (bytes) => {
      written += Buffer.from(bytes).toString("latin1");
    },
    spill,
    memoryBytes,
  );
  const model = new Model();
  const lineStart = (at: number): number => {
    const position = model.start + Math.floor(at * (model.text.length - model.start));
    // Positions are those of lines, as in the compactor.
    return Math.max(model.start, model.text.lastIndexOf("\n", position - 1) + 1);
  };
  let lines = 0;
  const line = (size: number): Buffer => Buffer.from(`${lines++}${"x".repeat(size)}\n`);
  for (const step of steps) {
    switch (step.kind) {
      case "append": {
        const bytes = line(step.size);
        pending.append(Buffer.concat([Buffer.from("<"), bytes]), 1, bytes.length + 1);
        model.text += bytes.toString();
        break;
      }
      case "truncate": {
        const position = lineStart(step.at);
        pending.truncate(position);
        model.text = model.text.slice(0, position);
        break;
      }
      case "release": {
        const position = lineStart(step.at);
        pending.release(position);
        model.release(position);
        break;
      }
      case "strikeOut":
      case "read": {
        const [from, to] = [lineStart(step.at), lineStart(step.to)];
        if (step.kind === "strikeOut") {
          pending.strikeOut(from, to);
          model.strikeOut(from, to);
        } else {
          pending.forEachLine(from, to, (bytes, position) => {
            const text = Buffer.from(bytes).toString("latin1");
            const isThere = model.text.startsWith(text, position);
            written += isThere ? text : `not at ${position}: ${text}`;
          });
          model.written += model.lines(from, to).join("");
        }
        break;
      }
    }
    expect(pending.end).toBe(model.text.length);
    expect(pending.start).toBe(model.start);
  }
  pending.release(pending.end);
  model.release(model.text.length);
  return { written, expected: model.written };
}

describe("PendingText", () => {
  it("is a text whose end can be cut off and whose lines can be struck out", () => {
    fc.assert(
      fc.property(stepsOf(40), (steps) => {
        const { written, expected } = outcome(steps);
        expect(written).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("grows beyond any buffer where there is no spill store", () => {
    fc.assert(
      fc.property(stepsOf(400_000), (steps) => {
        const { written, expected } = outcome(steps, undefined, 1000);
        expect(written).toBe(expected);
      }),
      { numRuns: 20 },
    );
  });

  it("is the same text when most of it is in a spill store", () => {
    let spilled = 0;
    fc.assert(
      fc.property(stepsOf(60), fc.integer({ min: 1, max: 300 }), (steps, memoryBytes) => {
        const spill = new MemorySpill();
        const { written, expected } = outcome(steps, spill, memoryBytes);
        expect(written).toBe(expected);
        if (spill.bytes.length > 0) spilled++;
      }),
      { numRuns: 1000 },
    );
    expect(spilled).toBeGreaterThan(100);
  });

  it("reads spilled text in windows, whatever lines lie across them", () => {
    const spill = new MemorySpill();
    const append = [3_000_000, 10, 1_100_000, 5, 700_000].map((size): Step => ({
      kind: "append",
      size,
    }));
    const steps: Step[] = [
      ...append,
      { kind: "read", at: 0, to: 1 },
      { kind: "strikeOut", at: 0.7, to: 0.8 },
      { kind: "read", at: 0, to: 1 },
      ...append,
      { kind: "read", at: 0.2, to: 1 },
    ];
    const { written, expected } = outcome(steps, spill, 100_000);
    expect(written === expected).toBe(true);
    expect(spill.bytes.length).toBeGreaterThan(4_000_000);
  });
});
