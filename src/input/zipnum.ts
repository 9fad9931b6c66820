import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { MementoMapError, quote } from "../errors.ts";
import type { DamageLog } from "../bytes/damage.ts";
import { addDamage } from "../bytes/damage.ts";
import type { DetectedFormat } from "./detect.ts";
import { detectFormat } from "./detect.ts";
import { trustedFormat } from "./key-check.ts";
import type { ZipNumBlock } from "./zipnum-index.ts";
import { parseLocations, ZipNumIndexReader } from "./zipnum-index.ts";
import { decompressed } from "../files/decompress.ts";
import { fileChunks } from "./read-file.ts";
import type { FileSlice, Member, Part } from "./tasks.ts";
import { ioError } from "../files/io-error.ts";
import { lineBatches } from "../bytes/lines.ts";
import { trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";

/** Stored bytes of the blocks that are read in one go. */
const TASK_BYTES = 1 << 20;
/** Blocks whose keys are compared with their URIs, spread evenly over each file. */
const SAMPLE_BLOCKS = 8;

/** Where a part of a cluster is: a file, or a stretch of one. */
export interface PartLocation {
  readonly path: string;
  /** What to call it in errors. */
  readonly source: string;
  readonly offset: number;
  readonly size: number;
}

/** Finds the file of a part by the name that the index has for it. */
export type LocatePart = (name: string | undefined) => Promise<PartLocation>;

interface ClusterPart {
  readonly location: PartLocation;
  readonly members: Member[];
}

/**
 * Opens a ZipNum cluster by its index (`.idx`): gzip members of some thousand lines, in one file or
 * several, which can be read in parallel.
 *
 * Every block must begin where the one before it ends, and the last must end with its file, which
 * may be cut off where damage is passed over. Holds the index.
 *
 * @throws MM_BAD_INPUT where index and data disagree, MM_BAD_LINE, MM_IO
 */
export async function openZipNum(
  index: { readonly path: string; readonly source: string; readonly slice?: FileSlice | undefined },
  locate: LocatePart,
  options: OpenOptions,
): Promise<IndexInput[]> {
  const parts = await readIndex(index, locate);
  const inputs: IndexInput[] = [];
  for (const part of parts.values()) {
    checkMembers(part, index.source, options.damage);
    const format = await partFormat(part, options);
    const { source, size } = part.location;
    inputs.push({ source, size, isInflated: true, format, parts: () => memberParts(part, format) });
  }
  return inputs;
}

async function readIndex(
  index: { readonly path: string; readonly source: string; readonly slice?: FileSlice | undefined },
  locate: LocatePart,
): Promise<Map<string, ClusterPart>> {
  const reader = new ZipNumIndexReader(index.source);
  const decoder = new TextDecoder();
  const parts = new Map<string, ClusterPart>();
  const chunks = decompressed(fileChunks(index), { source: index.source });
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, index)) {
    for (let i = 0; i < count; i++) {
      const block = reader.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
      if (block !== undefined) await addBlock(block, reader.defaultPart, parts, locate);
    }
  }
  return parts;
}

async function addBlock(
  block: ZipNumBlock,
  defaultPart: string | undefined,
  parts: Map<string, ClusterPart>,
  locate: LocatePart,
): Promise<void> {
  const name = block.part ?? defaultPart;
  let part = parts.get(name ?? "");
  if (part === undefined) {
    part = { location: await locate(name), members: [] };
    parts.set(name ?? "", part);
  }
  const { firstKey, offset, length } = block;
  part.members.push({ firstKey, offset: offset + part.location.offset, length });
}

function checkMembers(
  { location, members }: ClusterPart,
  index: string,
  damage: DamageLog | undefined,
): void {
  members.sort((a, b) => a.offset - b.offset);
  let expected = location.offset;
  for (const { offset, length, firstKey } of members) {
    if (offset !== expected) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `the index does not fit the data: the block of ${quote(firstKey)} begins at ${offset} ` +
          `of ${location.source}, and the one before it ends at ${expected}; make the index again`,
        { position: { source: index } },
      );
    }
    expected = offset + length;
  }
  const end = location.offset + location.size;
  if (expected === end) return;
  if (damage !== undefined && expected > end) {
    dropBehind(end, { location, members }, damage);
    return;
  }
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `the index does not fit the data: it describes ${expected - location.offset} bytes of ` +
      `${location.source}, which has ${location.size}; make the index again`,
    { position: { source: index } },
  );
}

/** Passes over the blocks of a file that was cut off. */
function dropBehind(end: number, { location, members }: ClusterPart, damage: DamageLog): void {
  const lost = members.findIndex(({ offset, length }) => offset + length > end);
  const { offset } = members[lost];
  members.splice(lost);
  addDamage(damage, {
    source: location.source,
    offset,
    bytes: end - offset,
    message: `the file ends within the block at byte ${offset}, and the index has blocks behind it`,
  });
}

async function partFormat(
  { location, members }: ClusterPart,
  options: OpenOptions,
): Promise<DetectedFormat> {
  const step = Math.max(1, Math.floor(members.length / SAMPLE_BLOCKS));
  const sampled = members.filter((_, i) => i % step === 0);
  const lines: Buffer[] = [];
  const file = await open(location.path, "r").catch((error: unknown) => {
    throw ioError(error, location.path);
  });
  try {
    for (const { offset, length } of sampled) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      lines.push(startOf(buffer.subarray(0, bytesRead)));
    }
  } finally {
    await file.close();
  }
  const format = options.format === "zipnum" ? "auto" : options.format;
  const head = lines.find((block) => block.length > 0) ?? new Uint8Array(0);
  const detected = detectFormat(head, format, location.source);
  return trustedFormat(detected, Buffer.concat(lines), trustIn(location.source, options));
}

/** The first whole lines of a member. Whoever reads all of it says what is wrong with it. */
function startOf(member: Buffer): Buffer {
  try {
    const lines = gunzipSync(member, { maxOutputLength: 1 << 24 });
    return lines.subarray(0, lines.lastIndexOf(0x0a) + 1);
  } catch {
    return Buffer.alloc(0);
  }
}

async function* memberParts(
  { location, members }: ClusterPart,
  format: DetectedFormat,
): AsyncGenerator<Part, void, undefined> {
  const { path, source } = location;
  let group: Member[] = [];
  let bytes = 0;
  for (const member of members) {
    group.push(member);
    bytes += member.length;
    if (bytes < TASK_BYTES) continue;
    yield { source, bytes, task: { kind: "members", path, source, format, members: group } };
    group = [];
    bytes = 0;
  }
  if (group.length > 0) {
    yield { source, bytes, task: { kind: "members", path, source, format, members: group } };
  }
}

/**
 * Finds parts beside the index: by the `.loc` file that is named like the index or is the only one
 * in its folder, else by their name, with `.cdx.gz`, `.cdxj.gz` or `.gz` added if need be; a file that
 * is elsewhere by its name may have been moved beside the index. Where the index names no part, it is the file that is named like the index.
 */
export async function locateBeside(indexPath: string): Promise<LocatePart> {
  const folder = dirname(indexPath);
  const stem = basename(indexPath).replace(/\.idx(?:\.gz|\.zst)?$/, "");
  const locations = await readLocations(folder, stem);
  return async (name) => {
    const listed = (locations.get(name ?? "") ?? []).map((path) => resolve(folder, path));
    const part = name ?? stem;
    const named = ["", ".cdx.gz", ".cdxj.gz", ".gz"].map((end) => join(folder, `${part}${end}`));
    const beside = [...listed, ...named].map((path) => join(folder, basename(path)));
    for (const path of [...listed, ...named, ...beside]) {
      const stats = await stat(path).catch(() => undefined);
      if (stats?.isFile() === true) return { path, source: path, offset: 0, size: stats.size };
    }
    throw new MementoMapError(
      "MM_IO",
      `there is no file for its part ${quote(part)}; looked for ${[...listed, ...named.slice(0, 2)].join(", ")}`,
      { position: { source: indexPath } },
    );
  };
}

async function readLocations(folder: string, stem: string): Promise<Map<string, string[]>> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw ioError(error, folder);
  });
  const lists = names.filter((name) => name.endsWith(".loc"));
  const own = lists.find((name) => name === `${stem}.loc`);
  const list = own ?? (lists.length === 1 ? lists[0] : undefined);
  if (list === undefined) return new Map();
  const path = join(folder, list);
  return parseLocations(
    await readFile(path, "utf8").catch((error: unknown) => {
      throw ioError(error, path);
    }),
  );
}
