import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { MementoMapError } from "../errors.ts";
import { codingFor } from "../files/compress.ts";
import { copyToOutput, syncFolder, withOutput } from "../files/output-file.ts";
import { writeJson } from "../files/shared-files.ts";
import type { Interrupt } from "../interruption.ts";
import { ioError, systemCode } from "../files/io-error.ts";

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

/**
 * Where the index is to be in the end; through a link, so that the link stays.
 *
 * @throws MM_IO when no file can be there, MM_USAGE when it cannot be compressed as its name says:
 *   both would be known only when all is fetched.
 */
export async function harvestTarget(path: string): Promise<string> {
  codingFor(path);
  try {
    const found = await stat(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    });
    if (found === undefined) return path;
    if (found.isFile()) return await realpath(path);
    const what = found.isDirectory() ? "is a directory" : "is no plain file to go on with";
    throw new MementoMapError("MM_IO", `${what}; name a file`, { position: { source: path } });
  } catch (error) {
    throw ioError(error, path);
  }
}

/**
 * What an earlier run of this harvest remembered; undefined when there was none.
 *
 * @param isWhole whether a value that was read has all that `T` has.
 * @throws MM_USAGE when it is of another harvest, or damaged; MM_IO
 */
export async function readNote<T extends HarvestNote>(
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
  const note = value as Partial<T>; // looked at here and by `isWhole`
  if (note.harvest !== harvest) throw stale(path, "is of another harvest");
  if (!isWhole(note)) throw stale(path, "is damaged");
  return note;
}

/** Whether values are numbers of bytes, lines or the like. */
export function areCounts(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && Number(value) >= 0);
}

/** Remembers something for a later run, whole or not at all. */
export async function writeNote(
  target: string,
  note: HarvestNote,
  interrupt: Interrupt | undefined,
): Promise<void> {
  await writeJson(notePath(target), note, interrupt);
}

/**
 * Makes the index of the part that is whole now, and forgets the rest. A run that is killed on the
 * way leaves what a later one finishes: see {@link isFinished}.
 *
 * @param path what the user named the index, which says whether it is compressed.
 * @param others what is of no use then.
 * @param head what the index begins with, if the part does not.
 */
export async function finishHarvest(
  path: string,
  target: string,
  part: PartFile,
  note: HarvestNote,
  interrupt: Interrupt | undefined,
  others: readonly PartFile[] = [],
  head: string = "",
): Promise<void> {
  try {
    await part.close();
    if (codingFor(path) === undefined && head === "") {
      await writeNote(target, { ...note, index: (await stat(part.path)).ino }, interrupt);
      await rename(part.path, target);
      await syncFolder(dirname(target));
    } else {
      await withOutput(path, { stdout: process.stdout, interrupt }, async (output) => {
        await output.write(Buffer.from(head));
        await copyToOutput(part.path, output);
      });
      await writeNote(target, { ...note, index: (await stat(target)).ino }, interrupt);
    }
    await forgetHarvest(target, [part, ...others]);
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Forgets what is left of a harvest whose index is there. */
export async function forgetHarvest(target: string, parts: readonly PartFile[]): Promise<void> {
  for (const part of parts) await part.remove();
  await rm(notePath(target), { force: true });
}

/** Whether an earlier run made the index, and was stopped before it could forget the rest. */
export async function isFinished(target: string, note: HarvestNote | undefined): Promise<boolean> {
  if (note?.index === undefined) return false;
  try {
    return (await stat(target)).ino === note.index;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw ioError(error, target);
  }
}

/** An error about what an earlier run left. */
export function stale(path: string, what: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${what}; give another -o, or remove the files whose names go on with .part to begin anew`,
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
   * Opens what an earlier run left and forgets what is behind its first `bytes`; with 0, begins anew.
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

  /** How many bytes there are. */
  get end(): number {
    return this.#end;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      let at = 0;
      while (at < bytes.length) {
        const { bytesWritten } = await this.#file.write(bytes, at, bytes.length - at, this.#end);
        at += bytesWritten;
        this.#end += bytesWritten;
      }
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** Takes back all but the first `bytes`. */
  async cutTo(bytes: number): Promise<void> {
    try {
      await this.#file.truncate(bytes);
      this.#end = bytes;
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** The bytes from `from` on, one chunk at a time; each is valid until the next. */
  async *chunks(from: number = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, this.#end - from));
    for (let at = from; at < this.#end;) {
      const length = Math.min(buffer.length, this.#end - at);
      const { bytesRead } = await this.#file.read(buffer, 0, length, at).catch((error: unknown) => {
        throw ioError(error, this.path);
      });
      if (bytesRead === 0) throw stale(this.path, "became shorter while it was read");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Returns when what was written would survive a loss of power. */
  async sync(): Promise<void> {
    try {
      await this.#file.datasync();
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

  /** Closes and removes the file. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }
}
