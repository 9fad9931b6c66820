import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { copyToOutput, syncFolder, withOutput } from "../files/output-file.ts";
import { codingFor } from "../files/compress.ts";
import { lockFile, writeJson } from "../files/shared-files.ts";
import type { Interrupt } from "../interruption.ts";

/** What every harvest remembers between runs, besides how far it got. */
export interface HarvestNote {
  /** Names the server and the questions; another harvest must not go on from here. */
  readonly harvest: string;
  /** The file that is or becomes the index, by its number on the disk, once it is whole. */
  readonly index?: number | undefined;
}

/** The name of a harvest that asks just this. */
export function harvestName(questions: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(questions)).digest("hex");
}

/** How a harvest is stored while it is under way. */
interface HarvestPlan<T extends HarvestNote> {
  readonly start: T;
  /** Whether a value that was read has all that `T` has. */
  readonly isWhole: (value: Partial<T>) => value is T;
  /** What part files are called behind the name of the index, and how many bytes of each are whole. */
  readonly parts: (note: T) => readonly (readonly [suffix: string, bytes: number])[];
  readonly head?: string | undefined;
  readonly interrupt?: Interrupt | undefined;
}

/**
 * The files of a harvest: growing parts (the first becomes the index), and a note of how
 * far it got, from which a later run resumes. A lock keeps a second run away.
 */
export class HarvestFiles<T extends HarvestNote> {
  note: T;
  readonly parts: readonly PartFile[];
  /** Whether an earlier run made the index, and was stopped before it could remove the rest. */
  readonly isFinished: boolean;
  /** What the user named the index, which says whether it is compressed. */
  readonly #path: string;
  readonly #target: string;
  readonly #interrupt: Interrupt | undefined;
  readonly #unlock: () => void;

  private constructor(
    names: { readonly path: string; readonly target: string },
    found: { readonly note: T; readonly parts: readonly PartFile[]; readonly isFinished: boolean },
    interrupt: Interrupt | undefined,
    unlock: () => void,
  ) {
    this.#path = names.path;
    this.#target = names.target;
    this.note = found.note;
    this.parts = found.parts;
    this.isFinished = found.isFinished;
    this.#interrupt = interrupt;
    this.#unlock = unlock;
  }

  /** @throws MM_USAGE when what an earlier run left does not fit, MM_IO, also for a second run */
  static async open<T extends HarvestNote>(
    path: string,
    { start, isWhole, parts: partsOf, head = "", interrupt }: HarvestPlan<T>,
  ): Promise<HarvestFiles<T>> {
    const target = await harvestTarget(path);
    const unlock = await lockFile(target, interrupt);
    const parts: PartFile[] = [];
    let found: T | undefined;
    try {
      found = await readNote(target, start.harvest, isWhole);
      const note = found ?? start;
      const isFinished = found !== undefined && (await isIndexOf(found, target));
      for (const [suffix, bytes] of partsOf(note)) {
        parts.push(await PartFile.open(target + suffix, isFinished ? 0 : bytes));
      }
      if (found === undefined) await parts[0]?.write(Buffer.from(head));
      return new HarvestFiles({ path, target }, { note, parts, isFinished }, interrupt, unlock);
    } catch (error) {
      for (const part of parts) await (found === undefined ? part.remove() : part.close());
      unlock();
      throw error;
    }
  }

  /** Remembers how far the harvest got, whole or not at all. */
  async commit(note: T): Promise<void> {
    this.note = note;
    await writeJson(notePath(this.#target), note, this.#interrupt);
  }

  /**
   * Makes the index of the first part, which is whole now, and removes the rest. What a run that is
   * killed on the way leaves, a later one finishes.
   *
   * @param head what the index begins with, if the part does not.
   */
  async finish(head: string = ""): Promise<void> {
    const [part] = this.parts;
    try {
      if (!this.isFinished && part !== undefined) await this.#makeIndex(part, head);
      await this.discard();
    } catch (error) {
      throw ioError(error, this.#path);
    }
  }

  async #makeIndex(part: PartFile, head: string): Promise<void> {
    await part.close();
    if (codingFor(this.#path) === undefined && head === "") {
      await this.commit({ ...this.note, index: (await stat(part.path)).ino });
      await rename(part.path, this.#target);
      await syncFolder(dirname(this.#target));
      return;
    }
    const options = { stdout: process.stdout, interrupt: this.#interrupt };
    await withOutput(this.#path, options, async (output) => {
      await output.write(Buffer.from(head));
      await copyToOutput(part.path, output);
    });
    await this.commit({ ...this.note, index: (await stat(this.#target)).ino });
  }

  /** Removes everything but the index. */
  async discard(): Promise<void> {
    for (const part of this.parts) await part.remove();
    await rm(notePath(this.#target), { force: true });
  }

  /** @param isEmpty whether there is nothing to resume from. */
  async close(isEmpty: boolean): Promise<void> {
    try {
      for (const part of this.parts) await (isEmpty ? part.remove() : part.close());
    } finally {
      this.#unlock();
    }
  }
}

/**
 * Where the index is to be in the end; through a link, so that the link stays.
 *
 * @throws MM_IO when no file can be there, MM_USAGE when it cannot be compressed as its name says:
 *   both would be known only when all is fetched.
 */
async function harvestTarget(path: string): Promise<string> {
  codingFor(path);
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
async function readNote<T extends HarvestNote>(
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
  if (!isWhole(note)) throw stale(path, "is damaged");
  return note;
}

async function isIndexOf({ index }: HarvestNote, target: string): Promise<boolean> {
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
export function stale(path: string, what: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${what}; give another -o, or remove the files whose names continue with .part to start over`,
    { position: { source: path }, cause },
  );
}

function notePath(target: string): string {
  return `${target}.part.json`;
}

const READ_BYTES = 1 << 16;

/**
 * A file that grows behind what is known to be whole, which a later run goes on from.
 *
 * Errors are MM_IO and name the path.
 */
export class PartFile {
  readonly path: string;
  readonly #file: FileHandle;
  #end: number;
  #isOpen = true;

  private constructor(path: string, file: FileHandle, end: number) {
    this.path = path;
    this.#file = file;
    this.#end = end;
  }

  /**
   * Opens what an earlier run left and forgets what is behind its first `bytes`; with 0, starts over.
   *
   * @throws MM_USAGE when the file has fewer bytes, MM_IO
   */
  static async open(path: string, bytes: number): Promise<PartFile> {
    let file: FileHandle;
    try {
      file = await open(path, bytes === 0 ? "w+" : "r+");
    } catch (error) {
      throw bytes > 0 && systemCode(error) === "ENOENT"
        ? stale(path, "is gone, and was the beginning", error)
        : ioError(error, path);
    }
    try {
      const { size } = await file.stat();
      if (size < bytes) throw stale(path, `has only ${size} of ${bytes} bytes`);
      await file.truncate(bytes);
      return new PartFile(path, file, bytes);
    } catch (error) {
      await file.close();
      throw ioError(error, path);
    }
  }

  get end(): number {
    return this.#end;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const writing = this.#file.write(bytes, at, bytes.length - at, this.#end);
      const { bytesWritten } = await this.#checked(writing);
      at += bytesWritten;
      this.#end += bytesWritten;
    }
  }

  /** Takes back all but the first `bytes`. */
  async cutTo(bytes: number): Promise<void> {
    await this.#checked(this.#file.truncate(bytes));
    this.#end = bytes;
  }

  /** The bytes from `from` on, one chunk at a time; each is valid until the next. */
  async *chunks(from: number = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, this.#end - from));
    for (let at = from; at < this.#end;) {
      const length = Math.min(buffer.length, this.#end - at);
      const { bytesRead } = await this.#checked(this.#file.read(buffer, 0, length, at));
      if (bytesRead === 0) throw stale(this.path, "became shorter while it was read");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Returns when what was written would survive a loss of power. */
  async sync(): Promise<void> {
    await this.#checked(this.#file.datasync());
  }

  async #checked<R>(call: Promise<R>): Promise<R> {
    try {
      return await call;
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** Does nothing the second time. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }
}
