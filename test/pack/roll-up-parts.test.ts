import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileSource } from "../../src/files/input-file.ts";
import { compactBy } from "../../src/compact/compact-map.ts";
import { nodeName } from "../../src/ukvs/key-tree.ts";
import { ChosenNodes } from "../../src/compact/weight-policy.ts";
import { mapHeadOf } from "../../src/ukvs/head.ts";
import { PackLanes } from "../../src/pack/pack-job.ts";
import { rolledUpRows } from "../../src/pack/roll-up-parts.ts";
import { chunked, collected } from "../support/chunked.ts";
import { scratchDir } from "../support/scratch.ts";
import { map } from "../compact/compaction-arbitraries.ts";
import { encode } from "../maps/map-files.ts";
import { cases } from "../support/cases.ts";

/** The texts of the nodes that a key is in. */
function nodesOf(key: string): string[] {
  return Array.from(key.matchAll(/[,)/]|$/g), ({ index, 0: byte }) =>
    key.slice(0, byte === ")" ? index + 1 : index),
  );
}

describe("rolling up in parts", () => {
  it("gives the rows of one part, wherever the map is cut", async () => {
    const folder = scratchDir();
    const path = join(folder, "map.ukvs");
    const lanes = new PackLanes(1, undefined);
    await fc.assert(
      fc.asyncProperty(
        map,
        fc.integer({ min: 2, max: 12 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 11 })),
        fc.integer({ min: 1, max: 400 }),
        async (rows, oneIn, picks, partBytes) => {
          const bytes = encode(rows.map((row) => `${row}\n`).join(""));
          writeFileSync(path, bytes);
          const nodes = [...new Set(rows.flatMap((row) => nodesOf(row.split(" ")[0])))];
          const chosen = nodes
            .filter(() => picks.next().value % oneIn === 1)
            .map((text) => nodeName(encode(text), text.length));
          const { headers, recordsOffset } = mapHeadOf(bytes, path);
          const source = await FileSource.open(path);
          try {
            const inParts = rolledUpRows(source, chosen, {
              lanes,
              fields: headers.fields,
              recordsOffset,
              scratch: join(folder, "part"),
              cut: { partBytes, partitionBits: 0 },
            });
            const whole = compactBy(new ChosenNodes(chosen), chunked(bytes, [bytes.length]), {
              source: path,
              onHead: () => Promise.resolve(),
            });
            expect(Buffer.from(await collected(inParts)).toString()).toBe(
              Buffer.from(await collected(whole)).toString(),
            );
          } finally {
            await source.close();
          }
        },
      ),
      { numRuns: cases(100) },
    );
  });
});
