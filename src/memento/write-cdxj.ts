import { copyRange } from "../bytes/copy.ts";
import { BlockWriter } from "./block-writer.ts";
import {
  DATETIME_DIGITS,
  HTTP_DATE_BYTES,
  writeDatetime,
  writeHttpDate,
} from "./datetime-bytes.ts";
import { formatDatetime, formatHttpDate } from "./datetime.ts";
import {
  landmarks,
  pageEntry,
  selfUri,
  timeGateUri,
  type TimeMapDocument,
  writtenRange,
} from "./timemap-document.ts";
import { pageObject, pagesMember } from "./write-json.ts";

const ENCODER = new TextEncoder();
const URI_OPEN = ENCODER.encode(' {"uri": "');
const REL = ENCODER.encode('", "rel": "memento", "datetime": "');
const LINE_END = ENCODER.encode('"}\n');
/** Of a line, without its URI. */
const LINE_BYTES: number =
  DATETIME_DIGITS + URI_OPEN.length + REL.length + HTTP_DATE_BYTES + LINE_END.length;
const CONTEXT = '!context ["https://oduwsdl.github.io/contexts/memento"]\n';

/** Writes a TimeMap in CDXJ, in blocks; see `writeTimeMap`. */
export function* cdxjTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
  const { mementos, paging, original } = document;
  const { start, end } = writtenRange(document);
  const out = new BlockWriter(2048 + original.length * 8 + (end - start) * 256);
  out.text(CONTEXT);
  out.text(`!id {"uri": ${quoted(selfUri(document, "cdxj"))}}\n`);
  out.text(headers(document));
  if (paging?.current !== undefined) {
    const pages = pagesMember(document, paging, paging.current, "cdxj");
    out.text(`!meta ${JSON.stringify({ pages })}\n`);
  } else if (paging !== undefined) {
    const index = paging.pages.map((_, i) => pageObject(pageEntry(document, paging, i, "cdxj")));
    out.text(`!meta ${JSON.stringify({ timemap_index: index })}\n`);
  }
  const marked = new Map(landmarks(mementos.count).map(({ index, rels }) => [index, rels]));
  for (let i = start; i < end; i++) {
    const rels = marked.get(i);
    if (rels === undefined && mementos.isPlain) writeLine(out, document, i);
    else out.text(line(document, i, rels ?? []));
    if (out.isFull) yield out.take();
  }
  yield out.take();
}

/** Writes the mementos around a moment, in CDXJ, in a block. */
export function cdxjDescription(document: TimeMapDocument, closest: number): Uint8Array {
  let text = CONTEXT + headers(document);
  for (const { index, rels } of landmarks(document.mementos.count, closest)) {
    text += line(document, index, rels);
  }
  return ENCODER.encode(text);
}

function headers(document: TimeMapDocument): string {
  return (
    '!keys ["memento_datetime_YYYYMMDDhhmmss"]\n' +
    `!meta {"original_uri": ${quoted(document.original)}}\n` +
    `!meta {"timegate_uri": ${quoted(timeGateUri(document))}}\n` +
    `!meta {"timemap_uri": {"link_format": ${quoted(selfUri(document, "link"))}, ` +
    `"json_format": ${quoted(selfUri(document, "json"))}, ` +
    `"cdxj_format": ${quoted(selfUri(document, "cdxj"))}}}\n`
  );
}

/** A line as a text, of any memento. */
function line({ mementos }: TimeMapDocument, index: number, rels: readonly string[]): string {
  const datetime = mementos.datetimeAt(index);
  const rel = [...rels, "memento"].join(" ");
  return `${formatDatetime(datetime)} {"uri": ${quoted(mementos.uriAt(index))}, "rel": "${rel}", "datetime": "${formatHttpDate(datetime)}"}\n`;
}

/** The same for one that stands out in nothing and needs no escapes, as most. */
function writeLine(out: BlockWriter, { mementos }: TimeMapDocument, index: number): void {
  const datetime = mementos.datetimeAt(index);
  out.reserve(LINE_BYTES + mementos.uriLengthAt(index));
  const { bytes } = out;
  let at = writeDatetime(datetime, bytes, out.at);
  at = copyRange(URI_OPEN, 0, URI_OPEN.length, bytes, at);
  at = mementos.copyUri(index, bytes, at);
  at = copyRange(REL, 0, REL.length, bytes, at);
  at = writeHttpDate(datetime, bytes, at);
  out.at = copyRange(LINE_END, 0, LINE_END.length, bytes, at);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
