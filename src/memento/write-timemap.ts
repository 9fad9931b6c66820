import {
  type Landmark,
  landmarks,
  pageEntry,
  type PageEntry,
  selfUri,
  timeGateUri,
  TIMEMAP_FORMATS,
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
  type TimeMapPaging,
  writtenRange,
} from "./timemap-document.ts";
import { copyRange } from "../bytes/bytes.ts";
import { formatDatetime, formatHttpDate, formatRfc3339 } from "./datetime.ts";

/**
 * Writes a TimeMap, byte for byte as MemGator lays it out, in blocks of about 64 KiB.
 *
 * Where MemGator's would not be valid it differs: JSON is escaped, and `<`, `>` and control
 * characters in the targets of links are percent-encoded. Where the TimeMap is cut in pages, a page
 * says which time it covers and names the others: in link-format all of them, in JSON and CDXJ its
 * neighbours in `pages`. An index names all of them, in `timemap_index`.
 *
 * A block is the taker's. Holds one block.
 *
 * @example
 * ```ts
 * import { mergeTimeMaps, readTimeMap, writeTimeMap } from "mementomap";
 *
 * const { mementos } = await readTimeMap(
 *   new Blob(['<http://x.example/1>; rel="memento"; datetime="Mon, 01 Jan 2018 00:00:00 GMT"']),
 * );
 * const merged = mergeTimeMaps([{ archive: 0, mementos }]);
 * const document = { original: "http://a.org/", service: "http://localhost:1208", mementos: merged };
 * for (const block of writeTimeMap(document, "cdxj")) {
 *   console.log(new TextDecoder().decode(block).split("\n").at(-2));
 * }
 * ```
 * ```
 * 20180101000000 {"uri": "http://x.example/1", "rel": "first last memento", "datetime": "Mon, 01 Jan 2018 00:00:00 GMT"}
 * ```
 */
export function writeTimeMap(
  document: TimeMapDocument,
  format: TimeMapFormat,
): Generator<Uint8Array, void, undefined> {
  return WRITERS[format].timeMap(document);
}

/**
 * Writes which memento is the closest to a moment, those next to it, and the first and last of all.
 *
 * @param closest its place among the mementos, which must not be empty.
 */
export function describeMemento(
  document: TimeMapDocument,
  format: TimeMapFormat,
  closest: number,
): Uint8Array {
  return WRITERS[format].description(document, closest);
}

const WRITERS = {
  link: { timeMap: linkTimeMap, description: linkDescription },
  json: { timeMap: jsonTimeMap, description: jsonDescription },
  cdxj: { timeMap: cdxjTimeMap, description: cdxjDescription },
};

const BLOCK_BYTES = 64 * 1024;
/** What the last text of a block is expected to have beyond it. */
const SPARE_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);
/** The most bytes of UTF-8 that a UTF-16 unit takes. */
const MAX_BYTES_OF_UNIT = 3;
const ENCODER = new TextEncoder();

/**
 * Gathers what is written in blocks of about 64 KiB.
 *
 * To write bytes directly, reserve room first, write into `bytes` from `at`, and set `at`.
 */
class BlockWriter {
  bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  at = 0;
  #nextCapacity: number;

  /** @param expectedBytes of all that will be written, so that short texts take little room. */
  constructor(expectedBytes: number) {
    this.#nextCapacity = Math.min(BLOCK_BYTES + SPARE_BYTES, expectedBytes);
  }

  /** Whether a block is ready to be taken. */
  get isFull(): boolean {
    return this.at >= BLOCK_BYTES;
  }

  /** Makes room for this many bytes. */
  reserve(length: number): void {
    const needed = this.at + length;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#nextCapacity));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
    this.#nextCapacity = larger.length * 2;
  }

  text(text: string): void {
    this.reserve(text.length * MAX_BYTES_OF_UNIT);
    this.at += ENCODER.encodeInto(text, this.bytes.subarray(this.at)).written;
  }

  /** The same of ASCII, which is short in most places. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.at = at;
  }

  /** The URI of a memento. */
  uri({ mementos }: TimeMapDocument, index: number): void {
    this.reserve(mementos.uriLengthAt(index));
    this.at = mementos.copyUri(index, this.bytes, this.at);
  }

  /** Takes what was gathered; the block is the taker's. */
  take(): Uint8Array<ArrayBuffer> {
    const block = this.bytes.subarray(0, this.at);
    this.bytes = NO_BYTES;
    this.#nextCapacity = BLOCK_BYTES + SPARE_BYTES;
    this.at = 0;
    return block;
  }
}

/** What bytes are written as that would end a target, or a line; others are undefined. */
const ESCAPES: readonly (Uint8Array | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0x7f || byte === 0x3c || byte === 0x3e
    ? ENCODER.encode(percentEncoded(byte))
    : undefined,
);

/** Writes a TimeMap in link-format, in blocks; see `writeTimeMap`. */
function* linkTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
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
function linkDescription(document: TimeMapDocument, closest: number): Uint8Array {
  const out = new BlockWriter(4096);
  out.text(link(document.original, 'rel="original"'));
  for (const { index, rels } of landmarks(document.mementos.count, closest)) {
    // "closest" is not a registered relation: it is what the description is of.
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
  document: TimeMapDocument,
  index: number,
  rels: readonly string[],
): void {
  const { mementos } = document;
  out.ascii("<");
  const uriStart = out.at;
  out.uri(document, index);
  if (!mementos.isPlain) escapeFrom(out, uriStart);
  const rel = rels.length === 0 ? "memento" : `${rels.join(" ")} memento`;
  out.ascii(`>; rel="${rel}"; datetime="${formatHttpDate(mementos.datetimeAt(index))}",\n`);
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

/** Writes a TimeMap in JSON, in blocks; see `writeTimeMap`. */
function* jsonTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
  const { mementos, paging, original } = document;
  const { start, end } = writtenRange(document);
  const out = new BlockWriter(2048 + original.length * 8 + (end - start) * 256);
  out.text(`{\n  "original_uri": ${quoted(original)},\n`);
  out.text(`  "self": ${quoted(selfUri(document, "json"))},\n`);
  if (paging !== undefined && paging.current === undefined) {
    out.text(`  "timemap_index": [\n${indexText(document, paging)}\n  ],\n`);
  } else {
    out.text('  "mementos": {\n    "list": [\n');
    for (let i = start; i < end; i++) {
      if (i > start) out.text(",\n");
      writeItem(out, document, i);
      if (out.isFull) yield out.take();
    }
    const marks = landmarkText(document, landmarks(mementos.count));
    out.text(`\n    ]${marks === "" ? "" : ",\n"}${marks}\n  },\n`);
    if (paging?.current !== undefined)
      out.text(`${pagesText(document, paging, paging.current)},\n`);
  }
  out.text(relatedText(document));
  yield out.take();
}

/** Writes the mementos around a moment, in JSON, in a block. */
function jsonDescription(document: TimeMapDocument, closest: number): Uint8Array {
  const marks = landmarkText(document, landmarks(document.mementos.count, closest));
  return ENCODER.encode(
    `{\n  "original_uri": ${quoted(document.original)},\n  "mementos": {\n${marks}\n  },\n${relatedText(document)}`,
  );
}

/** The prev and next pages, as the JSON of a member. */
function pagesMember(
  document: TimeMapDocument,
  paging: TimeMapPaging,
  current: number,
  format: "json" | "cdxj",
): Record<string, PageObject> {
  const pages: Record<string, PageObject> = {};
  const add = (name: string, page: number): void => {
    if (page < 0 || page >= paging.pages.length) return;
    pages[name] = pageObject(pageEntry(document, paging, page, format));
  };
  add("prev", current - 1);
  add("next", current + 1);
  return pages;
}

interface PageObject {
  readonly from: string;
  readonly until: string;
  readonly uri: string;
}

function pageObject({ from, until, uri }: PageEntry): PageObject {
  return { from: formatRfc3339(from), until: formatRfc3339(until), uri };
}

function writeItem(out: BlockWriter, document: TimeMapDocument, index: number): void {
  const { mementos } = document;
  const datetime = formatRfc3339(mementos.datetimeAt(index));
  out.ascii(`      {\n        "datetime": "${datetime}",\n        "uri": `);
  if (mementos.isPlain) {
    out.ascii('"');
    out.uri(document, index);
    out.ascii('"');
  } else {
    out.text(quoted(mementos.uriAt(index)));
  }
  out.ascii("\n      }");
}

function landmarkText({ mementos }: TimeMapDocument, marks: readonly Landmark[]): string {
  const members: string[] = [];
  for (const { index, rels } of marks) {
    const datetime = formatRfc3339(mementos.datetimeAt(index));
    const uri = quoted(mementos.uriAt(index));
    for (const rel of rels) {
      members.push(`    "${rel}": {\n      "datetime": "${datetime}",\n      "uri": ${uri}\n    }`);
    }
  }
  return members.join(",\n");
}

function indexText(document: TimeMapDocument, paging: TimeMapPaging): string {
  return paging.pages
    .map(
      (_, page) => `    ${JSON.stringify(pageObject(pageEntry(document, paging, page, "json")))}`,
    )
    .join(",\n");
}

function pagesText(document: TimeMapDocument, paging: TimeMapPaging, current: number): string {
  return `  "pages": ${JSON.stringify(pagesMember(document, paging, current, "json"))}`;
}

function relatedText(document: TimeMapDocument): string {
  return (
    `  "timemap_uri": {\n` +
    `    "link_format": ${quoted(selfUri(document, "link"))},\n` +
    `    "json_format": ${quoted(selfUri(document, "json"))},\n` +
    `    "cdxj_format": ${quoted(selfUri(document, "cdxj"))}\n  },\n` +
    `  "timegate_uri": ${quoted(timeGateUri(document))}\n}\n`
  );
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

const CONTEXT = '!context ["https://oduwsdl.github.io/contexts/memento"]\n';

/** Writes a TimeMap in CDXJ, in blocks; see `writeTimeMap`. */
function* cdxjTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
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
function cdxjDescription(document: TimeMapDocument, closest: number): Uint8Array {
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
function writeLine(out: BlockWriter, document: TimeMapDocument, index: number): void {
  const datetime = document.mementos.datetimeAt(index);
  out.ascii(`${formatDatetime(datetime)} {"uri": "`);
  out.uri(document, index);
  out.ascii(`", "rel": "memento", "datetime": "${formatHttpDate(datetime)}"}\n`);
}
