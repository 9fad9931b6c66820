import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernel exists only in the build.
import { CompactKernel } from "../../../src/map/compact/run/compact-kernel.ts";
import { ChosenPolicy } from "../../../src/map/compact/budget/kernels.ts";
import { WeightPolicy } from "../../../src/map/compact/weight-policy.ts";
import { Compactor } from "../../../src/map/compact/compactor.ts";
import { MapLines } from "../../../src/map/compact/map-lines.ts";
import { nodeName } from "../../../src/map/compact/budget/budget-survey.ts";
import type { WeightOptions } from "../../../src/map/compact/weight-policy.ts";
import { key } from "./compaction-arbitraries.ts";
import { byBytes, compactByOracle } from "../../support/compaction-oracle.ts";
import { isPlainKey } from "../../support/plain-key.ts";

const BLOCK_BYTES = 1 << 16;

/** Compacts rows, fed in blocks of `lines` lines; undefined if the kernel gives up. */
function compactByKernel(
  rows: readonly string[],
  options: WeightOptions | ChosenPolicy,
  lines: number,
): string[] | undefined {
  const written: Buffer[] = [];
  const policy = options instanceof ChosenPolicy ? options : new WeightPolicy(options);
  const kernel = CompactKernel.open(policy, BLOCK_BYTES, (bytes) => {
    written.push(Buffer.from(bytes));
  });
  if (kernel === undefined) throw new Error("the kernel has not been built: npm run build");
  for (let at = 0; at < rows.length; at += lines) {
    const block = Buffer.from(
      rows
        .slice(at, at + lines)
        .map((row) => `${row}\n`)
        .join(""),
    );
    kernel.block.set(block);
    // What follows in the block is the caller's: the beginning of the next line.
    kernel.block.set(Buffer.from("com,"), block.length);
    if (!kernel.takeBlock(block.length)) return undefined;
    expect(Buffer.from(kernel.block.subarray(block.length, block.length + 4)).toString()).toBe(
      "com,",
    );
  }
  if (!kernel.finish()) return undefined;
  expect(kernel.rows).toBe(rows.length);
  return Buffer.concat(written).toString().split("\n").slice(0, -1);
}

function compactByRows(rows: readonly string[], policy: ChosenPolicy): string[] {
  const written: Buffer[] = [];
  const compactor = new Compactor(policy, (bytes) => void written.push(Buffer.from(bytes)));
  const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(""));
  const lines = new MapLines(compactor, { keys: ["surt"], values: ["frequency"] });
  lines.read(bytes, { source: "map", firstLine: 1 });
  compactor.end();
  return Buffer.concat(written).toString().split("\n").slice(0, -1);
}

/** The texts of all nodes that a key is in. */
function nodesAbove(text: string): string[] {
  return Array.from(text.matchAll(/[,)/]|$/g), ({ index, 0: byte }) =>
    text.slice(0, byte === ")" ? index + 1 : index),
  );
}

const plainKey = key.filter(isPlainKey);
const count = fc.integer({ min: 1, max: 2000 }).map(String);
const map = fc
  .uniqueArray(fc.tuple(plainKey, count), { maxLength: 80, selector: ([text]) => text })
  .map((rows) => rows.map((row) => row.join(" ")).sort(byBytes));
const weight = fc.constantFrom(0, 0.02, 0.05, 0.1, 0.2, 0.4, Number.POSITIVE_INFINITY);
const depths = fc.record({
  maxHostDepth: fc.constantFrom(1, 2, 3, 8),
  maxPathDepth: fc.constantFrom(1, 2, 3, 4, 9),
});

describe("the compaction kernel", () => {
  it("gives the bytes of the slow oracle for plain rows, however they are cut into blocks", () => {
    fc.assert(
      fc.property(
        map,
        weight,
        weight,
        depths,
        fc.integer({ min: 1, max: 20 }),
        (rows, hostWeight, pathWeight, caps, lines) => {
          const options = { hostWeight, pathWeight, ...caps };
          expect(compactByKernel(rows, options, lines)).toEqual(compactByOracle(rows, options));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("gives the bytes of a Compactor where nodes are chosen by name", () => {
    fc.assert(
      fc.property(map, fc.infiniteStream(fc.boolean()), fc.nat(20), (rows, picks, lines) => {
        const nodes = [...new Set(rows.flatMap((row) => nodesAbove(row.split(" ")[0])))];
        const names = nodes
          .filter(() => picks.next().value)
          .map((text) => nodeName(Buffer.from(text), text.length));
        const policy = new ChosenPolicy(names);
        expect(compactByKernel(rows, policy, lines + 1)).toEqual(compactByRows(rows, policy));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["com,a)/b", ["com,a)/b/c/!x 2", "com,a)/b/c/* 5", "com,a)/b/c/d/e 1"], ["com,a)/b/* 5"]],
    ["com,a", ["com,a)/b/c 2", "com,a,b)/c/d 3", "com,a,b,* 4"], ["com,a,* 6"]],
  ])("below %s, counts pages before a wildcard within it", (text, rows, rolledUp) => {
    const chosen = new ChosenPolicy([nodeName(Buffer.from(text), text.length)]);
    expect(compactByRows(rows, chosen)).toEqual(rolledUp);
    expect(compactByKernel(rows, chosen, 1)).toEqual(rolledUp);
  });

  it("tells a host that ends in a parenthesis from the host before it", () => {
    const rows = ["com,a))/ 1", "com,a)/ 1", "com,a,b)/ 1"];
    const rolledUp = ["com,a))/ 1", "com,a,* 2"];
    const options = { hostWeight: 0.05, pathWeight: Infinity };
    expect(compactByKernel(rows, options, 3)).toEqual(rolledUp);
    const chosen = new ChosenPolicy([nodeName(Buffer.from("com,a"), 5)]);
    expect(compactByKernel(rows, chosen, 3)).toEqual(compactByRows(rows, chosen));
  });

  it.each([
    ["an exclusion", "com,a)/x 0"],
    ["a bound", "com,a)/x 5+"],
    ["originals", "com,a)/x 5/2"],
    ["a query", "com,a)/x?y 5"],
    ["a spread key", "com,a,*)/x 5"],
    ["a total", "* 5"],
    ["an opaque key", "dns:a.com 5"],
    ["a home page without slash", "com,a) 5"],
    ["two blanks", "com,a)/x  5"],
    ["a JSON block", "com,a)/x 5 {}"],
    ["CR LF", "com,a)/x 5\r"],
    ["no frequency", "com,a)/x"],
    ["a blank line", ""],
  ])("gives up at %s", (_, row) => {
    expect(compactByKernel([row], {}, 1)).toBeUndefined();
  });

  it("gives up at rows that are out of order or come twice", () => {
    expect(compactByKernel(["com,b)/ 1", "com,a)/ 1"], {}, 2)).toBeUndefined();
    expect(compactByKernel(["com,a)/ 1", "com,a)/ 1"], {}, 2)).toBeUndefined();
    expect(compactByKernel(["com,a)/x 1", "com,a)/ 1"], {}, 2)).toBeUndefined();
  });

  it("releases output that is decided, and gives up when too much is not", () => {
    const name = (i: number): string => `com,host${String(i).padStart(6, "0")}`;
    const long = "x".repeat(200);
    const decided = Array.from({ length: 6000 }, (_, i) => `${name(i)})/${long} 1`);
    expect(compactByKernel(decided, {}, 100)).toEqual(decided);
    const undecided = Array.from({ length: 90_000 }, (_, i) => `com,a)/${name(i)}/${long} 1`);
    const options = { pathWeight: 1e9 };
    expect(compactByKernel(undecided, options, 100)).toBeUndefined();
  });
});
