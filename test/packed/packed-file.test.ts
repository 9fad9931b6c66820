import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { formatHead, parseHead } from "../../src/packed/packed-file.ts";
import { packedSeeds } from "../../fuzz/packed-seeds.ts";
import { FAULTY_PACKED, rewritten } from "../support/faulty-packed.ts";

const [FILE] = packedSeeds();

function codeOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

const TABLE = { fingerprint: 4, descriptor: 3 };

describe("a packed map", () => {
  it("is read with its parts as they are", () => {
    expect(
      codeOf(() =>
        PackedLookup.of(
          rewritten(() => ({})),
          "map",
        ),
      ),
    ).toBeUndefined();
  });

  it.each(FAULTY_PACKED)("is refused where %s", (_, file) => {
    expect(codeOf(() => PackedLookup.of(file, "map"))).toBe("MM_BAD_INPUT");
  });

  it("knows no host where its table has none", async () => {
    const { header } = parseHead(FILE, FILE.length, "seed");
    const empty = {
      ...header,
      voids: 0,
      filters: [],
      hostWildcards: 2 ** 32 - 1,
      hostSpreads: 2 ** 32 - 1,
    };
    const lookup = PackedLookup.of(formatHead(empty, [], []), "map");
    expect(await lookup.lookupSurt("com,a)/b")).toEqual({ present: false });
  });

  it("is refused where its directory claims more than any reader can hold", () => {
    const file = rewritten(({ header, shards }) => ({
      header: { ...header, filters: [{ kind: "rows", bits: 32, shards: 1 }], table: { ...TABLE } },
      shards: [{ ...shards[0], words: 0, slots: 2 ** 32 - 32 }],
    }));
    expect(codeOf(() => parseHead(file, 2 ** 35, "map"))).toBe("MM_LIMIT");
  });

  it("is cut short where a shard arrives in part", async () => {
    const whole = new MemorySource(FILE, "map");
    const short = await PackedLookup.open({
      name: "map",
      size: FILE.length,
      read: (offset, length) => whole.read(offset, offset === 0 ? length : length - 4),
    });
    await expect(short.lookupSurt("com,a)/b")).rejects.toMatchObject({ code: "MM_CUT" });
  });
});
