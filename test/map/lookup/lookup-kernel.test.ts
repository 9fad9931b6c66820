import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineBatches } from "../../../src/bytes/lines.ts";
import {
  AnswerWriter,
  type BatchAnswers,
  type BlockSink,
  BlockWriter,
} from "../../../src/map/lookup/answer-lines.ts";
import { HeldMap } from "../../../src/map/lookup/held-map.ts";
import { LookupKernel } from "../../../src/map/lookup/lookup-kernel.ts";
import { MemoryIndex } from "../../../src/map/lookup/memory-index.ts";
import { chunked } from "../../support/chunked.ts";
import { anyUri } from "../../surt/uri-arbitraries.ts";
import { layout, lookupSurt, mapBytes, mapKey, PLAIN, rows } from "./map-arbitraries.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a batch comes to, by whatever answers it. */
async function answersOf(
  batch: Uint8Array,
  open: (sink: BlockSink) => BatchAnswers,
): Promise<{ text: string; asked: number; present: number }> {
  const blocks: Uint8Array[] = [];
  const answers = open({ write: (block) => void blocks.push(block.slice()) });
  for await (const lines of lineBatches(chunked(batch, [65_536]))) await answers.writeLines(lines);
  await answers.flush();
  const text = Buffer.concat(blocks).toString("latin1");
  return { text, asked: answers.askedCount, present: answers.presentCount };
}

function plainAnswers(map: Uint8Array, batch: Uint8Array, isSurt: boolean): Promise<unknown> {
  const index = MemoryIndex.build(map);
  return answersOf(batch, (sink) => new AnswerWriter(index, new BlockWriter(sink), { isSurt }));
}

async function heldAnswers(map: Uint8Array, batch: Uint8Array, isSurt: boolean): Promise<unknown> {
  const options = { size: map.length, source: "memory", inBatches: true };
  const held = await HeldMap.read(options, (bytes) => bytes.set(map));
  return answersOf(batch, (sink) => held.answers(sink, { isSurt }));
}

function isTaken(map: Uint8Array): boolean {
  const kernel = LookupKernel.open(map.length);
  if (kernel === undefined) throw new Error("the kernel is not built: npm run build");
  kernel.bytes.set(map);
  return kernel.index("memory");
}

const PLAIN_KEY =
  /^[a-z\d_.:-]+(?:,[a-z\d_.:-]+)*(?:,\*|\)(?:\/\*|\/|(?:\/[^?*"\s]*[^/?*"\s])(?:\/\*)?))$/;
const PLAIN_FREQUENCY = /^\d+[+~-]?(?:\/\d+[+~-]?)?$/;
const plainRows = rows
  .map((all) =>
    all.filter(({ key, frequency }) => PLAIN_KEY.test(key) && PLAIN_FREQUENCY.test(frequency)),
  )
  .filter(({ length }) => length > 0);

/** A URI of a key or of something below it, written in one of many ways. */
const uri = fc
  .tuple(
    fc.oneof(mapKey, lookupSurt),
    fc.constantFrom("http://", "https://", "HTTP://", "http://www.", "http://WWW2.", "ftp://", ""),
    fc.constantFrom("", "", "", ":80", ":443", ":8080", ":08", ":", ".", ":x"),
    fc.constantFrom(
      "",
      "",
      "/",
      "//",
      "/./",
      "/.",
      "/a/(S(x))/b",
      "/A%41%2f",
      "/%2A",
      "/%7e%C3",
      "/é",
      "*",
    ),
    fc.constantFrom(
      "",
      "",
      "?",
      "?B&a",
      "?é",
      "?%",
      "?*",
      "?sid=1",
      "#",
      "#é",
      "?#?",
      "?a b",
      "\t",
      "\r",
    ),
  )
  .map(([surt, scheme, port, path, end]) => {
    const at = surt.includes(")") ? surt.indexOf(")") : surt.length;
    const host = surt.slice(0, at).split(",").toReversed().join(".");
    return `${scheme}${host}${port}${surt.slice(at + 1)}${path}${end}`;
  });

const batchOf = (line: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.array(fc.tuple(line, fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\r\n\r\n"))),
      fc.boolean(),
    )
    .map(([lines, isCut]) => {
      const text = lines.map(([content, end]) => content + end).join("");
      return encode(isCut ? text.trimEnd() : text);
    });

describe("LookupKernel", () => {
  it.each([
    ["SURTs", true, batchOf(fc.oneof(lookupSurt, fc.string({ unit: "binary" })))],
    ["URIs", false, batchOf(fc.oneof(uri, uri, anyUri))],
  ])("answers %s as AnswerWriter does", async (_, isSurt, batches) => {
    await fc.assert(
      fc.asyncProperty(plainRows, batches, async (content, batch) => {
        const map = mapBytes(content, PLAIN);
        expect(isTaken(map)).toBe(true);
        expect(await heldAnswers(map, batch, isSurt)).toEqual(
          await plainAnswers(map, batch, isSurt),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("leaves other maps to the index", async () => {
    await fc.assert(
      fc.asyncProperty(rows, layout, batchOf(lookupSurt), async (content, laidOut, batch) => {
        const map = mapBytes(content, laidOut);
        expect(await heldAnswers(map, batch, true)).toEqual(await plainAnswers(map, batch, true));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    "com,a)/ 1\ncom,a)/ 2\n",
    "com,b)/ 1\ncom,a)/ 2\n",
    "com,a)/ 1",
    "com,a)/ 1\r\n",
    "com,a)/ 1 {}\n",
    "com,a)/  1\n",
    "com,a) 1\n",
    "com,a)/b/ 1\n",
    "com,a)/b?c 1\n",
    "com,a)/b*c 1\n",
    "com,a)/b* 1\n",
    "com,*)/ 1\n",
    "com,,a)/ 1\n",
    "com,A)/ 1\n",
    "com,a)/\u00e9 1\n",
    "com,a)/ 1234567890123456\n",
    "com,a)/ -\n",
    "com,a)/ /4\n",
    "com,a)/ 1\n\ncom,b)/ 1\n",
    "* 1\n",
    "*,a)/ 1\n",
    '!meta {"page": {"number": 1, "of": 2}}\ncom,a)/ 1\n',
    '!fields {"keys": ["surt"], "values": ["frequency"], "queries": true}\ncom,a)/ 1\n',
    '!fields {"keys": ["surt", "datetime"], "values": ["frequency"]}\ncom,a)/ 2014 1\n',
  ])("does not take %j", (map) => {
    expect(isTaken(encode(map))).toBe(false);
  });

  it("does not take keys longer than the lines it takes", () => {
    expect(isTaken(encode(`com,a)/${"b".repeat(4089)} 1\n`))).toBe(true);
    expect(isTaken(encode(`com,a)/${"b".repeat(4090)} 1\n`))).toBe(false);
  });

  it("counts what the map says of its size", () => {
    const map = encode('!size {"bytes": 20, "records": 3}\ncom,a)/ 1\ncom,b)/ 1\n');
    expect(() => isTaken(map)).toThrow(expect.objectContaining({ code: "MM_CUT" }));
  });

  it.each(["com,a)/b\r\r\n", "com,a)/b\r\r\ncom,a)/c\n", "com,a)/b\r\n", "com,a)/b\r", "\r\r\n"])(
    "takes %j for the lines it has",
    async (text) => {
      const map = encode("com,a)/b 12\ncom,a)/c 0\n");
      const batch = encode(text);
      expect(await heldAnswers(map, batch, true)).toEqual(await plainAnswers(map, batch, true));
    },
  );

  it("takes lines of any length, and more than a block of them", async () => {
    const map = encode("com,a)/* 3\ncom,a)/b 12\ncom,a)/c 0\n");
    const long = "x".repeat(5000);
    const lines = [`com,a)/${long}`, `com,a)/${"y/".repeat(400_000)}`, "com,a)/b\tc", "com,a)/c/"];
    const many = Array.from({ length: 20_000 }, (_, i) => `com,a)/${i % 3 === 0 ? "b" : i}`);
    const batch = encode([...many, ...lines, ...many, ...lines, ""].join("\n"));
    expect(isTaken(map)).toBe(true);
    const held = await heldAnswers(map, batch, true);
    expect(held).toEqual(await plainAnswers(map, batch, true));
    expect(held).toMatchObject({ asked: 40_008, present: 40_006 });
  });
});
