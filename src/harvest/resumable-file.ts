import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { copyToOutput, syncFolder, withOutput } from "../files/output-file.ts";
import { compressorFor } from "../files/compress.ts";
import { lockFile, writeJson } from "../files/shared-files.ts";
import type { Interrupt } from "../interruption.ts";

/** What is remembered between runs. */
export interface ResumeNote {
  /** Identifies the server and the requests; another harvest must not continue this file. */
  readonly harvest: string;
  /** Bytes of the part file that are complete. */
  readonly bytes: number;
  /** The inode of the finished file, once it is complete. */
  readonly index?: number | undefined;
}

/** A name for the harvest that makes exactly these requests. */
export function harvestName(requests: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(requests)).digest("hex");
}

interface ResumeOptions<T extends ResumeNote> {
  /** The note of a new file. */
  readonly start: T;
  /** Whether a note that was read has everything that `T` has. */
  readonly isWhole: (value: Partial<T>) => value is T;
  /** What a new file begins with. */
  readonly head?: string | undefined;
  readonly interrupt?: Interrupt | undefined;
}

const READ_BYTES = 1 << 16;

/**
 * A file that grows until it is complete, over several runs.
 *
 * The bytes are in `FILE.part`, and `FILE.part.json` notes how many of them are complete and where
 * to continue; `FILE` appears when all is there. A lock keeps a second run away. Errors are MM_IO
 * and name the path.
 */
export class ResumableFile<T extends ResumeNote> {
  note: T;
  /** Whether an earlier run finished the file, and was stopped before it could remove the part. */
  readonly isFinished: boolean;
  readonly #path: string;
  readonly #target: string;
  readonly #part: FileHandle;
  #end: number;
  #isOpen = true;
  readonly #interrupt: Interrupt | undefined;
  readonly #unlock: () => void;

  private constructor(
    names: { readonly path: string; readonly target: string },
    found: { readonly note: T; readonly part: FileHandle; readonly isFinished: boolean },
    interrupt: Interrupt | undefined,
    unlock: () => void,
  ) {
    this.#path = names.path;
    this.#target = names.target;
    this.note = found.note;
    this.#part = found.part;
    this.#end = found.isFinished ? 0 : found.note.bytes;
    this.isFinished = found.isFinished;
    this.#interrupt = interrupt;
    this.#unlock = unlock;
  }

  /** @throws MM_USAGE when what an earlier run left does not fit, MM_IO, also for a second run */
  static async open<T extends ResumeNote>(
    path: string,
    { start, isWhole, head = "", interrupt }: ResumeOptions<T>,
  ): Promise<ResumableFile<T>> {
    const target = await targetOf(path);
    const unlock = await lockFile(target, interrupt);
    let file: ResumableFile<T> | undefined;
    try {
      const found = await readNote(target, start.harvest, isWhole);
      const note = found ?? start;
      const isFinished = found !== undefined && (await isIndexOf(found, target));
      const part = await openPart(partPath(target), isFinished ? 0 : note.bytes);
      file = new ResumableFile({ path, target }, { note, part, isFinished }, interrupt, unlock);
      if (found === undefined) await file.write(Buffer.from(head));
      return file;
    } catch (error) {
      await (file === undefined ? unlock() : file.close(true));
      throw error;
    }
  }

  get path(): string {
    return partPath(this.#target);
  }

  get end(): number {
    return this.#end;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const writing = this.#part.write(bytes, at, bytes.length - at, this.#end);
      const { bytesWritten } = await this.#checked(writing);
      at += bytesWritten;
      this.#end += bytesWritten;
    }
  }

  /** Drops all but the first `bytes`. */
  async cutTo(bytes: number): Promise<void> {
    await this.#checked(this.#part.truncate(bytes));
    this.#end = bytes;
  }

  /** The bytes from `from` on, one chunk at a time; each is valid until the next. */
  async *chunks(from: number = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, this.#end - from));
    for (let at = from; at < this.#end;) {
      const length = Math.min(buffer.length, this.#end - at);
      const { bytesRead } = await this.#checked(this.#part.read(buffer, 0, length, at));
      if (bytesRead === 0) throw stale(this.path, "became shorter while it was read");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Notes that everything written so far is complete, and what a later run needs to continue. */
  async commit(note: Omit<T, "harvest" | "bytes" | "index">): Promise<void> {
    await this.#checked(this.#part.datasync());
    await this.#note({ ...this.note, ...note, bytes: this.#end });
  }

  async #note(note: T): Promise<void> {
    this.note = note;
    await writeJson(notePath(this.#target), note, this.#interrupt);
  }

  /**
   * Turns the part, which is complete now, into the file, and removes the note. A later run finishes
   * what a killed one leaves.
   *
   * @param head what the file begins with, if the part does not.
   */
  async finish(head: string = ""): Promise<void> {
    try {
      if (!this.isFinished) await this.#makeIndex(head);
      await this.discard();
    } catch (error) {
      throw ioError(error, this.#path);
    }
  }

  async #makeIndex(head: string): Promise<void> {
    await this.#closePart();
    if (compressorFor(this.#path) === undefined && head === "") {
      await this.#note({ ...this.note, index: (await stat(this.path)).ino });
      await rename(this.path, this.#target);
      await syncFolder(dirname(this.#target));
      return;
    }
    const options = { stdout: process.stdout, interrupt: this.#interrupt };
    await withOutput(this.#path, options, async (output) => {
      await output.write(Buffer.from(head));
      await copyToOutput(this.path, output);
    });
    await this.#note({ ...this.note, index: (await stat(this.#target)).ino });
  }

  /** Removes everything but the finished file. */
  async discard(): Promise<void> {
    await this.#closePart();
    await rm(this.path, { force: true });
    await rm(notePath(this.#target), { force: true });
  }

  /** @param isEmpty whether there is nothing to resume from. */
  async close(isEmpty: boolean): Promise<void> {
    try {
      await this.#closePart();
      if (isEmpty) await rm(this.path, { force: true });
    } finally {
      this.#unlock();
    }
  }

  async #closePart(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#part.close();
  }

  async #checked<R>(call: Promise<R>): Promise<R> {
    try {
      return await call;
    } catch (error) {
      throw ioError(error, this.path);
    }
  }
}

function partPath(target: string): string {
  return `${target}.part`;
}

function notePath(target: string): string {
  return `${target}.part.json`;
}

/**
 * Opens what an earlier run left, without what is behind its first `bytes`; with 0, starts over.
 *
 * @throws MM_USAGE when the file has fewer bytes, MM_IO
 */
async function openPart(path: string, bytes: number): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, bytes === 0 ? "w+" : "r+");
  } catch (error) {
    throw bytes > 0 && systemCode(error) === "ENOENT"
      ? stale(path, "is gone, which has the beginning", error)
      : ioError(error, path);
  }
  try {
    const { size } = await file.stat();
    if (size < bytes) throw stale(path, `has only ${size} of ${bytes} bytes`);
    await file.truncate(bytes);
    return file;
  } catch (error) {
    await file.close();
    throw ioError(error, path);
  }
}

/**
 * Where the file is to be in the end; a link is followed and stays.
 *
 * @throws MM_IO when no file can be there, MM_USAGE when it cannot be compressed as its name says:
 *   both would otherwise be known only when everything has been fetched.
 */
async function targetOf(path: string): Promise<string> {
  compressorFor(path);
  try {
    const found = await stat(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    });
    if (found === undefined) return path;
    if (found.isFile()) return await realpath(path);
    const what = found.isDirectory() ? "is a directory" : "is not a plain file to continue";
    throw new MementoMapError("MM_IO", `${what}; name a file`, { position: { source: path } });
  } catch (error) {
    throw ioError(error, path);
  }
}

/** @throws MM_USAGE when the note is of another harvest, or damaged; MM_IO */
async function readNote<T extends ResumeNote>(
  target: string,
  harvest: string,
  isWhole: (value: Partial<T>) => value is T,
): Promise<T | undefined> {
  const path = notePath(target);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw stale(path, "is damaged", error);
  }
  if (typeof value !== "object" || value === null) throw stale(path, "is damaged");
  const note = value as Partial<T>; // checked here and by `isWhole`
  if (note.harvest !== harvest) throw stale(path, "is of another harvest");
  if (!areCounts(note.bytes) || !isWhole(note)) throw stale(path, "is damaged");
  return note;
}

async function isIndexOf({ index }: ResumeNote, target: string): Promise<boolean> {
  if (index === undefined) return false;
  try {
    return (await stat(target)).ino === index;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw ioError(error, target);
  }
}

/** Whether values are numbers of bytes, lines or the like. */
export function areCounts(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && Number(value) >= 0);
}

/** An error about what an earlier run left. */
function stale(path: string, what: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${what}; give another -o, or remove the files whose names continue with .part to start over`,
    { position: { source: path }, cause },
  );
}
