import { badInput } from "../errors.ts";
import { lineBatches } from "../bytes/lines.ts";
import { byteString, LF, looksLikeHtml } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { AnswerRows } from "./answer-check.ts";
import { type CdxCursor, htmlAnswer, resumeEnd } from "./cdx-request.ts";
import { detectFormat } from "../input/detect.ts";
import { type Answer, CutAnswer } from "./polite-client.ts";
import type { ResumableFile, ResumeNote } from "./resumable-file.ts";

/** Enough for any resume key, and for the first lines of an index. */
const TAIL_BYTES = 1 << 14;

export interface HarvestNote extends ResumeNote {
  /** Number of completed queries. */
  readonly query: number;
  readonly cursor?: CdxCursor | undefined;
  readonly lines: number;
  readonly pages: number;
  /** Lines that are captures. */
  readonly rows: number;
  /** Why captures may be missing. */
  readonly sampleReason?: string | undefined;
}

/** The result of writing a response. */
interface WrittenPage {
  readonly lines: number;
  readonly rows: AnswerRows;
  /** Found at its end, and not written. */
  readonly resumeKey: string | undefined;
}

/** Writes a response after the last complete page. */
export async function writePage(
  file: ResumableFile<HarvestNote>,
  { chunks: answered, source, isEndMarked }: Answer,
  { paging }: CdxCursor,
): Promise<WrittenPage> {
  await file.cutTo(file.note.bytes);
  const { head, chunks } = await peek(answered, TAIL_BYTES);
  const start = byteString(head, 0, head.length);
  // A page without lines is not necessarily the last.
  const isEnd = paging === "resume" && resumeEnd(start)?.length === start.length;
  if (!isEnd) assertIndexLines(start, head, source);
  const rows = new AnswerRows();
  let lines = 0;
  let tail = "";
  for await (const { bytes, starts, ends, count } of lineBatches(chunks, { source })) {
    for (let i = 0; i < count; i++) rows.add(byteString(bytes, starts[i], ends[i]));
    lines += count;
    tail += byteString(bytes, Math.max(0, bytes.length - TAIL_BYTES), bytes.length);
    tail = tail.slice(-TAIL_BYTES);
    await file.write(bytes);
  }
  if (tail !== "" && !tail.endsWith("\n")) {
    if (!isEndMarked) throw new CutAnswer("the response ends in the middle of a line");
    await file.write(Uint8Array.of(LF));
    tail += "\n";
  }
  const end = paging === "resume" ? resumeEnd(tail) : undefined;
  if (end === undefined) return { lines, rows, resumeKey: undefined };
  await file.cutTo(file.end - end.length);
  rows.count--;
  return { lines: lines - end.lines, rows, resumeKey: end.key };
}

/** @throws MM_BAD_INPUT for anything but a line-based index. */
function assertIndexLines(text: string, head: Uint8Array, source: string): void {
  if (looksLikeHtml(text)) throw htmlAnswer(source);
  if (detectFormat(head, "auto", source).name !== "json" || !/^\s*\[/.test(text)) return;
  throw badInput(
    source,
    "the server returned a JSON array, whose pages cannot be concatenated; remove output=json from its URL",
  );
}
