import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packedSeeds } from "../../fuzz/packed-seeds.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { surtKey } from "../../src/surt/key.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { anyUri } from "../surt/uri-arbitraries.ts";
import { uriNearPacked } from "./packed-uris.ts";

interface ExampleReader {
  readonly openPacked: (bytes: Uint8Array) => { lookup(key: string): { present: boolean } };
}
const { openPacked } = (await import(
  new URL("../../examples/packed-reader.mjs", import.meta.url).href
)) as ExampleReader;

const SEEDS = packedSeeds();

const uri = fc.oneof(anyUri, uriNearPacked);

describe("a packed map", () => {
  it("answers URIs, SURTs and keys alike, however it is read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(SEEDS.length - 1), fc.array(uri), async (seed, uris) => {
        const map = PackedLookup.of(SEEDS[seed], "seed");
        const lazy = await PackedLookup.open(new MemorySource(SEEDS[seed]));
        const reader = openPacked(SEEDS[seed]);
        const { queries } = map.header;
        const answers = await Promise.all(uris.map((one) => lazy.lookup(one)));
        for (const [i, one] of uris.entries()) {
          const key = surtKey(surt(one), { queries });
          const { present } = reader.lookup(key);
          expect({
            uri: one,
            byUri: map.lookupSync(one).present,
            bySurt: map.lookupSurtSync(surt(one)),
          }).toEqual({
            uri: one,
            byUri: present,
            bySurt: { ...answers[i], present },
          });
        }
      }),
      { numRuns: 200 },
    );
  });
});
