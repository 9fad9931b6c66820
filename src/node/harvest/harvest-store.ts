import type { FileHandle } from "node:fs/promises";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { LF } from "../../bytes/ascii.ts";
import { peek } from "../../bytes/peek.ts";
import { MementoMapError } from "../../errors.ts";
import type { CdxCursor, CdxPaging } from "../../harvest/cdx-request.ts";
import { splitResumeKey } from "../../harvest/cdx-request.ts";
import { detectFormat } from "../../input/detect.ts";
import { ioError, systemCode } from "../io-error.ts";
import type { Answer } from "./polite-client.ts";
import { CutAnswer } from "./polite-client.ts";

/** Longer than any resume key, and than the first lines of an index. */
const TAIL_BYTES = 1 << 14;

/** What is remembered between runs. */
interface HarvestState {
  /** Names the server and the questions; another harvest must not go on from here. */
  readonly harvest: string;
  readonly query: number;
  readonly cursor: CdxCursor | undefined;
  readonly bytes: number;
  readonly lines: number;
  readonly pages: number;
}

/** The lines fetched so far, and what is remembered of them. */
export class HarvestStore {
  state: HarvestState;
  readonly #target: string;
  readonly #file: FileHandle;
  #end: number;
  #isOpen = true;

  private constructor(target: string, file: FileHandle, state: HarvestState) {
    this.#target = target;
    this.#file = file;
    this.#end = state.bytes;
    this.state = state;
  }

  static async open(target: string, harvest: string): Promise<HarvestStore> {
    const state = (await readState(target, harvest)) ?? {
      harvest,
      query: 0,
      cursor: undefined,
      bytes: 0,
      lines: 0,
      pages: 0,
    };
    const path = `${target}.part`;
    const found = await stat(target).catch(() => undefined);
    // It would be known only when all is fetched.
    if (found?.isDirectory() === true) {
      throw new MementoMapError("MM_IO", "is a directory; name a file", {
        position: { source: target },
      });
    }
    try {
      const file = await open(path, state.bytes === 0 ? "w+" : "r+");
      const { size } = await file.stat();
      if (size < state.bytes) {
        await file.close();
        throw stale(path, `has only ${size} of ${state.bytes} bytes`);
      }
      await file.truncate(state.bytes);
      return new HarvestStore(target, file, state);
    } catch (error) {
      if (state.bytes > 0 && systemCode(error) === "ENOENT") {
        throw stale(`${path}.json`, "tells of a .part file that is gone", error);
      }
      throw ioError(error, path);
    }
  }

  /** Writes an answer behind the last whole page; returns its lines. */
  async writePage(answer: Answer, url: string, paging: CdxPaging): Promise<number> {
    const start = this.state.bytes;
    await this.#file.truncate(start);
    this.#end = start;
    const { head, chunks } = await peek(answer.chunks, TAIL_BYTES);
    if (paging !== "resume" || !hasOnlyResumeKey(head)) detectFormat(head, "auto", url);
    let lines = 0;
    let last = LF;
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines++;
      last = chunk.at(-1) ?? last;
      await this.#write(chunk);
    }
    if (last === LF) return lines;
    if (!answer.isEndMarked) throw new CutAnswer("the answer ends in the middle of a line");
    await this.#write(Uint8Array.of(LF));
    return lines + 1;
  }

  /** Cuts the resume key off the page just written. */
  async takeResumeKey(): Promise<string | undefined> {
    const from = Math.max(this.state.bytes, this.#end - TAIL_BYTES);
    const { buffer, bytesRead } = await this.#file.read(
      Buffer.alloc(this.#end - from),
      0,
      this.#end - from,
      from,
    );
    const { key, length } = splitResumeKey(buffer.subarray(0, bytesRead).toString("latin1"));
    this.#end -= length;
    await this.#file.truncate(this.#end);
    return key;
  }

  /** Remembers that a page is whole. */
  async commitPage(cursor: CdxCursor | undefined, lines: number): Promise<void> {
    const { state } = this;
    await this.#file.datasync();
    this.state = {
      ...state,
      query: cursor === undefined ? state.query + 1 : state.query,
      cursor,
      bytes: this.#end,
      lines: state.lines + lines,
      pages: state.pages + 1,
    };
    const path = `${this.#target}.part.json`;
    try {
      await writeFile(`${path}.new`, JSON.stringify(this.state));
      await rename(`${path}.new`, path);
    } catch (error) {
      throw ioError(error, path);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.close();
      await rename(`${this.#target}.part`, this.#target);
      await rm(`${this.#target}.part.json`, { force: true });
    } catch (error) {
      throw ioError(error, this.#target);
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
    // Of a harvest without any page there is nothing to go on from.
    if (this.state.pages === 0) await rm(`${this.#target}.part`, { force: true });
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      let at = 0;
      while (at < bytes.length) {
        const { bytesWritten } = await this.#file.write(bytes, at, bytes.length - at, this.#end);
        at += bytesWritten;
        this.#end += bytesWritten;
      }
    } catch (error) {
      throw ioError(error, `${this.#target}.part`);
    }
  }
}

/** A page may have no lines, and still not be the last. */
function hasOnlyResumeKey(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString("latin1");
  const { key, length } = splitResumeKey(text);
  return key !== undefined && text.length === length;
}

async function readState(target: string, harvest: string): Promise<HarvestState | undefined> {
  const path = `${target}.part.json`;
  try {
    const state = JSON.parse(await readFile(path, "utf8")) as HarvestState;
    if (state.harvest === harvest) return state;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error instanceof SyntaxError ? stale(path, "is damaged", error) : ioError(error, path);
  }
  throw stale(path, "is of another harvest");
}

function stale(path: string, what: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `${what}; give another -o, or remove the .part and .part.json files to begin anew`,
    { position: { source: path }, cause },
  );
}
