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
  /** The parent folder; the system's temporary folder by default. */
  readonly parent?: string | undefined;
  /** Removes the folder when the process is interrupted. */
  readonly interrupt?: Interrupt | undefined;
}

/**
 * Runs `use` with a new scratch folder, and removes it with its contents afterwards: on success, on
 * error, and on interruption. Remains of killed runs are removed first.
 *
 * @throws `MM_IO` when the folder cannot be created.
 */
export async function withTempDir<T>(
  options: TempDirOptions,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const parent = options.parent ?? tmpdir();
  await removeAbandoned(parent);
  // Created and registered synchronously: an interruption in between would leave it behind.
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
 * Creates a scratch folder, which the caller must remove.
 *
 * @throws `MM_IO` when the folder cannot be created.
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

/** A spill store in a scratch file, which is created on first use. */
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
      if (read === 0) throw new Error("the spill file is shorter than the data written to it");
      at += read;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** The maximum length of file names, minus the suffix added here. */
const MAX_NAME_BYTES = 255 - 48;

/**
 * A hidden temporary name in the folder of `path`, to be renamed to it.
 *
 * The name is unique but not secret: create the file or folder exclusively. It identifies the process
 * that created it, so that {@link removeAbandoned} finds the remains of a killed one.
 */
export function temporaryPath(path: string, ending: "tmp" | "lock" = "tmp"): string {
  return `${stem(path)}${ownerMark(ending)}`;
}

/** Whether `other` is a {@link temporaryPath} of `path`. */
export function isTemporaryOf(path: string, other: string, ending: "tmp" | "lock"): boolean {
  const start = stem(path);
  if (!other.startsWith(start) || !other.endsWith(`.${ending}`)) return false;
  return isMark(other.slice(start.length));
}

/**
 * Removes files and folders that killed processes of this user left in a folder under names of
 * {@link temporaryPath}.
 *
 * Best effort: files that cannot be read or removed stay.
 */
export async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(unlessSystem([]));
  for (const name of names.filter(isMarked)) await removeIfAbandoned(join(folder, name));
}

/** Folders already swept by this process. */
const swept = new Set<string>();

/** {@link removeAbandoned}, once per folder. */
export async function sweepOnce(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  await removeAbandoned(folder);
}

/** Removes a marked file or folder if its process is gone; returns whether it did. */
export async function removeIfAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(unlessSystem(undefined));
  if (found === undefined) return true;
  // Leave files of other users in shared folders alone.
  if (found.uid !== (process.getuid?.() ?? found.uid)) return false;
  if (!isAbandoned(basename(path), found.mtimeMs)) return false;
  await rm(path, { recursive: true, force: true }).catch(unlessSystem(undefined));
  return true;
}

function stem(path: string): string {
  const name = basename(path);
  const isLong = Buffer.byteLength(name) > MAX_NAME_BYTES;
  // Characters have at most four bytes, and must not be split.
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

/** The mark at the end of a name: process id, place, and a unique part. */
const MARK = /\.(\d+)-([\da-z]{7})-([\da-z]{6})[\da-z]{6}\.(?:tmp|lock)$/;
/** No file is idle for so long while it is being written. */
const MAX_IDLE_MS = 7 * 24 * 3600 * 1000;

/**
 * Identifies this process in names, even if two copies of this package run in it: in containers, a new
 * process often has the same id as an earlier one.
 */
const RUN = Symbol.for("mementomap.run");
const shared: typeof globalThis & { [RUN]?: string } = globalThis;

/**
 * `.PID-PLACE-RANDOM.ENDING`: a unique suffix that identifies the process. (Not `randomUUID`: loading
 * node:crypto takes longer than many commands.)
 */
export function ownerMark(ending: "tmp" | "lock"): string {
  return `.${process.pid}-${place()}-${run()}${random()}.${ending}`;
}

/** Whether a name ends in a mark. */
function isMarked(name: string): boolean {
  return MARK.test(name);
}

/** Whether a suffix is exactly a mark. */
function isMark(end: string): boolean {
  return MARK.exec(end)?.index === 0;
}

/**
 * Whether the process of a marked name is gone, so that the file is no longer in use.
 *
 * Processes on this machine are looked up. Those on another machine, in another container or before a
 * reboot cannot be checked; their files count as abandoned a week after the last change.
 *
 * @param changedMs time of the last change.
 */
export function isAbandoned(name: string, changedMs: number): boolean {
  const found = MARK.exec(name);
  if (found === null) return false;
  const [, pid, of, by] = found;
  if (of !== place()) return Date.now() - changedMs > MAX_IDLE_MS;
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
    // It is running, as another user.
    return systemCode(error) === "EPERM";
  }
}

let ownPlace: string | undefined;

/** Seven characters that identify the machine, boot and pid namespace. */
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

/** Only Linux has these; elsewhere the host name must suffice. */
function firstOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** 32-bit FNV-1a; must not change, because other versions read it in names. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, "0");
}

const MAX_TRIES = 100;
const PAUSE_MS = 5;

/**
 * Removes a folder with its contents synchronously, even if threads are still writing to it.
 *
 * (Node's own retries wait for the folder to become empty, and do not remove new files.)
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
