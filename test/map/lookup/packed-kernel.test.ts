import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packedSeeds } from "../../../fuzz/packed-seeds.ts";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import { lineBatches } from "../../../src/bytes/lines.ts";
import {
  type BatchAnswers,
  type BlockSink,
  BlockWriter,
} from "../../../src/map/lookup/answer-lines.ts";
import { answerLine } from "../../../src/map/lookup/map-lookup.ts";
import { PackedAnswers } from "../../../src/map/lookup/packed-answers.ts";
import { openPackedBatch, PackedKernel } from "../../../src/map/lookup/packed-kernel.ts";
import { PackedLookup } from "../../../src/map/lookup/packed-lookup.ts";
import { PackedSingle } from "../../../src/map/lookup/packed-single.ts";
import { parseParts } from "../../../src/packed/packed-parts.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { chunked } from "../../support/chunked.ts";
import { anyUri } from "../../surt/uri-arbitraries.ts";
import { packedBytes } from "../pack/packed-bytes.ts";
import { anyMap, runs } from "./any-map-and-questions.ts";
import { uriNearPacked } from "./packed-uris.ts";

const SEEDS = packedSeeds();
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

async function answersOf(
  batch: string,
  open: (sink: BlockSink) => BatchAnswers,
): Promise<{ text: string; asked: number; present: number }> {
  const blocks: Uint8Array[] = [];
  const answers = open({ write: (block) => void blocks.push(block.slice()) });
  for await (const lines of lineBatches(chunked(encode(batch), [65_536]))) {
    await answers.writeLines(lines);
  }
  await answers.flush();
  const text = Buffer.concat(blocks).toString();
  return { text, asked: answers.askedCount, present: answers.presentCount };
}

/** One line after the other, as `lookup` answers them without --batch. */
async function plainAnswers(
  file: Uint8Array,
  lines: readonly string[],
  isSurt: boolean,
): Promise<unknown> {
  const map = PackedLookup.of(file, "map");
  let [text, present] = ["", 0];
  for (const line of lines) {
    const answer = await (isSurt ? map.lookupSurt(line) : map.lookup(line));
    text += `${answerLine(line, answer)}\n`;
    if (answer.present) present += 1;
  }
  return { text, asked: lines.length, present };
}

/** What the kernel says, if it takes the map, and what is said by TypeScript that reads shards when they are asked for. */
async function batchAnswers(
  file: Uint8Array,
  lines: readonly string[],
  isSurt: boolean,
): Promise<unknown[]> {
  const batch = lines.map((one) => `${one}\n`).join("");
  const { answers } = await openPackedBatch(new MemorySource(file));
  if (answers === undefined) throw new Error("packed maps answer batches");
  const lazy = await PackedLookup.open(new MemorySource(file));
  return [
    await answersOf(batch, (sink) => answers(sink, { isSurt })),
    await answersOf(batch, (sink) => new PackedAnswers(lazy, new BlockWriter(sink), { isSurt })),
  ];
}

const line = fc
  .oneof(anyUri, uriNearPacked)
  .map((text) => text.replace(/[\ud800-\udfff]/gu, "").replace(/[\r\n]/g, ""))
  .filter((text) => text !== "");

describe("batches of lookups in a packed map", () => {
  it("are answered as single lookups are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(SEEDS.length - 1),
        fc.array(line),
        fc.boolean(),
        async (seed, uris, isSurt) => {
          const lines = isSurt ? uris.map(surt) : uris;
          const expected = await plainAnswers(SEEDS[seed], lines, isSurt);
          const found = await batchAnswers(SEEDS[seed], lines, isSurt);
          expect(found).toEqual([expected, expected]);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("are answered as single lookups are, in any map", async () => {
    const sizes = fc.constantFrom({ bits: 3.25 }, { bits: 0 }, { bits: 12 }, { maxBytes: 2000 });
    await fc.assert(
      fc.asyncProperty(anyMap, fc.array(line), sizes, async ({ text }, uris, options) => {
        const file = await packedBytes(text, options).catch(() => undefined);
        if (file === undefined) return;
        const keys = [...text.matchAll(/^([^!@\s]+) /gm)].map(([, key]) => key);
        const lines = [...uris.map(surt), ...keys];
        const expected = await plainAnswers(file, lines, true);
        expect(await batchAnswers(file, lines, true)).toEqual([expected, expected]);
      }),
      { numRuns: runs(150) },
    );
  });

  it("are answered by the kernel, unless there are deltas", async () => {
    const kernels = await Promise.all(
      SEEDS.map((file) => PackedKernel.read(new MemorySource(file))),
    );
    const parts = SEEDS.map((file) => parseParts(file, "map").heads.length);
    expect(kernels.map((kernel) => kernel !== undefined)).toEqual(
      parts.map((count) => count === 1),
    );
  });

  it("may have lines of any length", async () => {
    const long = `http://a.com/${"b/".repeat(5000)}`;
    const longer = `http://a.com/${"é".repeat(400_000)}`;
    const lines = ["http://a.com/b", long, "http://a.com/", longer, `${long}*`, "http://b.com/"];
    const expected = await plainAnswers(SEEDS[0], lines, false);
    expect(await batchAnswers(SEEDS[0], lines, false)).toEqual([expected, expected]);
    const surts = ["com,a)/b", `com,a)/${"/".repeat(5000)}b`, `com,a)/b?${"/".repeat(9000)}`];
    const expectedOfSurts = await plainAnswers(SEEDS[0], surts, true);
    const found = await batchAnswers(SEEDS[0], surts, true);
    expect(found).toEqual([expectedOfSurts, expectedOfSurts]);
  });

  it.each([0, 2])("may be larger than the room for answers, in map %i", async (seed) => {
    const lines = Array.from({ length: 12_000 }, (_, i) => `https://www.a.com/b?i=${i}&a=*`);
    const expected = await plainAnswers(SEEDS[seed], lines, false);
    expect(await batchAnswers(SEEDS[seed], lines, false)).toEqual([expected, expected]);
  });
});

describe("single lookups in the kernel", () => {
  const rough = fc.oneof(anyUri, uriNearPacked, fc.string());
  /** What the kernel and TypeScript say of texts, as URIs and as SURTs; nothing where there are deltas. */
  const answers = (file: Uint8Array, texts: readonly string[]): [boolean[], boolean[]] => {
    const single = PackedSingle.of(file, "map");
    const map = PackedLookup.of(file, "map");
    if (single === undefined) return [[], []];
    const padding = encode("com,a)/");
    const keys = texts.map((text) => encode(surt(text)));
    const among = keys.map((key) => Buffer.concat([padding, key, padding]));
    const plain = keys.map((key) => map.isPresentDuring(key));
    return [
      [
        ...texts.map((text) => single.isPresent(text)),
        ...keys.map((key) => single.hasSurt(key, 0, key.length)),
        ...among.map((key) => single.hasSurt(key, padding.length, key.length - padding.length)),
      ],
      [...texts.map((text) => map.isPresent(text)), ...plain, ...plain],
    ];
  };

  it("say what TypeScript says", () => {
    fc.assert(
      fc.property(fc.constantFrom(...SEEDS), fc.array(rough), (file, texts) => {
        const [found, expected] = answers(file, texts);
        expect(found).toEqual(expected);
      }),
      { numRuns: runs(200) },
    );
  });

  it("say what TypeScript says of SURTs that nothing made canonical", () => {
    const part = fc.constantFrom(
      "com,a)",
      "com,",
      ")",
      "/",
      "//",
      "/b",
      "b",
      "?",
      "?x",
      "*",
      '"',
      "-",
    );
    const anySurt = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.constantFrom(...SEEDS), fc.array(anySurt), (file, surts) => {
        const single = PackedSingle.of(file, "map");
        if (single === undefined) return;
        const keys = surts.map(encode);
        const map = PackedLookup.of(file, "map");
        const found = keys.map((key) => single.hasSurt(key, 0, key.length));
        expect(found).toEqual(keys.map((key) => map.isPresentDuring(key)));
      }),
      { numRuns: runs(200) },
    );
  });

  it("may have any length", () => {
    const pages = [500, 1300, 1365, 1366, 4000, 4100, 9000].flatMap((length) =>
      ["b", "b/", "é"].map((part) => `http://a.com/${part.repeat(length)}`),
    );
    for (const file of SEEDS) {
      const [found, expected] = answers(file, [
        "",
        "http://a.com/\r",
        "http://a.com/\nb",
        ...pages,
      ]);
      expect(found).toEqual(expected);
    }
  });
});
