import { DEFAULT_MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { LF } from "../../bytes/ascii.ts";
import { peek } from "../../bytes/peek.ts";
import { MementoMapError } from "../../errors.ts";
import type { CdxCursor } from "../../harvest/cdx-request.ts";
import { resumeEnd } from "../../harvest/cdx-request.ts";
import { LineTally } from "../../harvest/line-tally.ts";
import { detectFormat } from "../../input/detect.ts";
import type { Interrupt } from "../interrupt.ts";
import { lockFile } from "../lock-file.ts";
import type { HarvestNote } from "./harvest-files.ts";
import {
  areCounts,
  finishHarvest,
  forgetHarvest,
  harvestTarget,
  isFinished,
  readNote,
  writeNote,
} from "./harvest-files.ts";
import { PartFile } from "./part-file.ts";
import type { Answer } from "./polite-client.ts";
import { CutAnswer } from "./polite-client.ts";

/** Longer than any resume key, and than the first lines of an index. */
const TAIL_BYTES = 1 << 14;

/** What is remembered between runs. */
interface HarvestState extends HarvestNote {
  readonly query: number;
  readonly cursor?: CdxCursor | undefined;
  readonly bytes: number;
  readonly lines: number;
  readonly pages: number;
}

/** The lines fetched so far, and what is remembered of them. */
export class HarvestStore {
  state: HarvestState;
  /** As the user named it. */
  readonly #path: string;
  readonly #target: string;
  readonly #part: PartFile;
  readonly #unlock: () => void;
  readonly #isFinished: boolean;

  private constructor(
    path: string,
    target: string,
    part: PartFile,
    state: HarvestState,
    isFinished: boolean,
    unlock: () => void,
  ) {
    this.#path = path;
    this.#target = target;
    this.#part = part;
    this.#isFinished = isFinished;
    this.#unlock = unlock;
    this.state = state;
  }

  /** @throws MM_USAGE when what an earlier run left does not fit, MM_IO, also for a second run */
  static async open(path: string, harvest: string, interrupt?: Interrupt): Promise<HarvestStore> {
    const target = await harvestTarget(path);
    const unlock = await lockFile(target, interrupt);
    try {
      const note = await readNote(target, harvest, isState);
      const state = note ?? { harvest, query: 0, bytes: 0, lines: 0, pages: 0 };
      const isDone = await isFinished(target, note);
      const part = await PartFile.open(`${target}.part`, isDone ? 0 : state.bytes);
      return new HarvestStore(path, target, part, state, isDone, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /**
   * Writes an answer behind the last whole page; returns its lines.
   *
   * @param isAlone whether nothing else is to be in the index.
   */
  async writePage(answer: Answer, { paging }: CdxCursor, isAlone: boolean): Promise<number> {
    await this.#part.cutTo(this.state.bytes);
    const { head, chunks } = await peek(answer.chunks, TAIL_BYTES);
    const isArray = !isResumeKeyOnly(paging, head) && isJsonArray(head, answer.source);
    if (isArray && (paging !== "stream" || !isAlone)) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        "the server answers with an array in JSON, and pages of such cannot be put together; leave output=json out of its address",
        { position: { source: answer.source } },
      );
    }
    const tally = new LineTally(isArray ? Infinity : DEFAULT_MAX_LINE_BYTES, answer.source);
    for await (const chunk of chunks) {
      tally.add(chunk);
      await this.#part.write(chunk);
    }
    if (!tally.isWithinLine) return tally.lines;
    if (!answer.isEndMarked) throw new CutAnswer("the answer ends in the middle of a line");
    await this.#part.write(Uint8Array.of(LF));
    return tally.lines + 1;
  }

  /** Cuts the resume key off the page just written, with its lines. */
  async takeResumeKey(): Promise<{ readonly key: string | undefined; readonly lines: number }> {
    const { end } = this.#part;
    let tail = "";
    for await (const chunk of this.#part.chunks(Math.max(this.state.bytes, end - TAIL_BYTES))) {
      tail += Buffer.from(chunk).toString("latin1");
    }
    const found = resumeEnd(tail);
    if (found === undefined) return { key: undefined, lines: 0 };
    await this.#part.cutTo(end - found.length);
    return found;
  }

  /** Remembers that a page is whole. */
  async commitPage(cursor: CdxCursor | undefined, lines: number): Promise<void> {
    const { state } = this;
    await this.#part.sync();
    this.state = {
      ...state,
      query: cursor === undefined ? state.query + 1 : state.query,
      cursor,
      bytes: this.#part.end,
      lines: state.lines + lines,
      pages: state.pages + 1,
    };
    await writeNote(this.#target, this.state);
  }

  /** Makes the index of what was fetched. */
  async finish(): Promise<void> {
    await (this.#isFinished
      ? forgetHarvest(this.#target, [this.#part])
      : finishHarvest(this.#path, this.#target, this.#part, this.state));
  }

  async close(): Promise<void> {
    try {
      // Of a harvest without any page there is nothing to go on from.
      await (this.state.pages === 0 ? this.#part.remove() : this.#part.close());
    } finally {
      this.#unlock();
    }
  }
}

/** A page may have no lines, and still not be the last. */
function isResumeKeyOnly(paging: CdxCursor["paging"], head: Uint8Array): boolean {
  if (paging !== "resume") return false;
  const text = Buffer.from(head).toString("latin1");
  return resumeEnd(text)?.length === text.length;
}

/** @throws MM_BAD_INPUT for what is no index. */
function isJsonArray(head: Uint8Array, source: string): boolean {
  return detectFormat(head, "auto", source).container === "json-array";
}

function isState(value: Partial<HarvestState>): value is HarvestState {
  const { query, cursor, bytes, lines, pages } = value;
  return areCounts(query, bytes, lines, pages) && (cursor === undefined || isCursor(cursor));
}

function isCursor(cursor: CdxCursor | null): boolean {
  switch (cursor?.paging) {
    case "resume":
      return typeof cursor.key === "string";
    case "pages":
      return areCounts(cursor.page, cursor.pages);
    case "stream":
      return true;
    case undefined:
    default:
      return false;
  }
}
