import * as fc from "fast-check";
import { expect, it } from "vitest";
import { readMap } from "../../fuzz/read-index.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import type { Fault } from "../../src/maps/map-faults.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { cases } from "../support/cases.ts";

const piece = fc.constantFrom("a", "b", "*", "*", "%2a", "%2A", "-", "(");
const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
const host = fc.array(word, { minLength: 1, maxLength: 3 }).map((labels) => labels.join(","));
const path = fc.array(word, { maxLength: 4 }).map((segments) => segments.join("/"));
const surt = fc
  .tuple(host, path, fc.constantFrom("", "", "?q=*"))
  .map(([labels, segments, query]) => `com,${labels})/${segments}${query}`);

it("writes every * of a CDXJ index as %2a", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(surt, { minLength: 1, maxLength: 30 }), async (surts) => {
      const text = surts.map((key) => `${key} 20200101000000 {"status": "200"}\n`).join("");
      const index = [Buffer.from(text)];
      const map = await readMap(index, { format: "cdxj" });
      const rows = Buffer.from(map)
        .toString()
        .split("\n")
        .filter((line) => !line.startsWith("!"));
      expect(rows.filter((row) => row.includes("*"))).toEqual([]);
      const faults: Fault[] = [];
      for await (const fault of validateMap([map])) faults.push(fault);
      expect(faults).toEqual([]);
      const lookup = MemoryIndex.build(map);
      expect(surts.filter((key) => !lookup.lookupSurtSync(key).present)).toEqual([]);
    }),
    { numRuns: cases(500) },
  );
});
