import { DEFAULT_MAX_LINE_BYTES, lineBatches } from "../bytes/lines.ts";
import { LF, looksLikeHtml } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { formatAmount, MementoMapError } from "../errors.ts";
import { AnswerRows, isRoundCount } from "./answer-check.ts";
import {
  badAnswer,
  type CdxCursor,
  htmlAnswer,
  resumeEnd,
  type TimeWindow,
} from "./cdx-request.ts";
import { detectFormat } from "../input/detect.ts";
import type { Interrupt } from "../interruption.ts";
import { areCounts, HarvestFiles, type HarvestNote, type PartFile } from "./harvest-files.ts";
import { type Answer, CutAnswer } from "./polite-client.ts";

/** Longer than any resume key, and than the first lines of an index. */
const TAIL_BYTES = 1 << 14;

interface HarvestState extends HarvestNote {
  readonly query: number;
  readonly cursor?: CdxCursor | undefined;
  readonly bytes: number;
  readonly lines: number;
  readonly pages: number;
  /** Lines that are captures; notes of earlier versions lack it. */
  readonly rows?: number | undefined;
  /** Why captures may be missing. */
  readonly sampleReason?: string | undefined;
}

/** The lines fetched so far, and what is remembered of them. */
export class HarvestStore {
  readonly #files: HarvestFiles<HarvestState>;
  readonly #part: PartFile;

  private constructor(files: HarvestFiles<HarvestState>) {
    this.#files = files;
    [this.#part] = files.parts;
  }

  /** @throws MM_USAGE when what an earlier run left does not fit, MM_IO, also for a second run */
  static async open(path: string, harvest: string, interrupt?: Interrupt): Promise<HarvestStore> {
    const start = { harvest, query: 0, bytes: 0, lines: 0, pages: 0, rows: 0 };
    const parts = ({ bytes }: HarvestState): [[string, number]] => [[".part", bytes]];
    return new HarvestStore(
      await HarvestFiles.open<HarvestState>(path, { start, isWhole: isState, parts, interrupt }),
    );
  }

  get state(): HarvestState {
    return this.#files.note;
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
      throw badAnswer(
        answer.source,
        "the server answers with an array in JSON, and pages of such cannot be put together; leave output=json out of its address",
      );
    }
    const tally = new LineTally(isArray ? Infinity : DEFAULT_MAX_LINE_BYTES, answer.source);
    for await (const chunk of chunks) {
      tally.add(chunk);
      await this.#part.write(chunk);
    }
    if (isArray) checkArray(tally.lines, answer.source);
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

  get rows(): number {
    return this.state.rows ?? this.state.lines;
  }

  /** What is known of the rows of the page just written. */
  async pageRows(window: TimeWindow): Promise<AnswerRows> {
    const rows = new AnswerRows(window);
    const decoder = new TextDecoder("latin1");
    const options = { source: this.#part.path, maxLineBytes: Infinity };
    for await (const batch of lineBatches(this.#part.chunks(this.state.bytes), options)) {
      const { bytes, starts, ends, count } = batch;
      for (let i = 0; i < count; i++) {
        // Keys and datetimes are at the start of a line.
        rows.add(
          decoder.decode(bytes.subarray(starts[i], Math.min(ends[i], starts[i] + TAIL_BYTES))),
        );
      }
    }
    return rows;
  }

  /** Remembers that a page is whole, or as much of it as there is to have. */
  async commitPage(
    cursor: CdxCursor | undefined,
    page: { readonly lines: number; readonly rows: number },
    sampleReason?: string,
  ): Promise<void> {
    const { state } = this;
    await this.#part.sync();
    await this.#files.commit({
      ...state,
      query: cursor === undefined ? state.query + 1 : state.query,
      cursor,
      bytes: this.#part.end,
      lines: state.lines + page.lines,
      pages: state.pages + 1,
      rows: this.rows + page.rows,
      sampleReason: state.sampleReason ?? sampleReason,
    });
  }

  async forgetPage(): Promise<void> {
    await this.#part.cutTo(this.state.bytes);
  }

  /** Takes back the page just written, to ask for its rows in another way. */
  async dropPage(cursor: CdxCursor): Promise<void> {
    await this.forgetPage();
    await this.#files.commit({ ...this.state, cursor });
  }

  async finish(source: string): Promise<void> {
    const isSample = this.state.sampleReason !== undefined;
    await this.#files.finish(isSample ? `!meta ${JSON.stringify({ sample: true, source })}\n` : "");
  }

  /** Removes what was fetched, and forgets how far it got. */
  async discard(): Promise<void> {
    await this.#files.discard();
  }

  async close(): Promise<void> {
    await this.#files.close(this.state.pages === 0);
  }
}

/** @throws MM_BAD_INPUT when an array in JSON, a row a line, may be cut: it cannot be continued. */
function checkArray(lines: number, source: string): void {
  const rows = [lines, lines - 1, lines - 2].find(isRoundCount);
  if (rows === undefined) return;
  throw badAnswer(
    source,
    `the server sent ${formatAmount(rows, "row")}, which may be a limit, as an array in JSON, which cannot be continued; leave output=json out of its address`,
  );
}

/** A page may have no lines, and still not be the last. */
function isResumeKeyOnly(paging: CdxCursor["paging"], head: Uint8Array): boolean {
  if (paging !== "resume") return false;
  const text = Buffer.from(head).toString("latin1");
  return resumeEnd(text)?.length === text.length;
}

/** @throws MM_BAD_INPUT for anything but an index. */
function isJsonArray(head: Uint8Array, source: string): boolean {
  if (looksLikeHtml(Buffer.from(head).toString("latin1"))) throw htmlAnswer(source);
  return detectFormat(head, "auto", source).container === "json-array";
}

function isState(value: Partial<HarvestState>): value is HarvestState {
  const { query, cursor, bytes, lines, pages, rows } = value;
  return (
    areCounts(query, bytes, lines, pages, rows ?? 0) && (cursor === undefined || isCursor(cursor))
  );
}

function isWindow({ from, to }: TimeWindow): boolean {
  return [from, to].every((end) => end === undefined || /^\d{1,14}$/.test(end));
}

function isCursor(cursor: CdxCursor | null): boolean {
  switch (cursor?.paging) {
    case "resume":
      return typeof cursor.key === "string";
    case "pages":
      return areCounts(cursor.page, cursor.pages, cursor.checkedRows ?? 0);
    case "stream":
      return cursor.windows === undefined || cursor.windows.every(isWindow);
    case undefined:
    default:
      return false;
  }
}

/** Counts lines as they come, and rejects those that are too long to read. Holds two numbers. */
export class LineTally {
  lines = 0;
  readonly #maxLineBytes: number;
  readonly #source: string;
  #openBytes = 0;

  constructor(maxLineBytes: number, source: string) {
    this.#maxLineBytes = maxLineBytes;
    this.#source = source;
  }

  /** Whether the last line lacks its end. */
  get isWithinLine(): boolean {
    return this.#openBytes > 0;
  }

  /** @throws MM_LIMIT as soon as a line is too long. */
  add(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#grow(end - start);
      this.#openBytes = 0;
      this.lines++;
      start = end + 1;
    }
    this.#grow(chunk.length - start);
  }

  #grow(bytes: number): void {
    this.#openBytes += bytes;
    // One byte more may be the CR of the end.
    if (this.#openBytes <= this.#maxLineBytes + 1) return;
    throw new MementoMapError("MM_LIMIT", `the line is longer than ${this.#maxLineBytes} bytes`, {
      position: { source: this.#source, line: this.lines + 1 },
    });
  }
}
