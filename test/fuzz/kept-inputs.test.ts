import { describe, expect, it } from "vitest";
import { failureOf, Fuzzer } from "../../fuzz/fuzzer.ts";
import { bytesOf } from "../../fuzz/check.ts";
import { keptInputs } from "../../fuzz/kept.ts";
import { minimised } from "../../fuzz/minimise.ts";
import { loadTarget, targetNames } from "../../fuzz/targets.ts";

describe.each(targetNames())("%s", (name) => {
  it("holds for its seeds and for every input that once failed", async () => {
    const target = await loadTarget(name);
    const seeds = target.seeds().map((seed, i) => ({ path: `seed ${i}`, bytes: bytesOf(seed) }));
    const failures: string[] = [];
    for (const { path, bytes } of [...seeds, ...keptInputs(name)]) {
      const outcome = await failureOf(target, bytes);
      if (outcome instanceof Error) failures.push(`${path}: ${outcome.stack}`);
    }
    expect(failures).toEqual([]);
  });
});

describe("the fuzzer", () => {
  it("finds an error, and the smallest input that causes it", async () => {
    const fuzzer = new Fuzzer(
      {
        name: "none",
        holds: "there is no X behind an a",
        seeds: () => ["some text with an a in it"],
        words: ["X"],
        run(input) {
          const text = Buffer.from(input).toString("latin1");
          if (text.includes("X") && text.indexOf("a") < text.lastIndexOf("X")) {
            throw new TypeError("boom");
          }
        },
      },
      { runs: 100_000, seconds: 60, seed: 1, feedback: false, keep: false },
    );
    const { failures } = await fuzzer.run();
    expect(failures.map(({ message }) => message)).toEqual(["TypeError: boom"]);
    expect(Buffer.from(failures[0].input).toString()).toMatch(/^a?X$/);
  });

  it("keeps what is needed of an input that fails", async () => {
    const has = (bytes: Uint8Array): boolean => /b.*c/.test(Buffer.from(bytes).toString());
    const input = new Uint8Array(Buffer.from(`xx${"y".repeat(1000)}b${"z".repeat(500)}cxx`));
    const smallest = await minimised(input, (candidate) => Promise.resolve(has(candidate)));
    expect(Buffer.from(smallest).toString()).toBe("bc");
  });
});
