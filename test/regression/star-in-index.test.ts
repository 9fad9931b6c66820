import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { MAX_LINE_BYTES, readMap } from "../../fuzz/read-index.ts";
import { MemoryIndex } from "../../src/map/lookup/memory-index.ts";
import type { Fault } from "../../src/map/map-faults.ts";
import { validateMap } from "../../src/map/validate-map.ts";
import { CdxjScanner } from "../../src/map/generate/cdxj-scanner.ts";

const piece = fc.constantFrom("a", "b", "*", "*", "%2a", "%2A", "-", "(");
const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
const host = fc.array(word, { minLength: 1, maxLength: 3 }).map((labels) => labels.join(","));
const path = fc.array(word, { maxLength: 4 }).map((segments) => segments.join("/"));
const surt = fc
  .tuple(host, path, fc.constantFrom("", "", "?q=*"))
  .map(([labels, segments, query]) => `com,${labels})/${segments}${query}`);

it("writes every * of a CDXJ index as %2a, by the kernel and without it", async () => {
  const scanner = CdxjScanner.open(1 << 16, MAX_LINE_BYTES);
  if (scanner === undefined) throw new Error("the kernel is not built; run npm run build");
  const scan = vi.spyOn(scanner, "scan");
  await fc.assert(
    fc.asyncProperty(fc.array(surt, { minLength: 1, maxLength: 30 }), async (surts) => {
      const text = surts.map((key) => `${key} 20200101000000 {"status": "200"}\n`).join("");
      const index = [Buffer.from(text)];
      const map = Buffer.from(await readMap(index, { format: "cdxj" })).toString();
      const scanned = await readMap(index, { format: "cdxj", scanner });
      expect(Buffer.from(scanned).toString()).toBe(map);
      const rows = map.split("\n").filter((line) => !line.startsWith("!"));
      expect(rows.filter((row) => row.includes("*"))).toEqual([]);
      const faults: Fault[] = [];
      for await (const fault of validateMap([scanned])) faults.push(fault);
      expect(faults).toEqual([]);
      const lookup = MemoryIndex.build(scanned);
      expect(surts.filter((key) => !lookup.lookupSurtSync(key).present)).toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(scan).toHaveBeenCalled();
});
