import { fstatSync, type Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { sniff } from "../ukvs/sniff.ts";
import { ioError, isMementoMapError, MementoMapError, systemCode } from "../errors.ts";
import { missingFolder, refuseFilledFolder } from "../files/output-file.ts";
import { isLearnt, isPacked, isRun, looksLikeHtml } from "../bytes/bytes.ts";
import { guessCdxColumns } from "../input/cdx.ts";
import {
  ACCESS_LOG_LINE,
  beginsWithLookup,
  CDXJ_LINE,
  foreignKind,
  MEMGATOR_LINE,
} from "../input/line-kind.ts";
import { zipNumParts } from "../input/zipnum.ts";
import { mapHeadOf } from "../ukvs/head.ts";
import { rowLayout } from "../ukvs/row.ts";
import { decompressedHead, wholeLinesOf } from "../input/file-inputs.ts";

/** What a file is, by its first bytes; in words, for messages. */
const KIND_NAMES = {
  empty: "an empty file",
  map: "a map",
  packed: "a packed map",
  run: "a run of keys",
  learnt: "what an aggregator learnt",
  page: "an HTML page",
  index: "an index",
  archive: "an archive file",
  log: "a log",
  answers: "answers to lookups",
  list: "a list of URIs",
  json: "JSON",
  text: "a text",
  binary: "binary data",
};
type FileKind = keyof typeof KIND_NAMES;

/** The first bytes of WARC, ARC and Parquet files. ZIP has control characters, as other binary data. */
const ARCHIVE = /^(?:WARC\/\d|filedesc:\/\/|PAR1)/;
const CDX_LINE = /^ ?CDX(?: [A-Za-z])+\s*$|^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/;

/**
 * Tells by its first bytes what a file is. Decompresses it first, if it is compressed.
 *
 * @throws MM_IO
 */
async function fileKind(path: string): Promise<FileKind> {
  try {
    return kindOf(await decompressedHead(path), path);
  } catch (error) {
    if (isMementoMapError(error) && error.code !== "MM_IO") return "binary";
    throw error;
  }
}

function kindOf(head: Uint8Array, path: string): FileKind {
  if (head.length === 0) return "empty";
  if (isPacked(head)) return "packed";
  if (isRun(head)) return "run";
  if (isLearnt(head)) return "learnt";
  const text = new TextDecoder().decode(head);
  if (ARCHIVE.test(text)) return "archive";
  if (looksLikeHtml(text)) return "page";
  const [line = ""] = text.split(/\r?\n/, 1);
  if (foreignKind(line) === "binary data") return "binary";
  if (/^[!@]/.test(line)) return isMap(head, path) ? "map" : "index";
  if (MEMGATOR_LINE.test(line) || ACCESS_LOG_LINE.test(line)) return "log";
  if (CDX_LINE.test(line) || CDXJ_LINE.test(line)) return "index";
  if (guessCdxColumns(line) !== undefined) return "index";
  if (/^\s*[[{]/.test(line)) return "json";
  if (/\t(?:present|absent)\t/.test(line)) return "answers";
  if (sniff(head) === "map" && isMap(head, path)) return "map";
  return beginsWithLookup(line) ? "list" : "text";
}

function isMap(head: Uint8Array, path: string): boolean {
  try {
    const lines = wholeLinesOf(head);
    const { headers } = mapHeadOf(lines.length === 0 ? head : lines, path);
    rowLayout(headers.fields, path);
    return true;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}

/** Whether a file is a map by its first bytes; one that is packed is, too. @throws MM_IO */
export async function isMapFile(path: string): Promise<boolean> {
  const kind = await fileKind(path);
  return kind === "map" || kind === "packed" || kind === "empty";
}

/** Whether there is a plain file that is a map and has a record among its first lines. */
export async function mapRecordsIn(path: string): Promise<boolean> {
  try {
    if ((await stat(path).catch(() => undefined))?.isFile() !== true) return false;
    const lines = wholeLinesOf(await decompressedHead(path));
    return mapHeadOf(lines, path).recordsOffset < lines.length;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}

/** What a command writes, and what a file may be that such an output replaces. */
const REPLACEABLE = {
  map: ["map"],
  packed: ["packed"],
  "any map": ["map", "packed"],
  run: ["run"],
  page: ["page"],
  index: ["index", "json"],
  list: ["list"],
  // A cut may be any key, also the name of a host that is cut short.
  cuts: ["text", "list"],
  answers: ["answers", "json"],
  report: ["text", "json"],
  // Logs are appended to, and may begin with what another program wrote.
  log: ["log", "text"],
  learnt: ["learnt"],
  folder: [],
} as const satisfies Readonly<Record<string, readonly FileKind[]>>;
type OutputKind = keyof typeof REPLACEABLE;

/** A file that is to be written. */
export interface GuardedOutput {
  /** Standard output for `-` and undefined. */
  readonly path: string | undefined;
  readonly kind: OutputKind;
  /** Inputs that it may replace, because it holds all that they hold. */
  readonly replaces?: readonly string[] | undefined;
}

export interface GuardOptions {
  /** All that is read: files and folders, and `-` for standard input. */
  readonly inputs: readonly (string | undefined)[];
  /** Replaces existing files of another kind; never an input. */
  readonly force?: boolean | undefined;
}

/**
 * Refuses outputs that would destroy something: an input, whatever path or link leads to it; an
 * existing file of another kind than what is written; another output. Nothing is opened for writing
 * before.
 *
 * @throws MM_USAGE; MM_IO when the folder of an output does not exist
 */
export async function guardOutputs(
  outputs: readonly GuardedOutput[],
  { inputs, force = false }: GuardOptions,
): Promise<void> {
  const read = await Promise.all(inputs.map((path) => openedInput(path)));
  const known = read.filter((input) => input !== undefined);
  const written = new Set<string>();
  for (const output of outputs) {
    const { path } = output;
    if (path === undefined || path === "-") {
      if (written.has("-"))
        throw refusal("stdout", "is named for two outputs; name a file with -o");
      written.add("-");
      refuseStandardOutput(known);
      continue;
    }
    if (output.kind === "folder") {
      await refuseFilledFolder(path);
      continue;
    }
    const stats = await statIfThere(path);
    if (stats === undefined) await refuseMissingFolder(path);
    const identity = stats === undefined ? resolve(path) : identityOf(stats);
    if (stats?.isFile() !== false && written.has(identity)) {
      throw refusal(path, "is named for two outputs; name two files");
    }
    written.add(identity);
    // What is learnt is written late. Other folders are refused when they are opened; devices and pipes have
    // nothing to lose.
    if (output.kind === "learnt" && stats?.isDirectory() === true) {
      throw refusal(path, "is a directory; name a file");
    }
    if (stats?.isFile() === true) await guardFile({ ...output, path }, stats, known, force);
  }
}

/** A file or folder that is read. */
interface OpenedInput {
  readonly path: string;
  readonly stats: Stats;
}

async function openedInput(path: string | undefined): Promise<OpenedInput | undefined> {
  if (path === undefined) return undefined;
  const stats = path === "-" ? descriptorStats(0) : await statIfThere(path);
  return stats === undefined ? undefined : { path, stats };
}

async function guardFile(
  output: GuardedOutput & { readonly path: string },
  stats: Stats,
  inputs: readonly OpenedInput[],
  force: boolean,
): Promise<void> {
  const { path, kind, replaces = [] } = output;
  const same = inputs.filter((input) => identityOf(input.stats) === identityOf(stats));
  const lost = same.find((input) => !replaces.includes(input.path));
  if (lost !== undefined) {
    const name = lost.path === "-" ? "standard input" : lost.path;
    throw refusal(path, `is an input too (${name}), and would be lost; write to another file`);
  }
  if (same.length > 0) return;
  const found = await fileKind(path);
  const replaceable: readonly FileKind[] = REPLACEABLE[kind];
  if (found === "empty" || replaceable.includes(found)) return;
  for (const input of inputs) {
    if (input.stats.isDirectory() && (await isWithin(path, input.path))) {
      throw refusal(path, `is in the folder ${input.path}, which is read; write to another file`);
    }
  }
  if (force) return refuseParts(path, stats, inputs);
  const [expected = "text"] = replaceable;
  const fault = `already exists and is ${KIND_NAMES[found]}, not ${KIND_NAMES[expected]}`;
  const advice =
    SERVICE_ADVICE.get(kind) ??
    "name the file to write behind the option, or replace this one with --force";
  throw refusal(path, `${fault}; ${advice}`);
}

/** What to do about files of services, which have no --force. */
const SERVICE_ADVICE: ReadonlyMap<OutputKind, string> = new Map([
  ["log", "name another file for the log"],
  ["learnt", "name another file for --learnt"],
]);

/** Refuses a file that is read because the index of a ZipNum cluster names it. */
async function refuseParts(
  path: string,
  stats: Stats,
  inputs: readonly OpenedInput[],
): Promise<void> {
  for (const { path: index } of inputs.filter((input) => ZIPNUM_NAME.test(input.path))) {
    for (const part of await zipNumParts(index).catch(noParts)) {
      const found = await statIfThere(part);
      if (found === undefined || identityOf(found) !== identityOf(stats)) continue;
      throw refusal(
        path,
        `is read too, as a part of ${index}, and would be lost; write to another file`,
      );
    }
  }
}

/** What is wrong with an index is reported when it is read. */
function noParts(error: unknown): string[] {
  if (isMementoMapError(error)) return [];
  throw error;
}

const ZIPNUM_NAME = /\.idx(?:\.gz|\.zst)?$/;

/** What the shell has redirected to a file that is read is being lost, or would grow without end. */
function refuseStandardOutput(inputs: readonly OpenedInput[]): void {
  const stats = descriptorStats(1);
  if (stats?.isFile() !== true) return;
  const same = inputs.find((input) => identityOf(input.stats) === identityOf(stats));
  if (same === undefined) return;
  throw refusal(same.path, "is an input, and standard output goes there; write to another file");
}

async function refuseMissingFolder(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  if ((await statIfThere(folder)) === undefined) throw missingFolder(path);
}

async function isWithin(path: string, folder: string): Promise<boolean> {
  const [file, parent] = await Promise.all([realpath(path), realpath(folder)]);
  return file.startsWith(parent + sep);
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw ioError(error, path);
  }
}

function descriptorStats(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    // A closed descriptor leads nowhere.
    if (systemCode(error) === "EBADF") return undefined;
    throw error;
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function refusal(path: string, message: string): MementoMapError {
  return new MementoMapError("MM_USAGE", message, { position: { source: path } });
}
