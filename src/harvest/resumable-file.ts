import { createHash } from "node:crypto";
import { type FileHandle, open, realpath, rm, stat } from "node:fs/promises";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { compressorFor } from "../files/compress.ts";
import { copyToOutput, withOutput } from "../files/output-file.ts";
import { lockFile, readJson, writeJson } from "../files/shared-files.ts";
import type { Interrupt } from "../interruption.ts";

/** State stored between runs. */
export interface ResumeNote {
  /** Bytes of the part file that are complete. */
  readonly bytes: number;
}

/** The stored form of a note. */
interface StoredNote<T extends ResumeNote> {
  /** Identifies the server and the requests, so that another harvest does not continue this file. */
  readonly harvest: string;
  readonly note: T;
}

interface ResumeOptions<T extends ResumeNote> {
  /** The server and the requests. */
  readonly harvest: unknown;
  /** The note of a new file. */
  readonly start: T;
  /** The first bytes of a new file. */
  readonly head?: string | undefined;
  readonly interrupt?: Interrupt | undefined;
}

/**
 * A file that is completed over several runs.
 *
 * The bytes are in `FILE.part`; `FILE.part.json` records how many of them are complete and where to
 * continue; `FILE` appears at the end. A lock excludes a second run. Errors are MM_IO and name the
 * path.
 */
export class ResumableFile<T extends ResumeNote> {
  note: T;
  /** The path of the part file. */
  readonly path: string;
  /** Offset of the next byte. */
  end: number;
  /** The path as passed, which may be a link to the target. */
  readonly #name: string;
  readonly #notePath: string;
  readonly #part: FileHandle;
  readonly #harvest: string;
  readonly #interrupt: Interrupt | undefined;
  readonly #unlock: () => void;
  #isOpen = true;

  private constructor(
    [name, target]: readonly [name: string, target: string],
    part: FileHandle,
    note: T,
    { harvest, interrupt }: ResumeOptions<T>,
    unlock: () => void,
  ) {
    this.#name = name;
    this.path = partPath(target);
    this.#notePath = notePath(target);
    this.#part = part;
    this.note = note;
    this.end = note.bytes;
    this.#harvest = digest(harvest);
    this.#interrupt = interrupt;
    this.#unlock = unlock;
  }

  /** @throws MM_USAGE when the files of an earlier run do not match, MM_IO, also for a second run */
  static async open<T extends ResumeNote>(
    path: string,
    options: ResumeOptions<T>,
  ): Promise<ResumableFile<T>> {
    const { harvest, start, head = "", interrupt } = options;
    const target = await targetOf(path);
    const unlock = await lockFile(target, interrupt);
    let file: ResumableFile<T> | undefined;
    try {
      const found = await readNote<T>(notePath(target), digest(harvest));
      const note = found ?? start;
      const part = await openPart(partPath(target), note.bytes);
      file = new ResumableFile([path, target], part, note, options, unlock);
      if (found === undefined) await file.write(Buffer.from(head));
      return file;
    } catch (error) {
      await (file === undefined ? unlock() : file.close(true));
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const writing = this.#part.write(bytes, at, bytes.length - at, this.end);
      const { bytesWritten } = await this.#checked(writing);
      at += bytesWritten;
      this.end += bytesWritten;
    }
  }

  /** Truncates the part file. */
  async cutTo(bytes: number): Promise<void> {
    await this.#checked(this.#part.truncate(bytes));
    this.end = bytes;
  }

  /** Marks everything written so far as complete, and stores the state for a later run. */
  async commit(changes: Omit<T, "bytes">): Promise<void> {
    await this.#checked(this.#part.datasync());
    const note = { ...this.note, ...changes, bytes: this.end };
    this.note = note;
    const stored: StoredNote<T> = { harvest: this.#harvest, note };
    await writeJson(this.#notePath, stored, this.#interrupt);
  }

  /**
   * Creates the file from the complete part file, and removes the part and the note. If that fails, or
   * the process is killed, the next run does it.
   *
   * @param head the first bytes of the file, if they are not in the part.
   */
  async finish(head: string = ""): Promise<void> {
    const options = { stdout: process.stdout, interrupt: this.#interrupt };
    await withOutput(this.#name, options, async (output) => {
      await output.write(Buffer.from(head));
      await copyToOutput(this.path, output);
    });
    await this.discard();
  }

  /** Removes everything but the finished file. */
  async discard(): Promise<void> {
    await this.#closePart();
    await rm(this.path, { force: true });
    await rm(this.#notePath, { force: true });
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
    return call.catch((error: unknown) => {
      throw ioError(error, this.path);
    });
  }
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function partPath(target: string): string {
  return `${target}.part`;
}

function notePath(target: string): string {
  return `${target}.part.json`;
}

/**
 * Opens the part file of an earlier run, truncated to `bytes`; with 0, starts over.
 *
 * @throws MM_USAGE when the file has fewer bytes, MM_IO
 */
async function openPart(path: string, bytes: number): Promise<FileHandle> {
  const file = await open(path, bytes === 0 ? "w+" : "r+").catch((error: unknown) => {
    throw bytes > 0 && systemCode(error) === "ENOENT"
      ? stale(path, "the partial download is missing", error)
      : ioError(error, path);
  });
  try {
    const { size } = await file.stat();
    if (size < bytes) throw stale(path, `the partial download has only ${size} of ${bytes} bytes`);
    await file.truncate(bytes);
    return file;
  } catch (error) {
    await file.close();
    throw ioError(error, path);
  }
}

/**
 * The final path of the file; links are followed and stay.
 *
 * @throws MM_IO when the path is not a plain file, MM_USAGE when its compression is not supported: both
 *   would otherwise be detected only after everything has been fetched.
 */
async function targetOf(path: string): Promise<string> {
  compressorFor(path);
  try {
    const found = await stat(path);
    if (found.isFile()) return await realpath(path);
    const what = found.isDirectory() ? "is a directory" : "is not a plain file";
    throw new MementoMapError("MM_IO", `${what}; name a file`, { position: { source: path } });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return path;
    throw ioError(error, path);
  }
}

/** @throws MM_USAGE when the note belongs to another harvest; MM_IO */
async function readNote<T extends ResumeNote>(
  path: string,
  harvest: string,
): Promise<T | undefined> {
  const stored = await readJson<StoredNote<T>>(path);
  if (stored !== undefined && stored.harvest !== harvest)
    throw stale(path, "belongs to another harvest");
  return stored?.note;
}

/** An error about the files of an earlier run. */
function stale(path: string, what: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${what}; use another -o, or remove the .part and .part.json files to start over`,
    { position: { source: path }, cause },
  );
}
