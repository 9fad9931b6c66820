import { copyRange } from "../bytes/copy.ts";
import { BlockWriter } from "./block-writer.ts";
import { HTTP_DATE_BYTES, writeHttpDate } from "./datetime-bytes.ts";
import { formatHttpDate } from "./datetime.ts";
import {
  landmarks,
  pageEntry,
  selfUri,
  TIMEMAP_FORMATS,
  TIMEMAP_TYPES,
  timeGateUri,
  type TimeMapDocument,
  writtenRange,
} from "./timemap-document.ts";

const ENCODER = new TextEncoder();
const REL_OPEN = ENCODER.encode('>; rel="');
const DATETIME_OPEN = ENCODER.encode('memento"; datetime="');
const LINK_END = ENCODER.encode('",\n');
const LESS = 0x3c;
/** Of a memento's link, without its URI and relations. */
const LINK_BYTES: number =
  1 + REL_OPEN.length + DATETIME_OPEN.length + HTTP_DATE_BYTES + LINK_END.length;
/** What bytes are written as that would end a target, or a line; others are undefined. */
const ESCAPES: readonly (Uint8Array | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0x7f || byte === 0x3c || byte === 0x3e
    ? ENCODER.encode(percentEncoded(byte))
    : undefined,
);

/** Writes a TimeMap in link-format, in blocks; see `writeTimeMap`. */
export function* linkTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
  const { mementos, paging, original } = document;
  const { start, end } = writtenRange(document);
  const out = new BlockWriter(2048 + original.length * 8 + (end - start) * 256);
  out.text(link(original, 'rel="original"'));
  const page =
    paging?.current === undefined ? "" : times(pageEntry(document, paging, paging.current, "link"));
  out.text(link(selfUri(document, "link"), `rel="self"; type="${TIMEMAP_TYPES.link}"${page}`));
  const marked = new Map(landmarks(mementos.count).map(({ index, rels }) => [index, rels]));
  for (let i = start; i < end; i++) {
    writeMemento(out, document, i, marked.get(i) ?? NO_RELS);
    if (out.isFull) yield out.take();
  }
  if (paging !== undefined) {
    for (let i = 0; i < paging.pages.length; i++) {
      if (i === paging.current) continue;
      const entry = pageEntry(document, paging, i, "link");
      out.text(link(entry.uri, `rel="timemap"; type="${TIMEMAP_TYPES.link}"${times(entry)}`));
      if (out.isFull) yield out.take();
    }
  }
  out.text(relatedLinks(document));
  yield out.take();
}

/** Writes the mementos around a moment, in link-format, in a block. */
export function linkDescription(document: TimeMapDocument, closest: number): Uint8Array {
  const out = new BlockWriter(4096);
  out.text(link(document.original, 'rel="original"'));
  for (const { index, rels } of landmarks(document.mementos.count, closest)) {
    // The closest is no relation that is registered: it is what the description is of.
    const registered = rels.filter((rel) => rel !== "closest");
    writeMemento(out, document, index, registered);
  }
  out.text(relatedLinks(document));
  return out.take();
}

/** The value of the `Link` header of a TimeGate's answer: what a description says, in ASCII. */
export function timeGateLinks(document: TimeMapDocument, closest: number): string {
  const text = new TextDecoder().decode(linkDescription(document, closest));
  return text
    .trimEnd()
    .replaceAll("\n", " ")
    .replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent);
}

const NO_RELS: readonly string[] = [];

function writeMemento(
  out: BlockWriter,
  { mementos }: TimeMapDocument,
  index: number,
  rels: readonly string[],
): void {
  const uriBytes = mementos.uriLengthAt(index);
  out.reserve(LINK_BYTES + uriBytes);
  out.bytes[out.at++] = LESS;
  const uriStart = out.at;
  out.at = mementos.copyUri(index, out.bytes, uriStart);
  if (!mementos.isPlain) escapeFrom(out, uriStart);
  if (rels.length > 0) {
    out.text(`>; rel="${rels.join(" ")} `);
    out.reserve(LINK_BYTES);
  } else {
    out.reserve(LINK_BYTES);
    out.at = copyRange(REL_OPEN, 0, REL_OPEN.length, out.bytes, out.at);
  }
  const { bytes } = out;
  let at = copyRange(DATETIME_OPEN, 0, DATETIME_OPEN.length, bytes, out.at);
  at = writeHttpDate(mementos.datetimeAt(index), bytes, at);
  out.at = copyRange(LINK_END, 0, LINK_END.length, bytes, at);
}

/** Escapes what was written last. */
function escapeFrom(out: BlockWriter, start: number): void {
  let at = start;
  while (at < out.at && ESCAPES[out.bytes[at]] === undefined) at++;
  if (at === out.at) return;
  const raw = out.bytes.slice(at, out.at);
  out.reserve(raw.length * 3);
  for (const byte of raw) {
    const escape = ESCAPES[byte];
    if (escape === undefined) out.bytes[at++] = byte;
    else at = copyRange(escape, 0, escape.length, out.bytes, at);
  }
  out.at = at;
}

/** TimeMaps in all formats, and the TimeGate. */
function relatedLinks(document: TimeMapDocument): string {
  const { paging } = document;
  let text = "";
  for (const format of TIMEMAP_FORMATS) {
    // Where there are pages, one that tells no time of its own would be taken for another page.
    if (format === "link" && paging !== undefined) continue;
    text += link(selfUri(document, format), `rel="timemap"; type="${TIMEMAP_TYPES[format]}"`);
  }
  return `${text}<${safe(timeGateUri(document))}>; rel="timegate"\n`;
}

function times({ from, until }: { readonly from: number; readonly until: number }): string {
  return `; from="${formatHttpDate(from)}"; until="${formatHttpDate(until)}"`;
}

function link(target: string, parameters: string): string {
  return `<${safe(target)}>; ${parameters},\n`;
}

/** A target that ends where it should. */
function safe(target: string): string {
  return target.replaceAll(/[\p{Cc}<>]/gu, encodeURIComponent);
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
