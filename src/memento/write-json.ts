import { QUOTE } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import { BlockWriter } from "./block-writer.ts";
import { RFC_3339_BYTES, writeRfc3339 } from "./datetime-bytes.ts";
import { formatRfc3339 } from "./datetime.ts";
import {
  type Landmark,
  landmarks,
  type PageEntry,
  pageEntry,
  selfUri,
  timeGateUri,
  type TimeMapDocument,
  type TimeMapPaging,
  writtenRange,
} from "./timemap-document.ts";

const ENCODER = new TextEncoder();
const ITEM_OPEN = ENCODER.encode('      {\n        "datetime": "');
const URI_OPEN = ENCODER.encode('",\n        "uri": ');
const ITEM_END = ENCODER.encode("\n      }");
/** Of an item of the list, without its URI. */
const ITEM_BYTES: number =
  ITEM_OPEN.length + RFC_3339_BYTES + URI_OPEN.length + 2 + ITEM_END.length + 2;

/** Writes a TimeMap in JSON, in blocks; see `writeTimeMap`. */
export function* jsonTimeMap(document: TimeMapDocument): Generator<Uint8Array, void, undefined> {
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
export function jsonDescription(document: TimeMapDocument, closest: number): Uint8Array {
  const marks = landmarkText(document, landmarks(document.mementos.count, closest));
  return ENCODER.encode(
    `{\n  "original_uri": ${quoted(document.original)},\n  "mementos": {\n${marks}\n  },\n${relatedText(document)}`,
  );
}

/** The prev and next pages, as the JSON of a member. */
export function pagesMember(
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

export interface PageObject {
  readonly from: string;
  readonly until: string;
  readonly uri: string;
}

export function pageObject({ from, until, uri }: PageEntry): PageObject {
  return { from: formatRfc3339(from), until: formatRfc3339(until), uri };
}

function writeItem(out: BlockWriter, { mementos }: TimeMapDocument, index: number): void {
  out.reserve(ITEM_BYTES + mementos.uriLengthAt(index));
  let at = copyRange(ITEM_OPEN, 0, ITEM_OPEN.length, out.bytes, out.at);
  at = writeRfc3339(mementos.datetimeAt(index), out.bytes, at);
  out.at = copyRange(URI_OPEN, 0, URI_OPEN.length, out.bytes, at);
  if (mementos.isPlain) {
    out.bytes[out.at] = QUOTE;
    at = mementos.copyUri(index, out.bytes, out.at + 1);
    out.bytes[at] = QUOTE;
    out.at = at + 1;
  } else {
    out.text(quoted(mementos.uriAt(index)));
    out.reserve(ITEM_END.length);
  }
  out.at = copyRange(ITEM_END, 0, ITEM_END.length, out.bytes, out.at);
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
