import { formatAmount } from "../format.ts";
import { badInput } from "../errors.ts";
import { lineBatches, MAX_LINE_BYTES } from "../bytes/lines.ts";
import { byteString, LF, looksLikeHtml } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { AnswerRows, isRoundCount } from "./answer-check.ts";
import { type CdxCursor, htmlAnswer, resumeEnd } from "./cdx-request.ts";
import { detectFormat } from "../input/detect.ts";
import { type Answer, CutAnswer } from "./polite-client.ts";
import type { ResumableFile, ResumeNote } from "./resumable-file.ts";

/** Longer than any resume key, than the first lines of an index, and than key and datetime of a row. */
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

/** What was written of an answer. */
interface WrittenPage {
  readonly lines: number;
  readonly rows: AnswerRows;
  /** Found at its end, and left out. */
  readonly resumeKey: string | undefined;
}

/**
 * Writes an answer behind the last whole page.
 *
 * @param isAlone whether nothing else is to be in the index.
 */
export async function writePage(
  file: ResumableFile<HarvestNote>,
  answer: Answer,
  { paging }: CdxCursor,
  isAlone: boolean,
): Promise<WrittenPage> {
  const { source } = answer;
  await file.cutTo(file.note.bytes);
  const { head, chunks } = await peek(answer.chunks, TAIL_BYTES);
  const isArray = isJsonArray(byteString(head, 0, head.length), head, paging, source);
  if (isArray && (paging !== "stream" || !isAlone)) {
    throw badInput(
      source,
      "the server answers with an array in JSON, and pages of such cannot be put together; leave output=json out of its address",
    );
  }
  const rows = new AnswerRows();
  let lines = 0;
  let tail = "";
  // An array may be one line of any length.
  const maxLineBytes = isArray ? Infinity : MAX_LINE_BYTES;
  for await (const batch of lineBatches(chunks, { source, maxLineBytes })) {
    const { bytes, starts, ends, count } = batch;
    for (let i = 0; i < count; i++) {
      rows.add(byteString(bytes, starts[i], Math.min(ends[i], starts[i] + TAIL_BYTES)));
    }
    lines += count;
    tail += byteString(bytes, Math.max(0, bytes.length - TAIL_BYTES), bytes.length);
    tail = tail.slice(-TAIL_BYTES);
    await file.write(bytes);
  }
  if (isArray) checkArray(lines, source);
  if (tail !== "" && !tail.endsWith("\n")) {
    if (!answer.isEndMarked) throw new CutAnswer("the answer ends in the middle of a line");
    await file.write(Uint8Array.of(LF));
    tail += "\n";
  }
  const end = paging === "resume" ? resumeEnd(tail) : undefined;
  if (end === undefined) return { lines, rows, resumeKey: undefined };
  await file.cutTo(file.end - end.length);
  rows.count--;
  return { lines: lines - end.lines, rows, resumeKey: end.key };
}

/** @throws MM_BAD_INPUT when an array in JSON, a row a line, may be cut: it cannot be continued. */
function checkArray(lines: number, source: string): void {
  const rows = [lines, lines - 1, lines - 2].find(isRoundCount);
  if (rows === undefined) return;
  throw badInput(
    source,
    `the server sent ${formatAmount(rows, "row")}, which may be a limit, as an array in JSON, which cannot be continued; leave output=json out of its address`,
  );
}

/** @throws MM_BAD_INPUT for anything but an index. */
function isJsonArray(
  text: string,
  head: Uint8Array,
  paging: CdxCursor["paging"],
  source: string,
): boolean {
  // A page may have no lines, and still not be the last.
  if (paging === "resume" && resumeEnd(text)?.length === text.length) return false;
  if (looksLikeHtml(text)) throw htmlAnswer(source);
  return detectFormat(head, "auto", source).name === "json" && /^\s*\[/.test(text);
}
