import {
  type Descriptor,
  formatHead,
  type PackedHeader,
  parseHead,
  type Shard,
} from "../../src/packed/packed-file.ts";
import { packedSeeds, withChecksums } from "../../fuzz/packed-seeds.ts";

/*
 * Packed maps from a faulty writer: the checksums are valid, but other parts are not.
 */

const [FILE] = packedSeeds();
const TABLE = { fingerprint: 4, descriptor: 3 };

interface Parts {
  readonly header: Record<string, unknown>;
  readonly descriptors: readonly Descriptor[];
  readonly shards: readonly Shard[];
  readonly voids: Uint32Array;
}

/** A valid file with some parts replaced, and matching checksums. */
export function rewritten(change: (parts: Parts) => Partial<Parts>): Uint8Array {
  const { header, descriptors, shards, voids, dataStart } = parseHead(FILE, FILE.length, "seed");
  const parts: Parts = { header: { ...header }, descriptors, shards, voids };
  const other = { ...parts, ...change(parts) };
  const head = formatHead(
    other.header as unknown as PackedHeader,
    other.descriptors,
    other.shards,
    other.voids,
  );
  return withChecksums(Uint8Array.of(...head, ...FILE.subarray(dataStart)));
}

const MEMBERS: readonly (readonly [string, unknown])[] = [
  ["headers", null],
  ["headers", [7]],
  ["headers", [{ value: 1 }]],
  ["queries", 1],
  ["rows", -1],
  ["hosts", "5"],
  ["voids", 0.5],
  ["voids", 0],
  ["voids", 2],
  ["table", undefined],
  ["table", { ...TABLE, fingerprint: 33 }],
  ["table", { ...TABLE, fingerprint: 0 }],
  ["table", { ...TABLE, descriptor: 17 }],
  ["table", { ...TABLE, descriptor: 6 }],
  ["hostWildcards", 2 ** 32],
  ["hostSpreads", null],
  ["filters", {}],
  ["filters", [null]],
  ["filters", [{ kind: "voids", bits: 5, shards: 1 }]],
  ["filters", [{ kind: "rows", bits: 33, shards: 1 }]],
  ["filters", [{ kind: "rows", bits: 5, shards: 0 }]],
  ["filters", [{ kind: "rows", bits: 5, shards: 1e9 }]],
  ["source", 5],
  ["source", null],
];

/** The defect, and the file; readers must reject it (docs/packed.md, section 9). */
export const FAULTY_PACKED: readonly (readonly [string, Uint8Array])[] = [
  ...MEMBERS.map(
    ([name, value]) =>
      [
        `${name} is ${JSON.stringify(value)}`,
        rewritten(({ header }) => ({ header: { ...header, [name]: value } })),
      ] as const,
  ),
  [
    "a filter occurs twice",
    rewritten(({ header }) => {
      const filters = header["filters"] as unknown[];
      return { header: { ...header, filters: [...filters, filters[0]] } };
    }),
  ],
  ["the table has no descriptors", rewritten(() => ({ descriptors: [] }))],
  [
    "a descriptor has an unknown flag",
    rewritten(({ descriptors }) => ({
      descriptors: descriptors.map((one) => ({ ...one, flags: one.flags | 32 })),
    })),
  ],
  [
    "the directory has a shard outside of all filters",
    rewritten(({ shards }) => ({ shards: [...shards, shards[0]] })),
  ],
  [
    "a shard does not begin at the end of the previous one",
    rewritten(({ shards }) => ({
      shards: shards.map((shard, i) => (i === 1 ? { ...shard, words: shard.words + 1 } : shard)),
    })),
  ],
];
