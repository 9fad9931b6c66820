import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { MementoMapError } from "../errors.ts";
import { detectFormat } from "./detect.ts";
import { looksLikeZipNumIndex } from "./zipnum-index.ts";
import { recognizeCompression } from "../bytes/bytes.ts";
import { ioError } from "../files/io-error.ts";
import { compressedInput, decompressedHead, openCompressed } from "./compressed-input.ts";
import { HEAD_BYTES } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { openFolder, refuseMixture } from "./open-folder.ts";
import { openPlain } from "./plain-input.ts";
import { joinMemgatorLogs } from "./memgator-logs.ts";
import { type GivenInputs, holdsRecords, indexedFiles, refuseSameFiles } from "./same-captures.ts";
import { openStream } from "./stream-input.ts";

/**
 * Makes out what inputs are, by content: files, folders, and `-` for standard input.
 *
 * Reads the beginning of each. What a folder stands for, see {@link openFolder}. Of files of records
 * and an index that names them only the index is taken; a file that is given twice is refused.
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
  const given: GivenInputs[] = [];
  for (const path of paths) given.push({ path, inputs: await openPath(path, options) });
  await refuseSameFiles(given);
  return joinMemgatorLogs(await withoutIndexed(given, options), options);
}

/** Leaves out files of records of which there is an index. */
async function withoutIndexed(
  given: readonly GivenInputs[],
  { indexed }: OpenOptions,
): Promise<IndexInput[]> {
  const inputs = given.flatMap((one) => one.inputs);
  const named = await indexedFiles(inputs);
  const isIndexed = (input: IndexInput): boolean =>
    holdsRecords(input) && named.has(basename(input.source));
  for (const one of given) {
    const left = one.inputs.filter((input) => !isIndexed(input));
    refuseMixture(one.path, left);
  }
  indexed?.push(...inputs.filter(isIndexed).map(({ source }) => source));
  return inputs.filter((input) => !isIndexed(input));
}

async function openPath(path: string, options: OpenOptions): Promise<IndexInput[]> {
  if (path === "-") return [await openStream(path, options)];
  const stats = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (stats.isDirectory()) {
    return openFolder(path, (file, size, isCluster) =>
      isCluster ? openCluster(file, options) : openFile(file, size, options),
    );
  }
  if (!stats.isFile()) return [await openStream(path, options)];
  return openFile(path, stats.size, options);
}

/** Readers of rarer formats are loaded when they are needed: a ZIP reader takes its time. */
async function openFile(path: string, size: number, options: OpenOptions): Promise<IndexInput[]> {
  const head = await readHead(path);
  const { format } = options;
  const isAuto = format === "auto";
  if (format === "wacz" || (isAuto && startsWith(head, "PK\u0003\u0004"))) {
    const { openWacz } = await import("./wacz.ts");
    return openWacz(path, options);
  }
  if (format === "parquet" || (isAuto && startsWith(head, "PAR1"))) {
    const { openParquetInput } = await import("./parquet.ts");
    return [await openParquetInput(path, size, options)];
  }
  const isCompressed = recognizeCompression(head) !== undefined;
  const start = isCompressed ? await decompressedHead(path, { damage: options.damage }) : head;
  if (format === "zipnum" || (isAuto && startsZipNumIndex(start))) {
    return openCluster(path, options);
  }
  const file = { path, source: path, size };
  if (isCompressed) return [await openCompressed(file, options)];
  const detected = detectFormat(head, format, path);
  if (detected.container !== undefined) return [compressedInput(file, detected, options)];
  return [await openPlain(path, head, size, options)];
}

async function openCluster(path: string, options: OpenOptions): Promise<IndexInput[]> {
  const { locateBeside, openZipNum } = await import("./zipnum.ts");
  return openZipNum({ path, source: path }, await locateBeside(path), options);
}

/** The first bytes of a file as they are stored. */
export async function readHead(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

function startsWith(head: Uint8Array, text: string): boolean {
  return Buffer.from(head.buffer, head.byteOffset, text.length).toString("latin1") === text;
}

function startsZipNumIndex(head: Uint8Array): boolean {
  const [first = ""] = new TextDecoder("latin1").decode(head.subarray(0, 1 << 16)).split("\n", 1);
  return looksLikeZipNumIndex(first.replace(/\r$/, ""));
}
