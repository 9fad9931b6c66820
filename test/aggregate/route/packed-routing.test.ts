import { describe, expect, it } from "vitest";
import { createRouter } from "../../../src/index.ts";
import { PackedLookup } from "../../../src/lookup/packed-lookup.ts";
import { packedBytes } from "../../pack/packed-bytes.ts";
import { archivesOf, mapOf, routerOf, shown } from "./routing.ts";

const ROWS = [
  "com,cnn)/news/* 40/10\n",
  "com,cnn)/sports/1 2\n",
  "com,example)/ 5\n",
  "org,arxiv)/* 300/100\n",
];
const TEXT = `!fields {"keys":["surt"],"values":["frequency"]}\n${ROWS.join("")}`;
const archives = archivesOf({ packed: {}, text: {} });

async function packed(text: string): Promise<PackedLookup> {
  const bytes = await packedBytes(text, { bits: 20 });
  return PackedLookup.of(bytes ?? new Uint8Array(), "packed");
}

describe("a router with a packed map and one in text", () => {
  it("decides by each of them, and names the keys", async () => {
    const index = await packed(TEXT);
    const router = await routerOf(archives, {
      packed: { index, updatedAt: undefined },
      text: TEXT,
    });
    const keyOf = (uri: string): unknown =>
      router.route({ uri }).map(({ archive, key }) => [archive.id, key]);
    expect(keyOf("http://cnn.com/news/2020/a?b")).toEqual([
      // Only the text states how much it holds there.
      ["text", "com,cnn)/news/*"],
      ["packed", "com,cnn)/news/*"],
    ]);
    expect(shown(router.route({ uri: "http://www.cnn.com/sports/1" }))).toBe(
      "+packed in-map, +text in-map",
    );
    expect(shown(router.route({ uri: "http://cnn.com/sports/2" }))).toBe(
      "-packed not-in-map, -text not-in-map",
    );
    // Decisions outlive the lookup that they came from.
    const [first] = router.route({ uri: "http://example.com/" });
    router.route({ uri: "http://arxiv.org/abs/1" });
    expect([first.key, first.likelihood]).toEqual(["com,example)/", 0.99]);
  });

  it("asks for all times: a packed map has none", async () => {
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const text = `${fields}com,example)/ 2015 3\n`;
    const updatedAt = Date.UTC(2026, 0, 1);
    const router = await routerOf(archives, {
      packed: { index: await packed(text), updatedAt },
      text: mapOf(text, { updatedAt }),
    });
    const period = { from: 20_100_101_000_000, until: 20_101_231_235_959 };
    expect(shown(router.route({ uri: "http://example.com/", ...period }))).toBe(
      "+packed in-map, -text out-of-range",
    );
    const moment = { datetime: 20_100_101_000_000 };
    expect(shown(router.route({ uri: "http://example.com/", ...moment }))).toBe(
      "+packed in-map, +text in-map",
    );
  });

  it("asks for parts of a page that a packed map has", async () => {
    const router = await routerOf(archives, {
      packed: { index: await packed(TEXT), updatedAt: undefined },
      text: "org,other)/ 1\n",
    });
    const request = { uri: "http://cdn.example/a.png", referer: "http://cnn.com/sports/1" };
    expect(shown(router.route(request))).toBe("+packed referer, -text not-in-map");
  });

  it("is made by the library from bytes, and refuses damaged ones", async () => {
    const file = Buffer.from((await packedBytes(TEXT, { bits: 20 })) ?? []);
    const router = await createRouter(archives, {
      maps: { packed: file, text: new TextEncoder().encode(TEXT) },
      sampleShare: 0,
    });
    const uri = "http://cnn.com/news/1";
    expect(shown(router.route({ uri }))).toBe("+text in-map, +packed in-map");
    file[file.length - 1] ^= 1;
    await expect(router.useMaps({ packed: file })).rejects.toThrow(/damaged: shard/);
    expect(shown(router.route({ uri }))).toBe("+text in-map, +packed in-map");
  });
});
