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
export function* writeTimeMap(
  document: TimeMapDocument,
  format: TimeMapFormat,
): Generator<Uint8Array, void, undefined> {
  let block = "";
  for (const text of WRITERS[format].timeMap(document)) {
    block += text;
    if (block.length < BLOCK_LENGTH) continue;
    yield ENCODER.encode(block);
    block = "";
  }
  yield ENCODER.encode(block);
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
  return ENCODER.encode(WRITERS[format].description(document, closest));
}

/** The value of the `Link` header of a TimeGate's answer: what a description says, in ASCII. */
export function timeGateLinks(document: TimeMapDocument, closest: number): string {
  return linkDescription(document, closest)
    .trimEnd()
    .replaceAll("\n", " ")
    .replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent);
}

type Texts = Generator<string, void, undefined>;

interface Writer {
  readonly timeMap: (document: TimeMapDocument) => Texts;
  readonly description: (document: TimeMapDocument, closest: number) => string;
}

const WRITERS: Readonly<Record<TimeMapFormat, Writer>> = {
  link: { timeMap: linkTimeMap, description: linkDescription },
  json: { timeMap: jsonTimeMap, description: jsonDescription },
  cdxj: { timeMap: cdxjTimeMap, description: cdxjDescription },
};

const BLOCK_LENGTH = 64 * 1024;
const ENCODER = new TextEncoder();
const NO_RELS: readonly string[] = [];

/** The mementos that are written, each with what it stands out as. */
function* writtenMementos(
  document: TimeMapDocument,
  write: (document: TimeMapDocument, index: number, rels: readonly string[]) => string,
): Texts {
  const marked = new Map(
    landmarks(document.mementos.count).map(({ index, rels }) => [index, rels]),
  );
  const { start, end } = writtenRange(document);
  for (let i = start; i < end; i++) yield write(document, i, marked.get(i) ?? NO_RELS);
}

function* linkTimeMap(document: TimeMapDocument): Texts {
  const { paging } = document;
  yield link(document.original, 'rel="original"');
  const page =
    paging?.current === undefined ? "" : times(pageEntry(document, paging, paging.current, "link"));
  yield link(selfUri(document, "link"), `rel="self"; type="${TIMEMAP_TYPES.link}"${page}`);
  yield* writtenMementos(document, linkMemento);
  for (const i of paging?.pages.keys() ?? []) {
    if (paging === undefined || i === paging.current) continue;
    const entry = pageEntry(document, paging, i, "link");
    yield link(entry.uri, `rel="timemap"; type="${TIMEMAP_TYPES.link}"${times(entry)}`);
  }
  yield relatedLinks(document);
}

function linkDescription(document: TimeMapDocument, closest: number): string {
  const links = landmarks(document.mementos.count, closest).map(({ index, rels }) => {
    // "closest" is not a registered relation: it is what the description is of.
    const registered = rels.filter((rel) => rel !== "closest");
    return linkMemento(document, index, registered);
  });
  return link(document.original, 'rel="original"') + links.join("") + relatedLinks(document);
}

function linkMemento(
  { mementos }: TimeMapDocument,
  index: number,
  rels: readonly string[],
): string {
  const rel = rels.length === 0 ? "memento" : `${rels.join(" ")} memento`;
  const datetime = formatHttpDate(mementos.datetimeAt(index));
  return `<${safe(mementos.uriAt(index))}>; rel="${rel}"; datetime="${datetime}",\n`;
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

function* jsonTimeMap(document: TimeMapDocument): Texts {
  const { mementos, paging, original } = document;
  yield `{\n  "original_uri": ${quoted(original)},\n`;
  yield `  "self": ${quoted(selfUri(document, "json"))},\n`;
  if (paging !== undefined && paging.current === undefined) {
    const pages = pageObjects(document, paging, "json").map(
      (page) => `    ${JSON.stringify(page)}`,
    );
    yield `  "timemap_index": [\n${pages.join(",\n")}\n  ],\n`;
  } else {
    yield '  "mementos": {\n    "list": [\n';
    const { start } = writtenRange(document);
    yield* writtenMementos(document, (_document, i) => {
      const item = `      ${jsonMemento(document, i, "      ")}`;
      return i === start ? item : `,\n${item}`;
    });
    const marks = landmarkText(document, landmarks(mementos.count));
    yield `\n    ]${marks === "" ? "" : ",\n"}${marks}\n  },\n`;
    if (paging?.current !== undefined) {
      yield `  "pages": ${JSON.stringify(neighbours(document, paging, paging.current, "json"))},\n`;
    }
  }
  yield relatedText(document);
}

function jsonDescription(document: TimeMapDocument, closest: number): string {
  const marks = landmarkText(document, landmarks(document.mementos.count, closest));
  return `{\n  "original_uri": ${quoted(document.original)},\n  "mementos": {\n${marks}\n  },\n${relatedText(document)}`;
}

function jsonMemento({ mementos }: TimeMapDocument, index: number, indent: string): string {
  const datetime = formatRfc3339(mementos.datetimeAt(index));
  const uri = quoted(mementos.uriAt(index));
  return `{\n${indent}  "datetime": "${datetime}",\n${indent}  "uri": ${uri}\n${indent}}`;
}

function landmarkText(document: TimeMapDocument, marks: readonly Landmark[]): string {
  return marks
    .flatMap(({ index, rels }) =>
      rels.map((rel) => `    "${rel}": ${jsonMemento(document, index, "    ")}`),
    )
    .join(",\n");
}

interface PageObject {
  readonly from: string;
  readonly until: string;
  readonly uri: string;
}

function pageObject({ from, until, uri }: PageEntry): PageObject {
  return { from: formatRfc3339(from), until: formatRfc3339(until), uri };
}

function pageObjects(
  document: TimeMapDocument,
  paging: TimeMapPaging,
  format: "json" | "cdxj",
): PageObject[] {
  return paging.pages.map((_, page) => pageObject(pageEntry(document, paging, page, format)));
}

/** The pages before and behind one, those there are. */
function neighbours(
  document: TimeMapDocument,
  paging: TimeMapPaging,
  current: number,
  format: "json" | "cdxj",
): { readonly prev?: PageObject | undefined; readonly next?: PageObject | undefined } {
  const pages = pageObjects(document, paging, format);
  return { prev: pages[current - 1], next: pages[current + 1] };
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

function* cdxjTimeMap(document: TimeMapDocument): Texts {
  const { paging } = document;
  yield CONTEXT;
  yield `!id {"uri": ${quoted(selfUri(document, "cdxj"))}}\n`;
  yield cdxjHeaders(document);
  if (paging?.current !== undefined) {
    const pages = neighbours(document, paging, paging.current, "cdxj");
    yield `!meta ${JSON.stringify({ pages })}\n`;
  } else if (paging !== undefined) {
    const pages = pageObjects(document, paging, "cdxj");
    yield `!meta ${JSON.stringify({ timemap_index: pages })}\n`;
  }
  yield* writtenMementos(document, cdxjMemento);
}

function cdxjDescription(document: TimeMapDocument, closest: number): string {
  const lines = landmarks(document.mementos.count, closest).map(({ index, rels }) =>
    cdxjMemento(document, index, rels),
  );
  return CONTEXT + cdxjHeaders(document) + lines.join("");
}

function cdxjHeaders(document: TimeMapDocument): string {
  return (
    '!keys ["memento_datetime_YYYYMMDDhhmmss"]\n' +
    `!meta {"original_uri": ${quoted(document.original)}}\n` +
    `!meta {"timegate_uri": ${quoted(timeGateUri(document))}}\n` +
    `!meta {"timemap_uri": {"link_format": ${quoted(selfUri(document, "link"))}, ` +
    `"json_format": ${quoted(selfUri(document, "json"))}, ` +
    `"cdxj_format": ${quoted(selfUri(document, "cdxj"))}}}\n`
  );
}

function cdxjMemento(
  { mementos }: TimeMapDocument,
  index: number,
  rels: readonly string[],
): string {
  const datetime = mementos.datetimeAt(index);
  const rel = [...rels, "memento"].join(" ");
  return `${formatDatetime(datetime)} {"uri": ${quoted(mementos.uriAt(index))}, "rel": "${rel}", "datetime": "${formatHttpDate(datetime)}"}\n`;
}
