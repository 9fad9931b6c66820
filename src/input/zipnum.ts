import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { MementoMapError, type Position, badInput, ioError, quote } from "../errors.ts";
import { addDamage, type DamageLog } from "../bytes/damage.ts";
import { detectFormat } from "./detect.ts";
import type { DetectedFormat } from "./formats.ts";
import { decompressed } from "../files/decompress.ts";
import { fileChunks } from "./file-chunks.ts";
import { decompressedHead } from "./file-inputs.ts";
import type { FileTask, IndexInput, OpenOptions, Part } from "./index-input.ts";
import { lineBatches } from "../bytes/lines.ts";
import { ZIPNUM_JSON_LINE, ZIPNUM_META, ZIPNUM_TAB_LINE } from "./line-kind.ts";

/** Stored bytes of the blocks in one task. */
const TASK_BYTES = 1 << 20;

/** The location of a part of a cluster: a file, or a range of one. */
export interface PartLocation {
  readonly path: string;
  /** Name for errors. */
  readonly source: string;
  readonly offset: number;
  readonly size: number;
}

/** Finds the file of a part by its name in the index. */
type LocatePart = (name: string | undefined) => Promise<PartLocation>;

interface ClusterPart {
  readonly location: PartLocation;
  readonly blocks: ZipNumBlock[];
}

/**
 * Opens a ZipNum cluster by its index (`.idx`): gzip members of a few thousand lines, in one or more
 * files, which can be read in parallel.
 *
 * Every block must begin where the previous one ends, and the last must end with its file, which may
 * be truncated if damage is skipped. Holds the index.
 *
 * @throws MM_BAD_INPUT when index and data do not match, MM_BAD_LINE, MM_IO
 */
export async function openZipNum(
  index: Pick<FileTask, "path" | "source" | "slice">,
  locate: LocatePart,
  options: OpenOptions,
): Promise<IndexInput[]> {
  const parts = await readIndex(index, locate);
  const inputs: IndexInput[] = [];
  for (const part of parts.values()) {
    checkBlocks(part, index.source, options.damage);
    const format = await partFormat(part, options);
    const { source, size } = part.location;
    inputs.push({ source, size, isInflated: true, format, parts: () => blockParts(part, format) });
  }
  return inputs;
}

/**
 * The files of a ZipNum cluster, from its index. Reads and holds the index.
 *
 * @throws MM_BAD_LINE when it is not a ZipNum index; MM_IO
 */
export async function zipNumParts(path: string): Promise<string[]> {
  const parts = await readIndex({ path, source: path }, await locateBeside(path));
  return Array.from(parts.values(), ({ location }) => location.path);
}

async function readIndex(
  index: Pick<FileTask, "path" | "source" | "slice">,
  locate: LocatePart,
): Promise<Map<string, ClusterPart>> {
  const decoder = new TextDecoder();
  const parts = new Map<string, ClusterPart>();
  let defaultPart: string | undefined;
  const chunks = decompressed(fileChunks(index), { source: index.source });
  for await (const { bytes, starts, ends, count, firstLine } of lineBatches(chunks, index)) {
    for (let i = 0; i < count; i++) {
      const text = decoder.decode(bytes.subarray(starts[i], ends[i]));
      const read = readIndexLine(text, { source: index.source, line: firstLine + i });
      if (typeof read === "string") defaultPart = read;
      if (typeof read !== "object") continue;
      const name = read.part ?? defaultPart;
      const part = parts.get(name ?? "") ?? { location: await locate(name), blocks: [] };
      parts.set(name ?? "", part);
      part.blocks.push({ ...read, offset: read.offset + part.location.offset });
    }
  }
  return parts;
}

function checkBlocks(
  { location, blocks }: ClusterPart,
  index: string,
  damage: DamageLog | undefined,
): void {
  blocks.sort((a, b) => a.offset - b.offset);
  let expected = location.offset;
  for (const { offset, length, firstKey } of blocks) {
    if (offset !== expected) {
      throw badInput(
        index,
        `the index does not match the data: the block of ${quote(firstKey)} begins at ${offset} ` +
          `of ${location.source}, but the previous one ends at ${expected}; rebuild the index`,
      );
    }
    expected = offset + length;
  }
  const end = location.offset + location.size;
  if (damage !== undefined && expected > end) {
    // The file is truncated.
    const lost = blocks.findIndex(({ offset, length }) => offset + length > end);
    const [{ offset }] = blocks.splice(lost);
    addDamage(damage, {
      source: location.source,
      offset,
      bytes: end - offset,
      message: `the file is truncated in the block at byte ${offset}; the index has more`,
    });
  } else if (expected !== end) {
    throw badInput(
      index,
      `the index does not match the data: it describes ${expected - location.offset} bytes of ` +
        `${location.source}, which has ${location.size}; rebuild the index`,
    );
  }
}

/** The format of the first readable block. */
async function partFormat(
  { location }: ClusterPart,
  { format, damage }: OpenOptions,
): Promise<DetectedFormat> {
  const { path, source, offset, size } = location;
  const slice = { offset, length: size, isGzip: true };
  const head = await decompressedHead(path, { source, slice, damage });
  return detectFormat(head, format === "zipnum" ? "auto" : format, source);
}

function* blockParts(
  { location: { path, source }, blocks }: ClusterPart,
  format: DetectedFormat,
): Generator<Part, void, undefined> {
  for (let next = 0; next < blocks.length;) {
    const { offset } = blocks[next];
    let size = 0;
    for (; next < blocks.length && size < TASK_BYTES; next++) size += blocks[next].length;
    const slice = { offset, length: size, isGzip: true };
    yield { source, bytes: size, task: { kind: "file", path, source, slice, size, format } };
  }
}

/**
 * Finds parts next to the index: by the `.loc` file with the name of the index, or the only one in
 * the folder; else by name, with `.cdx.gz`, `.cdxj.gz` or `.gz` appended if needed. If the index names
 * no part, it is the file with the name of the index.
 *
 * For security, only files below the folder of the index are read: of other paths in the index or the
 * `.loc` file, only the last segment is used.
 */
export async function locateBeside(indexPath: string): Promise<LocatePart> {
  const folder = dirname(indexPath);
  const stem = basename(indexPath).replace(/\.idx(?:\.gz|\.zst)?$/, "");
  const locations = await readLocations(folder, stem);
  return async (name) => {
    const part = name ?? stem;
    const listed = (locations.get(name ?? "") ?? []).map((path) => {
      const found = resolve(folder, path);
      return found.startsWith(resolve(folder) + sep) ? found : join(folder, basename(path));
    });
    const named = ["", ".cdx.gz", ".cdxj.gz", ".gz"].map((end) =>
      join(folder, basename(`${part}${end}`)),
    );
    const beside = listed.map((path) => join(folder, basename(path)));
    for (const path of [...listed, ...beside, ...named]) {
      const stats = await stat(path).catch(() => undefined);
      if (stats?.isFile() === true) return { path, source: path, offset: 0, size: stats.size };
    }
    throw new MementoMapError(
      "MM_IO",
      `no file found for part ${quote(part)}; tried ${[...listed, ...named.slice(0, 2)].join(", ")}`,
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

/** A gzip member of a ZipNum cluster, as its index describes it. */
interface ZipNumBlock {
  /** Key and datetime of its first line. */
  readonly firstKey: string;
  /** The name of its file; undefined if the index has only one. */
  readonly part: string | undefined;
  readonly offset: number;
  readonly length: number;
}

/**
 * Reads a line of a ZipNum index: a block; or, from a `!meta` line, the default file of blocks that
 * name none; undefined for other headers and blank lines.
 *
 * @throws MM_BAD_LINE for any other line.
 */
export function readIndexLine(text: string, position: Position): ZipNumBlock | string | undefined {
  const bad = (cause?: unknown): MementoMapError =>
    new MementoMapError("MM_BAD_LINE", `not a line of a ZipNum index: ${quote(text)}`, {
      position,
      cause,
    });
  const parsed = (json: string): Record<string, unknown> => {
    try {
      return JSON.parse(json) as Record<string, unknown>; // the patterns have braces around it
    } catch (cause) {
      throw bad(cause);
    }
  };
  if (text.trim() === "") return undefined;
  const [, meta] = ZIPNUM_META.exec(text) ?? [];
  if (meta !== undefined) return textOrNone(parsed(meta)["filename"]);
  const [, tabbedKey, tabbedPart, tabbedOffset, tabbedLength] = ZIPNUM_TAB_LINE.exec(text) ?? [];
  if (tabbedKey === undefined && text.startsWith("!")) return undefined;
  const [, jsonKey, json] = tabbedKey === undefined ? (ZIPNUM_JSON_LINE.exec(text) ?? []) : [];
  const firstKey = tabbedKey ?? jsonKey;
  if (firstKey === undefined) throw bad();
  const { filename, offset, length } =
    json === undefined
      ? { filename: tabbedPart, offset: Number(tabbedOffset), length: Number(tabbedLength) }
      : parsed(json);
  if (!isCount(offset) || !isCount(length) || !isCount(offset + length)) throw bad();
  return { firstKey, part: textOrNone(filename), offset, length };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Reads a `.loc` file: lines of `part TAB path [TAB path…]`. */
export function parseLocations(text: string): Map<string, string[]> {
  const locations = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [part, ...paths] = line.split("\t");
    if (part !== undefined && paths.length > 0) locations.set(part, paths);
  }
  return locations;
}
