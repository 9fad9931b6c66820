import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/map/lookup/packed-lookup.ts";
import {
  type Descriptor,
  formatHead,
  type PackedHeader,
  parseHead,
  type Shard,
} from "../../src/packed/packed-file.ts";
import { packedSeeds, withChecksums } from "../../fuzz/packed-seeds.ts";

const [FILE] = packedSeeds();

function codeOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

interface Parts {
  readonly header: Record<string, unknown>;
  readonly descriptors: readonly Descriptor[];
  readonly shards: readonly Shard[];
}

/** The file with other parts, and checksums that fit. */
function rewritten(change: (parts: Parts) => Partial<Parts>): Uint8Array {
  const { header, descriptors, shards, dataStart } = parseHead(FILE, FILE.length, "seed");
  const parts: Parts = { header: { ...header }, descriptors, shards };
  const other = { ...parts, ...change(parts) };
  const head = formatHead(other.header as unknown as PackedHeader, other.descriptors, other.shards);
  return withChecksums(Uint8Array.of(...head, ...FILE.subarray(dataStart)));
}

const TABLE = { fingerprint: 4, descriptor: 3, count: 3, step: 1 };

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

  it.each<[string, unknown]>([
    ["headers", null],
    ["headers", [7]],
    ["headers", [{ value: 1 }]],
    ["queries", 1],
    ["rows", -1],
    ["hosts", "5"],
    ["voids", 0.5],
    ["table", undefined],
    ["table", { ...TABLE, fingerprint: 33 }],
    ["table", { ...TABLE, fingerprint: 0 }],
    ["table", { ...TABLE, descriptor: 17 }],
    ["table", { ...TABLE, count: 20 }],
    ["table", { ...TABLE, step: 0 }],
    ["hostWildcards", 2 ** 32],
    ["hostSpreads", null],
    ["filters", {}],
    ["filters", [null]],
    ["filters", [{ kind: "pages", bits: 5, shards: 1 }]],
    ["filters", [{ kind: "rows", bits: 33, shards: 1 }]],
    ["filters", [{ kind: "rows", bits: 5, shards: 0 }]],
    ["filters", [{ kind: "rows", bits: 5, shards: 1e9 }]],
    ["source", 5],
  ])("is refused where %s is %j", (name, value) => {
    const file = rewritten(({ header }) => ({ header: { ...header, [name]: value } }));
    expect(codeOf(() => PackedLookup.of(file, "map"))).toBe("MM_BAD_INPUT");
  });

  it("is refused where a filter is there twice, or the table has no descriptors", () => {
    const twice = rewritten(({ header }) => {
      const filters = header["filters"] as unknown[];
      return { header: { ...header, filters: [...filters, filters[0]] } };
    });
    expect(codeOf(() => PackedLookup.of(twice, "map"))).toBe("MM_BAD_INPUT");
    const without = rewritten(() => ({ descriptors: [] }));
    expect(codeOf(() => PackedLookup.of(without, "map"))).toBe("MM_BAD_INPUT");
  });

  it("knows no host where its table has none", async () => {
    const { header } = parseHead(FILE, FILE.length, "seed");
    const empty = { ...header, filters: [], hostWildcards: 2 ** 32 - 1, hostSpreads: 2 ** 32 - 1 };
    const lookup = PackedLookup.of(formatHead(empty, [], []), "map");
    expect(await lookup.lookupSurt("com,a)/b")).toEqual({ present: false });
  });

  it("is refused where a descriptor has a flag that nobody knows", () => {
    const file = rewritten(({ descriptors }) => ({
      descriptors: descriptors.map((one) => ({ ...one, flags: one.flags | 32 })),
    }));
    expect(codeOf(() => PackedLookup.of(file, "map"))).toBe("MM_BAD_INPUT");
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
