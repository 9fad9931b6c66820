import { describe, expect, it } from "vitest";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import type { PackOptions } from "../../src/pack/pack-files.ts";
import { packedBytes } from "./packed-bytes.ts";

const PAGES = Array.from({ length: 3000 }, (_, i) => `org,h${1000 + (i % 100)})/a/p${i} 2`);
const TAKEN_DOWN = [
  "com,*)/login 0",
  "com,domain)/ 5",
  "com,domain)/keep 3",
  "com,domain,* 0",
  "com,domain,b)/kept/* 9",
  "com,folder)/* 7",
  "com,folder)/private/* 0",
  "com,folder)/private/open 1",
  "com,page)/a 1",
  "com,page)/b 0",
  "com,page)/c 4",
];

function textOf(rows: readonly string[]): string {
  return rows.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join("\n");
}

async function packed(
  rows: readonly string[],
  options: Partial<PackOptions>,
): Promise<PackedLookup> {
  return PackedLookup.of(
    (await packedBytes(`${textOf(rows)}\n`, options)) ?? PAGES_OF_NOTHING,
    "m",
  );
}
const PAGES_OF_NOTHING = new Uint8Array(0);

const many = (key: string): string[] => Array.from({ length: 500 }, (_, i) => `${key}x${i}`);

describe("voids of a packed map", () => {
  it.each([{ bits: 0 }, { bits: 8 }, { bits: 24 }, { maxBytes: 2500 }, {}])(
    "hold, and hide nothing: %j",
    async (options) => {
      const map = await packed([...PAGES, ...TAKEN_DOWN], options);
      const says = (key: string): boolean => map.lookupSurtSync(key).present;
      const absent = [
        "com,page)/b",
        "com,elsewhere)/login",
        ...many("com,folder)/private/"),
        ...many("com,domain)/keep/"),
        ...many("com,domain,b)/"),
        ...many("com,domain,c,d").map((host) => `${host})/a`),
      ];
      expect(absent.filter(says)).toEqual([]);
      const held = [
        "com,domain)/",
        "com,domain)/keep",
        "com,domain,b)/kept/a",
        "com,folder)/x",
        "com,folder)/private/open",
        "com,page)/a",
        "com,page)/c",
        ...PAGES.map((row) => row.slice(0, row.indexOf(" "))),
      ];
      expect(held.filter((key) => !says(key))).toEqual([]);
    },
  );

  it.each([8, 16, 24])("of the README's example hold: %d bits", async (bits) => {
    const rows = ["com,example)/ 12", "com,example)/news/* 340", "com,example)/news/private/* 0"];
    const map = await packed(rows, { bits });
    const { present, key } = await map.lookup("https://example.com/news/private/x");
    expect([present, key]).toEqual([false, "com,example)/news/private/*"]);
    expect((await map.lookup("https://example.com/news/x")).present).toBe(true);
  });
});
