import { fstatSync, type Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { ioError, isMementoMapError, MementoMapError, systemCode } from "../errors.ts";
import { missingFolder, refuseFilledFolder } from "../files/output-file.ts";
import { zipNumParts } from "../input/zipnum.ts";
import { type FileKind, fileKind, KIND_NAMES } from "./file-kind.ts";

/** Kinds of outputs, and the kinds of existing files that each may replace. */
const REPLACEABLE = {
  map: ["map"],
  packed: ["packed"],
  "any map": ["map", "packed"],
  run: ["run"],
  page: ["page"],
  index: ["index", "json"],
  list: ["list"],
  // A cut may be any key, including a truncated host name.
  cuts: ["text", "list"],
  answers: ["answers", "json"],
  report: ["text", "json"],
  // Logs are appended to, and may begin with output of another program.
  log: ["log", "text"],
  learnt: ["learnt"],
  folder: [],
} as const satisfies Readonly<Record<string, readonly FileKind[]>>;
type OutputKind = keyof typeof REPLACEABLE;

/** A file to be written. */
export interface GuardedOutput {
  /** Standard output for `-` and undefined. */
  readonly path: string | undefined;
  readonly kind: OutputKind;
  /** Inputs it may replace, because it contains all their data. */
  readonly replaces?: readonly string[] | undefined;
}

export interface GuardOptions {
  /** All inputs: files and folders, and `-` for standard input. */
  readonly inputs: readonly (string | undefined)[];
  /** Whether to replace existing files of another kind; inputs are never replaced. */
  readonly force?: boolean | undefined;
}

/**
 * Rejects outputs that would destroy data: an input, by whatever path or link; an existing file of
 * another kind; another output. Must run before anything is opened for writing.
 *
 * @throws MM_USAGE; MM_IO when the folder of an output does not exist
 */
export async function guardOutputs(
  outputs: readonly GuardedOutput[],
  { inputs, force = false }: GuardOptions,
): Promise<void> {
  const opened: OpenedInput[] = [];
  for (const path of inputs) {
    const stats = path === "-" ? descriptorStats(0) : path && (await statIfThere(path));
    if (path && stats) opened.push({ path, stats });
  }
  const written = new Set<string>();
  for (const output of outputs) {
    const { path = "-", kind } = output;
    if (kind === "folder" && path !== "-") {
      await refuseFilledFolder(path);
      continue;
    }
    const stats = path === "-" ? undefined : await statIfThere(path);
    const identity = path === "-" ? path : stats === undefined ? resolve(path) : identityOf(stats);
    if (stats?.isFile() !== false && written.has(identity)) {
      throw path === "-"
        ? refusal("stdout", "is named for two outputs; name a file with -o")
        : refusal(path, "is named for two outputs; name two files");
    }
    written.add(identity);
    if (path === "-") refuseStandardOutput(opened);
    else if (stats === undefined) await refuseMissingFolder(path);
    // Learned state is written late, so check now. Other folders are rejected when opened; devices and
    // pipes have nothing to lose.
    else if (kind === "learnt" && stats.isDirectory()) {
      throw refusal(path, "is a directory; name a file");
    } else if (stats.isFile()) await guardFile({ ...output, path }, stats, opened, force);
  }
}

/** A file or folder that is read. */
interface OpenedInput {
  readonly path: string;
  readonly stats: Stats;
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
    kind === "log" || kind === "learnt"
      ? `name another ${kind === "log" ? "file for the log" : "folder for --state"}`
      : "pass the output file after the option, or use --force to replace this one";
  throw refusal(path, `${fault}; ${advice}`);
}

/** Rejects a file that is read because a ZipNum index names it as a part. */
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

/** Errors in an index are reported when it is read. */
function noParts(error: unknown): string[] {
  if (isMementoMapError(error)) return [];
  throw error;
}

const ZIPNUM_NAME = /\.idx(?:\.gz|\.zst)?$/;

/** Rejects standard output redirected to an input, which would be lost or grow without end. */
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
    // A closed descriptor refers to no file.
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
