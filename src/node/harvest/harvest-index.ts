import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { MementoMapError } from "../../errors.ts";
import type { CdxCursor, CdxPaging, CdxQuery } from "../../harvest/cdx-request.ts";
import {
  cursorOfProbe,
  nextCursor,
  pageUrl,
  probeUrl,
  splitResumeKey,
} from "../../harvest/cdx-request.ts";
import { detectFormat } from "../../input/detect.ts";
import { ioError, systemCode } from "../io-error.ts";
import type { PoliteOptions } from "./polite-client.ts";
import { PoliteClient } from "./polite-client.ts";

export interface HarvestOptions extends PoliteOptions {
  /** How the server pages; found out by default. */
  readonly paging?: CdxPaging | undefined;
  /** Lines to ask for at a time, where the server lets us say; 10,000 by default. */
  readonly linesPerPage?: number | undefined;
  /** Told of lines as they come. */
  readonly onLines?: ((lines: number) => void) | undefined;
}

export interface HarvestSummary {
  readonly lines: number;
  readonly bytes: number;
  readonly pages: number;
  readonly requests: number;
  /** Lines that an earlier run had fetched already. */
  readonly resumedLines: number;
}

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

const DEFAULT_LINES_PER_PAGE = 10_000;
/** Longer than any resume key. */
const TAIL_BYTES = 1 << 14;

/**
 * Fetches the index of an archive from its CDX server into a file.
 *
 * While it is fetched, the lines are in `FILE.part` and how far it got in `FILE.part.json`. The
 * same harvest begun again, after an interruption or an error, goes on behind the last whole page.
 * The file appears when all is there. Holds one chunk.
 *
 * @throws MM_IO, MM_BAD_INPUT when the answers are no index, MM_INTERRUPTED
 */
export async function harvestIndex(
  api: string,
  queries: readonly CdxQuery[],
  target: string,
  options: HarvestOptions = {},
): Promise<HarvestSummary> {
  const client = new PoliteClient(options);
  const store = await HarvestStore.open(target, harvestName(api, queries));
  const resumedLines = store.state.lines;
  try {
    while (store.state.query < queries.length) {
      const query = queries[store.state.query];
      const cursor = store.state.cursor ?? (await firstCursor(api, query, client, options));
      await fetchPage(api, query, cursor, client, store, options);
    }
    await store.finish();
  } finally {
    await store.close();
  }
  const { lines, bytes, pages } = store.state;
  return { lines, bytes, pages, requests: client.requests, resumedLines };
}

async function firstCursor(
  api: string,
  query: CdxQuery,
  client: PoliteClient,
  { paging }: HarvestOptions,
): Promise<CdxCursor> {
  if (paging === "resume") return { paging, key: undefined };
  if (paging === "stream") return { paging };
  const cursor = cursorOfProbe(await client.ask(probeUrl(api, query), textOf));
  if (paging !== "pages" || cursor.paging === "pages") return cursor;
  throw new MementoMapError("MM_USAGE", "the server does not say how many pages there are", {
    position: { source: api },
  });
}

/** At most a little text; an answer to a probe is short, and if it is not, its start is enough. */
async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > TAIL_BYTES) break;
  }
  return text;
}

async function fetchPage(
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  client: PoliteClient,
  store: HarvestStore,
  options: HarvestOptions,
): Promise<void> {
  const url = pageUrl(api, query, cursor, options.linesPerPage ?? DEFAULT_LINES_PER_PAGE);
  let next: CdxCursor | undefined;
  let lines = 0;
  if (url !== undefined) {
    lines = await client.ask(url, (chunks) => store.writePage(chunks, url));
    const key = cursor.paging === "resume" ? await store.takeResumeKey() : undefined;
    if (key !== undefined) lines -= 2;
    next = nextCursor(cursor, key);
  }
  await store.commitPage(next, lines);
  options.onLines?.(lines);
}

function harvestName(api: string, queries: readonly CdxQuery[]): string {
  return createHash("sha256")
    .update(JSON.stringify([api, queries]))
    .digest("hex");
}

/** The lines fetched so far, and what is remembered of them. */
class HarvestStore {
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
    try {
      const file = await open(`${target}.part`, state.bytes === 0 ? "w+" : "r+");
      await file.truncate(state.bytes);
      return new HarvestStore(target, file, state);
    } catch (error) {
      throw ioError(error, `${target}.part`);
    }
  }

  /** Writes an answer behind the last whole page; returns its lines. */
  async writePage(chunks: AsyncIterable<Uint8Array>, url: string): Promise<number> {
    const start = this.state.bytes;
    await this.#file.truncate(start);
    this.#end = start;
    let lines = 0;
    let last = 0x0a;
    let isFirst = true;
    for await (const chunk of chunks) {
      if (chunk.length === 0) continue;
      if (isFirst) detectFormat(chunk.subarray(0, TAIL_BYTES), "auto", url);
      isFirst = false;
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines++;
      last = chunk[chunk.length - 1];
      await this.#write(chunk);
    }
    if (last !== 0x0a) {
      await this.#write(Uint8Array.of(0x0a));
      lines++;
    }
    return lines;
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
    await writeFile(`${path}.new`, JSON.stringify(this.state));
    await rename(`${path}.new`, path);
  }

  async finish(): Promise<void> {
    await this.close();
    await rename(`${this.#target}.part`, this.#target);
    await rm(`${this.#target}.part.json`, { force: true });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
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
    `${what}; give another -o, or remove it and the .part file beside it to begin anew`,
    { position: { source: path }, cause },
  );
}
