import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { sharedData } from "../support/shared-data.ts";

interface Vector {
  readonly input: string | null;
  readonly expected: string;
}

interface Disagreement {
  readonly input: string;
  readonly python_surt: string;
}

interface Vectors {
  readonly default: readonly Vector[];
  readonly real_cdx_pairs: readonly Vector[];
  readonly real_url_samples: readonly Vector[];
  readonly real_cdx_disagreements: readonly Disagreement[];
  readonly known_upstream_bugs: readonly { readonly input: string; readonly actual: string }[];
}

const vectorFile = new URL("../data/surt-vectors.json", import.meta.url);

function vectors(): Vectors {
  return JSON.parse(readFileSync(vectorFile, "utf8")) as Vectors;
}

describe("surt on vectors", () => {
  it.each([
    ["default", 345],
    ["real_cdx_pairs", 4188],
    ["real_url_samples", 2261],
  ] as const)("equals the Internet Archive's in all of %s", (group, count) => {
    const pairs = vectors()[group];
    expect(pairs).toHaveLength(count);
    // One row asks for the SURT of Python's None, which has no counterpart here: "" stands for it.
    const wrong = pairs.filter(({ input, expected }) => surt(input ?? "") !== expected);
    expect(wrong).toEqual([]);
  });

  // `dns:` rows: Java tools write `com,example)`, Python tools `dns:example.com`. We follow the
  // latter. A lookup of a record about name resolution must not answer for the home page.
  it("keeps dns: and metadata: rows as Python tools do", () => {
    const rows = vectors().real_cdx_disagreements;
    expect(rows).toHaveLength(132);
    expect(rows.filter((row) => surt(row.input) !== row.python_surt)).toEqual([]);
  });

  it("has the known faults of the keys that are in use", () => {
    for (const { input, actual } of vectors().known_upstream_bugs) expect(surt(input)).toBe(actual);
  });
});

const holdings = sharedData("eot-a.holdings.tsv.gz");

describe.skipIf(holdings === undefined)("surt on real holdings (eot-a beside the checkout)", () => {
  it("equals the first column of 50,000 rows", async () => {
    const lines = createInterface({
      input: createReadStream(holdings ?? "").pipe(createGunzip()),
      crlfDelay: Infinity,
    });
    const every = 35;
    let [line, compared] = [0, 0];
    const wrong: string[] = [];
    for await (const row of lines) {
      if (line++ % every !== 0) continue;
      const [expected, uri = ""] = row.split("\t");
      if (surt(uri) !== expected) wrong.push(row);
      if (++compared === 50_000) break;
    }
    expect(compared).toBeGreaterThan(49_000);
    expect(wrong).toEqual([]);
  });
});
