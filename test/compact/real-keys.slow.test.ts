import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import { generateMap } from "../../src/generate/generate-map.ts";
import { hasSurt } from "../../src/lookup/map-lookup.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { collected } from "../support/chunked.ts";
import type { OracleRow } from "../support/compaction-oracle.ts";
import { compactRows, parseRows } from "../support/compaction-oracle.ts";
import { sharedData } from "../support/shared-data.ts";

/** Host and path weights, from many rows to few. */
const WEIGHTS = [
  [4, 4],
  [4, 2],
  [1, 1],
  [0.5, 0.25],
  [0, 0],
] as const;
const KEYS = 250_000;

const holdings = sharedData("eot-a.holdings.tsv.gz");

/** The map of every seventh SURT, so that all hosts of the archive take part. */
async function realMap(path: string): Promise<Uint8Array> {
  const lines = gunzipSync(readFileSync(path)).toString("latin1").split("\n");
  const surts = lines.filter((_, i) => i % 7 === 0).slice(0, KEYS);
  const text = Buffer.from(surts.map((line) => `${line.split("\t", 1).join("")}\n`).join(""));
  return (await generateMap([{ name: "holdings", chunks: [text] }], { format: "surts" })).bytes;
}

function compacted(map: Uint8Array, [hostWeight, pathWeight]: readonly [number, number]) {
  return collected(compactMap([map], { hostWeight, pathWeight }));
}

function rowsOf(map: Uint8Array): string[] {
  const lines = Buffer.from(map).toString().split("\n").slice(0, -1);
  return lines.filter((line) => !line.startsWith("!"));
}

describe.skipIf(holdings === undefined)(
  "compaction of 250,000 real keys (skipped where they are not at hand)",
  () => {
    let map: Uint8Array = new Uint8Array(0);
    let rows: string[] = [];
    let parsed: readonly OracleRow[] = [];
    const direct: Uint8Array[] = [];

    beforeAll(async () => {
      map = await realMap(holdings ?? "");
      rows = rowsOf(map);
      parsed = parseRows(rows);
      for (const weights of WEIGHTS) direct.push(await compacted(map, weights));
    });

    it.each(WEIGHTS.map((weights, i) => [...weights, i] as const))(
      "gives the bytes of the slow oracle: host weight %d, path weight %d",
      (hostWeight, pathWeight, i) => {
        const expected = compactRows(parsed, { hostWeight, pathWeight });
        expect(rowsOf(direct[i] ?? map).join("\n")).toBe(expected.join("\n"));
        expect(expected.length).toBeLessThan(rows.length);
      },
    );

    it("gives the same when it is done step by step", async () => {
      let step = map;
      for (const [i, weights] of WEIGHTS.entries()) {
        step = await compacted(step, weights);
        expect(Buffer.compare(step, direct[i] ?? map)).toBe(0);
      }
    });

    it("keeps the sum of all frequencies", () => {
      const sum = (lines: readonly string[]): number =>
        lines.reduce((total, line) => total + Number(line.split(" ")[1]), 0);
      for (const smaller of direct) expect(sum(rowsOf(smaller))).toBe(sum(rows));
    });

    it("says present of every key that is held", () => {
      const keys = Buffer.from(rows.map((row) => row.split(" ")[0]).join("\n"));
      for (const smaller of direct) {
        const index = MemoryIndex.build(smaller);
        let missed = 0;
        for (let start = 0, end = 0; start < keys.length; start = end + 1) {
          end = keys.indexOf(10, start);
          if (end === -1) end = keys.length;
          if (!hasSurt(index, keys, start, end)) missed++;
        }
        expect(missed).toBe(0);
      }
    });
  },
);
