import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import { ioError } from "../io-error.ts";
import type { IndexInput } from "./index-input.ts";

/** What a folder is searched for. Files of different kinds tell of the same captures. */
const KINDS = {
  cluster: /\.idx(?:\.gz|\.zst)?$/,
  index: /\.(?:cdxj?|parquet)(?:\.gz|\.zst)?$/,
  records: /\.(?:w?arc(?:\.gz|\.zst)?|wacz)$/,
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
 * Opens what a folder holds: its ZipNum clusters, or its other index files, or its WARC, ARC and
 * WACZ files. Sub-folders are not looked into.
 *
 * @throws MM_BAD_INPUT where there is nothing to read, or more than one of these, MM_IO
 */
export async function openFolder(folder: string, openFile: OpenFile): Promise<IndexInput[]> {
  const files = await indexFiles(folder);
  const inputs: IndexInput[] = [];
  for (const { path, size, kind } of files) {
    if (kind === "cluster") inputs.push(...(await openFile(path, size, true)));
  }
  const parts = new Set(inputs.map((input) => basename(input.source)));
  const others = files.filter(({ path, kind }) => kind !== "cluster" && !parts.has(basename(path)));
  const kinds = new Map(
    [...files.filter(({ kind }) => kind === "cluster"), ...others].map((file) => [
      file.kind,
      file.path,
    ]),
  );
  if (kinds.size > 1) throw ambiguous(folder, [...kinds.values()]);
  for (const { path, size } of others) inputs.push(...(await openFile(path, size, false)));
  return inputs;
}

async function indexFiles(folder: string): Promise<readonly FoundFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw ioError(error, folder);
  });
  const found: FoundFile[] = [];
  for (const name of names.sort(byCodeUnits)) {
    const kind = (Object.keys(KINDS) as Kind[]).find((known) => KINDS[known].test(name));
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

function ambiguous(folder: string, examples: readonly string[]): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `${examples.map((path) => quote(basename(path))).join(" and ")} may tell of the same captures, ` +
      "and would count twice; name the files that are to be read",
    { position: { source: folder } },
  );
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
