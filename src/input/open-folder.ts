import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { MementoMapError, quote } from "../errors.ts";
import { ioError } from "../files/io-error.ts";
import type { IndexInput } from "./index-input.ts";
import { holdsRecords } from "./same-captures.ts";

/** What a folder is searched for. Files of different kinds tell of the same captures. */
const KINDS = {
  cluster: /\.idx(?:\.gz|\.zst)?$/,
  index: /\.(?:cdxj?|parquet)(?:\.gz|\.zst)?$/,
  records: /\.w?arc(?:\.gz|\.zst)?$/,
  wacz: /\.wacz$/,
} as const;
type Kind = keyof typeof KINDS;

interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly kind: Kind;
}

/** Opens a file of a folder; the index of a ZipNum cluster is known by its name. */
export type OpenFile = (path: string, size: number, isCluster: boolean) => Promise<IndexInput[]>;

/**
 * Opens what a folder holds: its ZipNum clusters, or its other index files, and its WARC, ARC and
 * WACZ files. Sub-folders are not looked into, but for those of a collection of pywb.
 *
 * @throws MM_BAD_INPUT where there is nothing to read, or a cluster and another index, MM_IO
 */
export async function openFolder(folder: string, openFile: OpenFile): Promise<IndexInput[]> {
  const read = await folderToRead(folder);
  const files = await indexFiles(read);
  const inputs: IndexInput[] = [];
  for (const { path, size, kind } of files) {
    if (kind === "cluster") inputs.push(...(await openFile(path, size, true)));
  }
  const parts = new Set(inputs.map((input) => basename(input.source)));
  const others = files.filter(({ path, kind }) => kind !== "cluster" && !parts.has(basename(path)));
  const of = (...kinds: Kind[]): string | undefined =>
    [...files.filter(({ kind }) => kind === "cluster"), ...others].find(({ kind }) =>
      kinds.includes(kind),
    )?.path;
  const cluster = of("cluster");
  const other = cluster === undefined ? of("wacz") : of("index", "wacz");
  const first = cluster ?? of("index");
  if (first !== undefined && other !== undefined) throw ambiguous(read, first, other);
  for (const { path, size } of others) inputs.push(...(await openFile(path, size, false)));
  return inputs;
}

/**
 * The folder whose files a folder stands for: of a collection of pywb, with its `indexes` and
 * `archive`, the one with the indexes; else itself.
 */
export async function folderToRead(folder: string): Promise<string> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw ioError(error, folder);
  });
  if (names.some((name) => kindOf(name) !== undefined)) return folder;
  for (const name of ["indexes", "archive"]) {
    const inner = join(folder, name);
    if (names.includes(name) && (await readdir(inner).catch(() => [])).some(kindOf)) return inner;
  }
  return folder;
}

/**
 * Refuses files of records beside an index that names none of them: they may tell of the same
 * captures.
 *
 * @throws MM_BAD_INPUT
 */
export function refuseMixture(folder: string, inputs: readonly IndexInput[]): void {
  const records = inputs.find(holdsRecords);
  const index = inputs.find((input) => !holdsRecords(input) && !input.source.includes(".wacz"));
  if (records === undefined || index === undefined) return;
  throw ambiguous(folder, index.source, records.source);
}

function kindOf(name: string): Kind | undefined {
  return (Object.keys(KINDS) as Kind[]).find((known) => KINDS[known].test(name));
}

async function indexFiles(folder: string): Promise<readonly FoundFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw ioError(error, folder);
  });
  const found: FoundFile[] = [];
  for (const name of names.sort(byCodeUnits)) {
    const kind = kindOf(name);
    if (kind === undefined) continue;
    const path = join(folder, name);
    const stats = await stat(path).catch((error: unknown) => {
      throw ioError(error, path);
    });
    if (stats.isDirectory()) continue;
    if (!stats.isFile()) throw notAFile(path);
    found.push({ path, size: stats.size, kind });
  }
  if (found.length > 0) return found;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "this folder holds no index: no .idx, .cdx, .cdxj, .parquet, .warc, .arc or .wacz file",
    { position: { source: folder } },
  );
}

/** A pipe or a device may never end, and has no size. */
function notAFile(path: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", "is no file; give it by name if it is to be read", {
    position: { source: path },
  });
}

function ambiguous(folder: string, one: string, other: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `${quote(basename(one))} and ${quote(basename(other))} may tell of the same captures, ` +
      "and would count twice; name the files that are to be read",
    { position: { source: folder } },
  );
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
