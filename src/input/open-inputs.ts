import { fstat, type Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { badInput, MementoMapError, ioError, quote } from "../errors.ts";
import type { StreamPart } from "../bytes/damage.ts";
import { byteString, recognizeCompression } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { detectFormat } from "./detect.ts";
import { fileChunks } from "./file-chunks.ts";
import { looksLikeZipNumIndex } from "./line-kind.ts";
import {
  compressedInput,
  decompressedHead,
  openCompressed,
  openCounted,
  openPlain,
  openStream,
  streamInput,
} from "./file-inputs.ts";
import { hasLines, holdsRecords } from "./formats.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { HEAD_BYTES } from "./stream-lines.ts";

/**
 * Opens inputs and detects their formats by content: files, folders, and `-` for standard input.
 *
 * Reads the beginning of each. For folders, see {@link openFolder}. Inputs that may count captures
 * twice are rejected: a duplicate file, or files of records along with an index.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_USAGE
 */
export async function openInputs(
  paths: readonly string[],
  options: OpenOptions,
): Promise<IndexInput[]> {
  if (paths.indexOf("-") !== paths.lastIndexOf("-")) {
    throw new MementoMapError("MM_USAGE", "standard input can be read only once");
  }
  const opened: OpenedPath[] = [];
  for (const path of paths) opened.push({ path, inputs: await openPath(path, options) });
  await rejectDuplicates(opened);
  const inputs = opened.flatMap((one) => one.inputs);
  rejectCompressedCopies(inputs);
  rejectRecordsAndIndex(inputs);
  return joinMemgatorLogs(inputs, options);
}

async function openPath(path: string, options: OpenOptions): Promise<IndexInput[]> {
  if (path === "-") return [await openStream(path, options)];
  const stats = await statsOf(path);
  if (stats.isDirectory()) return openFolder(path, options);
  if (!stats.isFile()) return [await openStream(path, options)];
  return openFile(path, stats.size, options);
}

/** Readers of rarer formats are loaded on demand: loading the ZIP reader is slow. */
async function openFile(path: string, size: number, options: OpenOptions): Promise<IndexInput[]> {
  const stored = await peek(fileChunks({ path, source: path }), HEAD_BYTES);
  await stored.close();
  const { head } = stored;
  const magic = byteString(head, 0, 4);
  const { format } = options;
  const isAuto = format === "auto";
  if (format === "wacz" || (isAuto && magic === "PK\u0003\u0004")) {
    const { openWacz } = await import("./wacz.ts");
    return openWacz(path, options);
  }
  if (format === "parquet" || (isAuto && magic === "PAR1")) {
    const { openParquetInput } = await import("./parquet.ts");
    return [await openParquetInput(path, size)];
  }
  const isCompressed = recognizeCompression(head) !== undefined;
  const start = isCompressed ? await decompressedHead(path, { damage: options.damage }) : head;
  if (format === "zipnum" || (isAuto && startsZipNumIndex(start))) {
    return openCluster(path, options);
  }
  const file = { path, source: path, size };
  if (isCompressed) return [await openCompressed(file, options)];
  const detected = detectFormat(head, format, path);
  if (!hasLines(detected)) return [compressedInput(file, detected, options)];
  return [openPlain(path, size, detected)];
}

async function openCluster(path: string, options: OpenOptions): Promise<IndexInput[]> {
  const { locateBeside, openZipNum } = await import("./zipnum.ts");
  return openZipNum({ path, source: path }, await locateBeside(path), options);
}

function startsZipNumIndex(head: Uint8Array): boolean {
  const [first = ""] = new TextDecoder("latin1").decode(head.subarray(0, 1 << 16)).split("\n", 1);
  return looksLikeZipNumIndex(first.replace(/\r$/, ""));
}

/** Files to look for in folders. Files of different kinds may hold the same captures. */
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

/**
 * Opens the inputs in a folder: its ZipNum clusters, or its other index files, and its WARC, ARC and
 * WACZ files. Subfolders are ignored, except for those of a pywb collection.
 *
 * @throws MM_BAD_INPUT for a folder without inputs, or with a cluster and another index; MM_IO
 */
async function openFolder(folder: string, options: OpenOptions): Promise<IndexInput[]> {
  const read = await folderToRead(folder);
  const files = await indexFiles(read);
  const clusters = files.filter(({ kind }) => kind === "cluster");
  const inputs: IndexInput[] = [];
  // The index of a cluster is recognized by its name.
  for (const { path } of clusters) inputs.push(...(await openCluster(path, options)));
  const parts = new Set(inputs.map((input) => basename(input.source)));
  const others = files.filter(({ path, kind }) => kind !== "cluster" && !parts.has(basename(path)));
  const [one, other] = (Object.keys(KINDS) as Kind[]).flatMap(
    (kind) => [...clusters, ...others].find((file) => file.kind === kind) ?? [],
  );
  if (other !== undefined) throw badInput(read, ambiguity(one.path, other.path));
  for (const { path, size } of others) inputs.push(...(await openFile(path, size, options)));
  return inputs;
}

/**
 * The folder to read files from: for a pywb collection, its `indexes` or else its `archive`; otherwise
 * the folder itself.
 */
export async function folderToRead(folder: string): Promise<string> {
  const names = await namesIn(folder);
  if (names.some((name) => kindOf(name) !== undefined)) return folder;
  for (const name of ["indexes", "archive"]) {
    const inner = join(folder, name);
    if (names.includes(name) && (await readdir(inner).catch(() => [])).some(kindOf)) return inner;
  }
  return folder;
}

/**
 * Rejects files of records along with other inputs, which may hold the same captures.
 *
 * @throws MM_USAGE
 */
function rejectRecordsAndIndex(inputs: readonly IndexInput[]): void {
  const records = inputs.find((input) => holdsRecords(input) && !isInWacz(input));
  const other = inputs.find((input) => !holdsRecords(input) || isInWacz(input));
  if (records === undefined || other === undefined) return;
  throw new MementoMapError("MM_USAGE", ambiguity(other.source, records.source));
}

function isInWacz({ source }: IndexInput): boolean {
  return source.includes(".wacz/");
}

function kindOf(name: string): Kind | undefined {
  return (Object.keys(KINDS) as Kind[]).find((known) => KINDS[known].test(name));
}

async function indexFiles(folder: string): Promise<readonly FoundFile[]> {
  const names = await namesIn(folder);
  const found: FoundFile[] = [];
  for (const name of names.sort(byCodeUnits)) {
    const kind = kindOf(name);
    if (kind === undefined) continue;
    const path = join(folder, name);
    const stats = await statsOf(path);
    if (stats.isDirectory()) continue;
    // A pipe or a device may never end, and has no size.
    if (!stats.isFile()) throw badInput(path, "not a regular file; pass its path to read it");
    found.push({ path, size: stats.size, kind });
  }
  if (found.length > 0) return found;
  throw badInput(
    folder,
    "no index in this folder: no .idx, .cdx, .cdxj, .parquet, .warc, .arc or .wacz file",
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    throw ioError(error, folder);
  });
}

async function statsOf(path: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
}

function ambiguity(one: string, other: string): string {
  return (
    `${quote(basename(one))} and ${quote(basename(other))} may hold the same captures, which would ` +
    "be counted twice; pass only one of them, or merge separate maps"
  );
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A path argument and its inputs. */
interface OpenedPath {
  readonly path: string;
  readonly inputs: readonly IndexInput[];
}

/**
 * Rejects a file that is passed twice, even under different names: its captures would count twice.
 *
 * @throws MM_USAGE
 */
async function rejectDuplicates(opened: readonly OpenedPath[]): Promise<void> {
  const known = new Map<string, { readonly name: string; readonly at: number }>();
  for (const [at, { path, inputs }] of opened.entries()) {
    for (const name of new Set([path, ...inputs.map(({ source }) => source)])) {
      const file = await fileIdentity(name);
      if (file === undefined) continue;
      const other = known.get(file);
      if (other !== undefined && (other.at !== at || other.name !== name)) {
        throw new MementoMapError(
          "MM_USAGE",
          other.name === name
            ? `duplicate input ${quote(name)}: its captures would be counted twice`
            : `${quote(other.name)} and ${quote(name)} are the same file, which would be counted twice; pass it once`,
        );
      }
      known.set(file, { name, at });
    }
  }
}

/**
 * Rejects an index or a file of records along with its compressed copy, as left by `gzip -k`: captures
 * would count twice.
 *
 * @throws MM_USAGE
 */
function rejectCompressedCopies(inputs: readonly IndexInput[]): void {
  const known = new Map<string, string>();
  for (const { source } of inputs) {
    if (!KINDS.index.test(source) && !KINDS.records.test(source)) continue;
    const plain = resolve(source).replace(/\.(?:gz|zst)$/, "");
    const other = known.get(plain);
    if (other !== undefined) {
      throw new MementoMapError(
        "MM_USAGE",
        `${quote(other)} and ${quote(source)} look like compressed and uncompressed copies of one file, which would be counted twice; pass one of them`,
      );
    }
    known.set(plain, source);
  }
}

/** Identifies a file independently of its name; undefined for anything but regular files. */
async function fileIdentity(path: string): Promise<string | undefined> {
  const options = { bigint: true } as const;
  const pending = path === "-" ? promisify(fstat)(0, options) : stat(path, options);
  const stats = await pending.catch(() => undefined);
  return stats?.isFile() === true && stats.ino !== 0n ? `${stats.dev}:${stats.ino}` : undefined;
}

/**
 * Joins all MemGator logs into one input, because the same URI may be requested in many of them, and
 * its mementos must not be added up. Other inputs are unchanged.
 */
function joinMemgatorLogs(inputs: readonly IndexInput[], options: OpenOptions): IndexInput[] {
  const logs = inputs.filter((input) => input.format.name === "memgator-log");
  const files = logs.filter((input) => input.source !== "stdin");
  if (logs.length < 2 || files.length < logs.length) return [...inputs];
  const [first] = files;
  const chunks = concatenated(
    files.map((input) => input.source),
    { ...options, damage: undefined },
  );
  const source = `${first.source} and ${files.length - 1} more`;
  const size = files.reduce((sum, input) => sum + (input.size ?? 0), 0);
  const joined = { ...streamInput(source, first.format, chunks, options), size };
  return [joined, ...inputs.filter((input) => !logs.includes(input))];
}

async function* concatenated(
  paths: readonly string[],
  options: OpenOptions,
): AsyncGenerator<StreamPart, void, undefined> {
  for (const path of paths) {
    yield* (await openCounted(path, options)).chunks;
    yield Uint8Array.of(0x0a); // the last line of a log may not be terminated
  }
}
