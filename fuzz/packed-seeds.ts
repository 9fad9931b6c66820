import { joinBytes } from "../src/bytes/bytes.ts";
import type { Random } from "../src/bytes/random.ts";
import { flatLayout, tableLayout } from "../src/pack/layout.ts";
import { scanMap } from "../src/pack/scan-map.ts";
import { packNames } from "../src/pack/write-packed.ts";
import { headerText, UkvsHeaders } from "../src/ukvs/header.ts";
import { crc32, formatHead, type PackedHeader, parseHead } from "../src/packed/packed-file.ts";
import { bytesOf } from "./check.ts";

const PAGES = ["com,a)/", "com,a)/b", "com,a)/c/d", "com,b)/", "dns:a.com", "org,c)/x"];
const FOLDERS = ["com,*)/x", "com,a)/*", "com,a)/b/*", "com,d)/", "com,d,*", "com,e)/f/g/h/*"];
const QUERIES = ["com,a)/", "com,a)/?q=1", "com,a)/b?*", "com,a)/b?q=1", "org,*)/x?*"];

const seeds: readonly Uint8Array[] = await Promise.all([
  packed(PAGES, { isFlat: false, queries: false, voids: ["com,b)/y"] }),
  packed(FOLDERS, { isFlat: false, queries: false, voids: [] }),
  packed(QUERIES, { isFlat: false, queries: true, voids: [] }),
  packed(PAGES, { isFlat: true, queries: false, voids: ["com,b)/y"] }),
  packed(FOLDERS, { isFlat: true, queries: false, voids: [] }),
  packed(QUERIES, { isFlat: true, queries: true, voids: [] }),
]);

/** Packed maps with all that there is in one, small. */
export function packedSeeds(): readonly Uint8Array[] {
  return seeds;
}

interface Contents {
  readonly isFlat: boolean;
  readonly queries: boolean;
  readonly voids: readonly string[];
}

async function packed(held: readonly string[], contents: Contents): Promise<Uint8Array> {
  const { isFlat, queries, voids } = contents;
  const keys = [...held, ...voids].toSorted((a, b) => (a < b ? -1 : 1));
  const rows = keys.map((key) => `${key} ${voids.includes(key) ? 0 : 5}\n`);
  const headers = new UkvsHeaders([
    { name: "id", value: { uri: "https://archive.example/" } },
    { name: "fields", value: { keys: ["surt"], values: ["frequency"], queries } },
  ]);
  const bytes = joinBytes([headerText(headers), bytesOf(rows.join(""))]);
  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Promise.resolve(bytes);
  }
  const options = { source: "seed", bytes: bytes.length, memoryBytes: 2 ** 20, newSpill: noSpill };
  const map = await scanMap(read, options, []);
  const layout = isFlat ? flatLayout(map.profiles, 43) : tableLayout(map.profiles, 43, 4);
  return packNames(map, layout, { headers: headers.list, sourceRows: keys.length });
}

function noSpill(): never {
  throw new Error("seeds fit in memory");
}

/** A copy whose checksums fit what is there, as far as it can be read. */
export function withChecksums(file: Uint8Array): Uint8Array {
  const copy = file.slice();
  if (copy.length < 32) return copy;
  const view = new DataView(copy.buffer);
  const [descriptors, shards, dataStart] = [16, 20, 28].map((at) => view.getUint32(at, true));
  if (dataStart > copy.length || dataStart < 32) return copy;
  const directory = 32 + 4 * descriptors;
  const count = Math.min(shards, Math.floor((dataStart - directory) / 16));
  for (let i = 0; i < count; i++) {
    const at = directory + 16 * i;
    const start = dataStart + 4 * view.getUint32(at, true);
    const end = i + 1 < count ? dataStart + 4 * view.getUint32(at + 16, true) : copy.length;
    if (start <= end && end <= copy.length) view.setUint32(at + 12, crc32(copy, start, end), true);
  }
  view.setUint32(24, crc32(copy, 32, dataStart), true);
  return copy;
}

const ODD: readonly unknown[] = [
  null,
  true,
  "x",
  "rows",
  "voids",
  "hosts",
  -1,
  0,
  1,
  5,
  6,
  0.5,
  31,
  33,
  2 ** 31,
  2 ** 32,
  1e300,
  [],
  {},
  [null],
  { name: "fields", value: 7 },
];

/** The file with one or two members of its header replaced, or removed, and perhaps a descriptor. */
export function oddHeader(file: Uint8Array, random: Random): Uint8Array {
  const head = parseHead(file, file.length, "seed");
  const header = JSON.parse(JSON.stringify(head.header)) as PackedHeader;
  for (let i = 0; i <= random.below(2); i++) replaceOne(header, random);
  const descriptors = head.descriptors.map((one) =>
    random.chance(0.1) ? { ...one, flags: random.below(256), width: random.below(256) } : one,
  );
  if (random.chance(0.1)) descriptors.pop();
  const start = formatHead(header, descriptors, head.shards, head.voids);
  return Uint8Array.of(...start, ...file.subarray(head.dataStart));
}

/** Replaces a member of a value at any depth. */
function replaceOne(value: object, random: Random): void {
  const members = Object.keys(value);
  if (members.length === 0) return;
  const name = random.pick(members);
  const inner: unknown = Reflect.get(value, name);
  if (typeof inner === "object" && inner !== null && random.chance(0.8)) replaceOne(inner, random);
  else if (random.chance(0.1)) Reflect.deleteProperty(value, name);
  else Reflect.set(value, name, structuredClone(random.pick(ODD)));
}
