import { describe, expect, it } from "vitest";
import { KeyPath } from "../../../src/aggregate/learn/key-path.ts";
import { PrefixNames } from "../../../src/aggregate/learn/prefix-names.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const path = new KeyPath();

/** Adds the name of every prefix of a SURT. */
function add(names: PrefixNames, surt: string): void {
  const bytes = encoder.encode(surt);
  path.take(bytes);
  for (let place = 0; place < path.length; place++) names.add(bytes, path, place);
}

function listed(names: PrefixNames): string[] {
  return Array.from(names, (name) => decoder.decode(name)).sort((a, b) => (a < b ? -1 : 1));
}

describe("PrefixNames", () => {
  it("has every name once, as keys have them, and gives them to others", () => {
    const names = new PrefixNames(2 ** 14);
    for (let round = 0; round < 2; round++) add(names, "com,example)/a/b/page");
    const expected = [
      "com,",
      "com,example)/",
      "com,example)/a/",
      "com,example)/a/b/",
      "com,example,",
    ];
    expect(listed(names)).toEqual(expected);
    const other = new PrefixNames(2 ** 14);
    other.restore(names.text);
    expect(listed(other)).toEqual(expected);
  });

  it("keeps what is added again and again, however many others come, each once", () => {
    const names = new PrefixNames(2 ** 14);
    for (let i = 0; i < 20_000; i++) {
      add(names, `org,host${i})/page`);
      add(names, "com,often)/page");
    }
    const kept = listed(names);
    expect(kept).toContain("com,often)/");
    expect(kept).toContain("org,host19999)/");
    expect(kept).not.toContain("org,host1)/");
    expect(kept.length).toBe(new Set(kept).size);
    expect(kept.length).toBeGreaterThan(150);
    expect(names.text.length).toBeLessThan(2 ** 14);
    const other = new PrefixNames(2 ** 14);
    other.restore(names.text);
    expect(listed(other)).toEqual(kept);
  });
});
