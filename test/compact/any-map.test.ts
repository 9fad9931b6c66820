import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernels exist only in the build.
import { compactFileToBudget } from "../../src/compact/budget-files.ts";
import { compactFile } from "../../src/compact/compact-files.ts";
import { withMapOutput } from "../../src/maps/map-output.ts";
import { compactMap } from "../../src/compact/compact-map.ts";
import { isMementoMapError } from "../../src/errors.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { mergeMaps } from "../../src/maps/merge-maps.ts";
import { weight } from "./compaction-arbitraries.ts";
import { KeepingSink } from "../maps/map-files.ts";
import { type AnyMap, anyMap, TIMES } from "../support/any-map.ts";
import { chunked, collected } from "../support/chunked.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { cases } from "../support/cases.ts";

const stdout = { write: () => true } as unknown as NodeJS.WriteStream;
const streams = { stdin: process.stdin, stdout } as unknown as Parameters<
  typeof compactFile
>[2]["streams"];

/** Runs `use` with a map in a file, and gives what it writes. */
async function written(
  bytes: Uint8Array,
  use: (
    path: string,
    output: Parameters<typeof compactFile>[1],
    folder: string,
  ) => Promise<unknown>,
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
  try {
    const [path, target] = [join(folder, "map"), join(folder, "small")];
    writeFileSync(path, bytes);
    await withMapOutput(target, { stdout, tmp: folder }, (output) => use(path, output, folder));
    return readFileSync(target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same; where keys belong elsewhere as writers spell them, of the map that merge makes of it. */
async function writtenInOrder(
  { bytes }: AnyMap,
  use: Parameters<typeof written>[1],
): Promise<Uint8Array> {
  return written(bytes, use).catch(async (error: unknown) => {
    if (!isMementoMapError(error) || error.code !== "MM_NOT_SORTED") throw error;
    return written(await mergedAlone(bytes), use);
  });
}

async function mergedAlone(map: Uint8Array): Promise<Uint8Array> {
  const sink = new KeepingSink();
  await mergeMaps([new MemorySource(map)], sink);
  return sink.bytes();
}

/** What is present before and absent after, at some time. */
function lost(map: AnyMap, compacted: Uint8Array): string[] {
  const [before, after] = [new LinearReading(map.bytes), new LinearReading(compacted)];
  const escaped = (surt: string): string =>
    surt.replaceAll("ü", (character) => encodeURIComponent(character).toLowerCase());
  return map.surts.flatMap((surt) =>
    TIMES.filter((at) => before.lookup(surt, at).present)
      .filter((at) => !after.lookup(escaped(surt), at).present)
      .map((at) => `${surt} at ${at ?? "any time"}`),
  );
}

function withoutSize(map: Uint8Array): string {
  return Buffer.from(map)
    .toString()
    .replace(/^!size .*\n/m, "");
}

describe("compact, of any map that the format allows", () => {
  it("keeps all that is held by weights, in the form of writers, as the TypeScript code does", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap(2), weight, weight, async (map, hostWeight, pathWeight) => {
        const weights = { hostWeight, pathWeight };
        const compacted = await writtenInOrder(map, (path, output, scratch) =>
          compactFile(path, output, { weights, scratch, streams }),
        );
        expect(lost(map, compacted)).toEqual([]);
        expect(withoutSize(await mergedAlone(compacted))).toBe(withoutSize(compacted));
        // Merging adds up the two spellings of a home page; compaction keeps both rows.
        fc.pre(!/\)[ \t]/.test(map.text));
        const canonical = await mergedAlone(map.bytes);
        const plain = await collected(compactMap(chunked(canonical, [1 << 16]), weights));
        expect(withoutSize(compacted)).toBe(withoutSize(plain));
      }),
      { numRuns: cases(100) },
    );
  });

  it("keeps all that is held within a budget, with and without misses", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyMap(1),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        async (map, share, hasMisses) => {
          const maxLines = 4 + Math.ceil(map.rows * share);
          const asked = map.surts.filter((surt) => surt.includes(")/") && !surt.includes("*"));
          const compacted = await writtenInOrder(map, async (path, output, scratch) => {
            const misses = join(scratch, "misses");
            if (hasMisses) writeFileSync(misses, `com,zz)/x\n${asked.join("\n")}\n`);
            await compactFileToBudget(path, output, {
              budget: { maxLines },
              misses: hasMisses ? misses : undefined,
              scratch,
              streams,
            });
          }).catch((error: unknown) => {
            // The map cannot be made so small.
            if (isMementoMapError(error) && error.code === "MM_BUDGET") return undefined;
            throw error;
          });
          fc.pre(compacted !== undefined);
          if (compacted === undefined) return;
          expect(lost(map, compacted)).toEqual([]);
          expect(withoutSize(await mergedAlone(compacted))).toBe(withoutSize(compacted));
        },
      ),
      { numRuns: cases(100) },
    );
  });
});
