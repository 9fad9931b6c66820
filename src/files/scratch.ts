import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { ioError, systemCode } from "../errors.ts";

export interface TempDirOptions {
  /** The folder to make it in; the system's own for temporary files by default. */
  readonly parent?: string | undefined;
  /** Removes the folder when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
}

/**
 * Runs `use` with a fresh scratch folder, and removes it with all it holds afterwards: on success,
 * on error, and on interruption. What killed runs left beside it is removed before.
 *
 * @throws `MM_IO` when the folder cannot be made.
 */
export async function withTempDir<T>(
  options: TempDirOptions,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const parent = options.parent ?? tmpdir();
  await removeAbandoned(parent);
  // Made and registered in one go: an interruption in between would leave it behind.
  checkSignal(options.interrupt?.signal);
  const path = makeIn(parent);
  const release = options.interrupt?.onCleanUp(() => {
    removeFolderNow(path);
  });
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
    release?.();
  }
}

/**
 * Makes a scratch folder for as long as its maker wants; who makes it removes it.
 *
 * @throws `MM_IO` when the folder cannot be made.
 */
export async function makeTempDir(parent: string = tmpdir()): Promise<string> {
  await removeAbandoned(parent);
  return makeIn(parent);
}

function makeIn(parent: string): string {
  try {
    const path = join(parent, `mementomap${ownerMark("tmp")}`);
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch (error) {
    throw ioError(error, parent);
  }
}

/** Random-access storage outside memory, such as a scratch file. */
export interface SpillStore {
  write(offset: number, bytes: Uint8Array): void;
  read(offset: number, target: Uint8Array): void;
}

/** A spill store in a scratch file, which is made when it is first needed. */
export class ScratchSpill implements SpillStore {
  readonly #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  write(offset: number, bytes: Uint8Array): void {
    try {
      this.#file ??= openSync(this.#path, "wx+");
      for (let at = 0; at < bytes.length;) {
        at += writeSync(this.#file, bytes, at, bytes.length - at, offset + at);
      }
    } catch (error) {
      throw ioError(error, this.#path);
    }
  }

  read(offset: number, target: Uint8Array): void {
    if (this.#file === undefined) throw new Error("nothing was spilled");
    for (let at = 0; at < target.length;) {
      const read = readSync(this.#file, target, at, target.length - at, offset + at);
      if (read === 0) throw new Error("the spill file is shorter than what was written to it");
      at += read;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** What file systems allow for a name, less what is added to it here. */
const MAX_NAME_BYTES = 255 - 48;

/**
 * A hidden name in the folder of `path`, for what will be renamed to it.
 *
 * Nobody else has it, but it is not secret: make the file or folder so that it must be new. It says
 * which process made it, so that {@link removeAbandoned} finds what a killed one left behind.
 */
export function temporaryPath(path: string, ending: "tmp" | "lock" = "tmp"): string {
  return `${stem(path)}${ownerMark(ending)}`;
}

/** Whether `other` is a name of {@link temporaryPath} for `path`. */
export function isTemporaryOf(path: string, other: string, ending: "tmp" | "lock"): boolean {
  const start = stem(path);
  if (!other.startsWith(start) || !other.endsWith(`.${ending}`)) return false;
  return isMark(other.slice(start.length));
}

/**
 * Removes what killed processes left in a folder under names of {@link temporaryPath}: files and
 * folders of this user whose process is gone.
 *
 * Nothing depends on it, so what cannot be read or removed stays.
 */
export async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(unlessSystem([]));
  for (const name of names.filter(isMarked)) await removeIfAbandoned(join(folder, name));
}

/** Folders that this process has looked through. */
const swept = new Set<string>();

/** {@link removeAbandoned} for many outputs in one folder: only the first looks. */
export async function sweepOnce(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  await removeAbandoned(folder);
}

/** Whether a marked file or folder was removed, because its process is gone. */
export async function removeIfAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(unlessSystem(undefined));
  if (found === undefined) return true;
  // What others put into a shared folder is theirs.
  if (found.uid !== (process.getuid?.() ?? found.uid)) return false;
  if (!isAbandoned(basename(path), found.mtimeMs)) return false;
  await rm(path, { recursive: true, force: true }).catch(unlessSystem(undefined));
  return true;
}

function stem(path: string): string {
  const name = basename(path);
  const isLong = Buffer.byteLength(name) > MAX_NAME_BYTES;
  // Characters have at most four bytes, and none is cut in two.
  const start = isLong
    ? Array.from(name)
        .slice(0, MAX_NAME_BYTES / 4)
        .join("")
    : name;
  return join(dirname(path), `.${start}`);
}

function unlessSystem<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (systemCode(error) === undefined) throw error;
    return fallback;
  };
}

/** What a mark looks like, in the middle of a name: process, place, and a part that nobody else has. */
const MARK = /\.(\d+)-([\da-z]{7})-([\da-z]{6})[\da-z]{6}\.(?:tmp|lock)$/;
/** Nothing that is being written rests for so long. */
const LONGEST_REST_MS = 7 * 24 * 3600 * 1000;

/**
 * What all names of this process have in common, even where two copies of this package run in it: a
 * number alone does not tell a process from an earlier one, which in containers often has the same.
 */
const RUN = Symbol.for("mementomap.run");
const shared: typeof globalThis & { [RUN]?: string } = globalThis;

/**
 * `.PID-PLACE-RANDOM.ENDING`: the end of a name that nobody else makes, and that tells others who made
 * it. (Not `randomUUID`: loading node:crypto takes longer than many commands.)
 */
export function ownerMark(ending: "tmp" | "lock"): string {
  return `.${process.pid}-${place()}-${run()}${random()}.${ending}`;
}

/** Whether a name ends in a mark, or is one. */
function isMarked(name: string): boolean {
  return MARK.test(name);
}

/** Whether the end of a name is a mark, and nothing else. */
function isMark(end: string): boolean {
  return MARK.exec(end)?.index === 0;
}

/**
 * Whether the process that made a marked name is gone, so that nobody uses the file any more.
 *
 * A process of this machine is looked for. Whether one of another machine, of another container or of
 * an earlier start of this machine still runs cannot be known; its file is abandoned when it has not
 * changed for a week.
 *
 * @param changedMs when the file was last changed.
 */
export function isAbandoned(name: string, changedMs: number): boolean {
  const found = MARK.exec(name);
  if (found === null) return false;
  const [, pid, of, by] = found;
  if (of !== place()) return Date.now() - changedMs > LONGEST_REST_MS;
  return Number(pid) === process.pid ? by !== run() : !isRunning(Number(pid));
}

function run(): string {
  return (shared[RUN] ??= random());
}

function random(): string {
  return Math.random().toString(36).slice(2, 8).padEnd(6, "0");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, and belongs to somebody else.
    return systemCode(error) === "EPERM";
  }
}

let ownPlace: string | undefined;

/** Seven characters for all processes that can see each other's numbers, until the next start. */
function place(): string {
  ownPlace ??= digest(
    [
      hostname(),
      firstOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")),
      firstOf(() => readlinkSync("/proc/self/ns/pid")),
    ].join("\n"),
  );
  return ownPlace;
}

/** Only Linux has these; elsewhere the name of the machine has to do. */
function firstOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** FNV-1a, of 32 bits; must not change, since other versions read it in names. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, "0");
}

const MAX_TRIES = 100;
const PAUSE_MS = 5;

/**
 * Removes a folder with all it holds at once, though threads may still write to it.
 *
 * (Node's own retries wait for the folder to become empty, and do not remove what was added.)
 */
export function removeFolderNow(path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOTEMPTY" || tries === MAX_TRIES) throw error;
      Atomics.wait(pause, 0, 0, PAUSE_MS);
    }
  }
}
