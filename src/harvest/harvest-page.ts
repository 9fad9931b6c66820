import { formatAmount } from "../format.ts";
import { lineBatches, MAX_LINE_BYTES, wholeLines } from "../bytes/lines.ts";
import { countLines, LF, looksLikeHtml } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { AnswerRows, isRoundCount } from "./answer-check.ts";
import { badAnswer, type CdxCursor, htmlAnswer, resumeEnd } from "./cdx-request.ts";
import { detectFormat } from "../input/detect.ts";
import { type Answer, CutAnswer } from "./polite-client.ts";
import type { ResumableFile, ResumeNote } from "./resumable-file.ts";

/** Longer than any resume key, and than the first lines of an index. */
const TAIL_BYTES = 1 << 14;

export interface HarvestNote extends ResumeNote {
  /** Queries that are done. */
  readonly query: number;
  readonly cursor?: CdxCursor | undefined;
  readonly lines: number;
  readonly pages: number;
  /** Lines that are captures. */
  readonly rows: number;
  /** Why captures may be missing. */
  readonly sampleReason?: string | undefined;
}

type IndexFile = ResumableFile<HarvestNote>;

/**
 * Writes an answer behind the last whole page; returns its lines.
 *
 * @param isAlone whether nothing else is to be in the index.
 */
export async function writePage(
  file: IndexFile,
  answer: Answer,
  { paging }: CdxCursor,
  isAlone: boolean,
): Promise<number> {
  await file.cutTo(file.note.bytes);
  const { head, chunks } = await peek(answer.chunks, TAIL_BYTES);
  const isArray = !isResumeKeyOnly(paging, head) && isJsonArray(head, answer.source);
  if (isArray && (paging !== "stream" || !isAlone)) {
    throw badAnswer(
      answer.source,
      "the server answers with an array in JSON, and pages of such cannot be put together; leave output=json out of its address",
    );
  }
  let lines = 0;
  let last: number | undefined = LF;
  const parts = isArray
    ? chunks // which may be one line of any length
    : wholeLines(chunks, answer.source, MAX_LINE_BYTES, () => lines);
  for await (const part of parts) {
    lines += countLines(part);
    last = part.at(-1) ?? last;
    await file.write(part);
  }
  if (isArray) checkArray(lines, answer.source);
  if (last === LF) return lines;
  if (!answer.isEndMarked) throw new CutAnswer("the answer ends in the middle of a line");
  await file.write(Uint8Array.of(LF));
  return lines + 1;
}

/** Cuts the resume key off the page just written, with its lines. */
export async function takeResumeKey(
  file: IndexFile,
): Promise<{ readonly key: string | undefined; readonly lines: number }> {
  const { end } = file;
  let tail = "";
  for await (const chunk of file.chunks(Math.max(file.note.bytes, end - TAIL_BYTES))) {
    tail += Buffer.from(chunk).toString("latin1");
  }
  const found = resumeEnd(tail);
  if (found === undefined) return { key: undefined, lines: 0 };
  await file.cutTo(end - found.length);
  return found;
}

/** What is known of the rows of the page just written. */
export async function pageRows(file: IndexFile): Promise<AnswerRows> {
  const rows = new AnswerRows();
  const decoder = new TextDecoder("latin1");
  const options = { source: file.path, maxLineBytes: Infinity };
  for await (const batch of lineBatches(file.chunks(file.note.bytes), options)) {
    const { bytes, starts, ends, count } = batch;
    for (let i = 0; i < count; i++) {
      // Keys and datetimes are at the start of a line.
      const end = Math.min(ends[i], starts[i] + TAIL_BYTES);
      rows.add(decoder.decode(bytes.subarray(starts[i], end)));
    }
  }
  return rows;
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
  const text = Buffer.from(head).toString("latin1");
  return detectFormat(head, "auto", source).name === "json" && /^\s*\[/.test(text);
}
