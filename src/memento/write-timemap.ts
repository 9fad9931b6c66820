import {
  type Landmark,
  landmarks,
  pageEntries,
  type PageEntry,
  selfUri,
  timeGateUri,
  TIMEMAP_FORMATS,
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
  timeMapUris,
  writtenRange,
} from "./timemap-document.ts";
import { formatDatetime, formatHttpDate, formatRfc3339 } from "./datetime.ts";

/**
 * Writes a TimeMap, byte for byte in MemGator's layout, in blocks of about 64 KiB.
 *
 * It differs where MemGator's output would be invalid: JSON is escaped, and `<`, `>` and control characters in link
 * targets are percent-encoded. A page of a TimeMap states the period it covers and links to the others: in
 * link-format to all of them, in JSON and CDXJ to its neighbours in `pages`.
 *
 * The caller owns each block. Holds one block.
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
 * Describes the memento closest to a datetime, with its neighbours and the first and last memento.
 *
 * @param closest the index of the memento; the list must not be empty.
 */
export function describeMemento(
  document: TimeMapDocument,
  format: TimeMapFormat,
  closest: number,
): Uint8Array {
  return ENCODER.encode(WRITERS[format].description(document, closest));
}

/** The `Link` header of a TimeGate response: the description in link-format, in ASCII. */
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

/** The mementos to write, each with its special relations. */
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
  const pages = pageEntries(document, "link", formatHttpDate);
  const current = document.paging?.current;
  const own = current === undefined ? "" : times(pages[current]);
  yield link(document.original, 'rel="original"');
  yield link(selfUri(document, "link"), `rel="self"; type="${TIMEMAP_TYPES.link}"${own}`);
  yield* writtenMementos(document, linkMemento);
  for (const [i, page] of pages.entries()) {
    if (i === current) continue;
    yield link(page.uri, `rel="timemap"; type="${TIMEMAP_TYPES.link}"${times(page)}`);
  }
  yield relatedLinks(document);
}

function linkDescription(document: TimeMapDocument, closest: number): string {
  const links = landmarks(document.mementos.count, closest).map(({ index, rels }) => {
    // "closest" is not a registered relation.
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
    // With paging, a TimeMap link without a period would be read as another page.
    if (format === "link" && paging !== undefined) continue;
    text += link(selfUri(document, format), `rel="timemap"; type="${TIMEMAP_TYPES[format]}"`);
  }
  return `${text}<${safe(timeGateUri(document))}>; rel="timegate"\n`;
}

function times({ from, until }: PageEntry): string {
  return `; from="${from}"; until="${until}"`;
}

function link(target: string, parameters: string): string {
  return `<${safe(target)}>; ${parameters},\n`;
}

/** Escapes characters that would end the target early. */
function safe(target: string): string {
  return target.replaceAll(/[\p{Cc}<>]/gu, encodeURIComponent);
}

function* jsonTimeMap(document: TimeMapDocument): Texts {
  const { mementos, original } = document;
  yield `{\n  "original_uri": ${quoted(original)},\n`;
  yield `  "self": ${quoted(selfUri(document, "json"))},\n`;
  yield '  "mementos": {\n    "list": [\n';
  const { start } = writtenRange(document);
  yield* writtenMementos(document, (_document, i) => {
    const item = `      ${jsonMemento(document, i, "      ")}`;
    return i === start ? item : `,\n${item}`;
  });
  const marks = landmarkText(document, landmarks(mementos.count));
  yield `\n    ]${marks === "" ? "" : ",\n"}${marks}\n  },\n`;
  const pages = neighbours(document, "json");
  if (pages !== undefined) yield `  "pages": ${JSON.stringify(pages)},\n`;
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

/** The pages before and after the current one; undefined without paging. */
function neighbours(
  document: TimeMapDocument,
  format: "json" | "cdxj",
): { readonly prev: PageEntry | undefined; readonly next: PageEntry | undefined } | undefined {
  if (document.paging === undefined) return undefined;
  const entries = pageEntries(document, format, formatRfc3339);
  const { current } = document.paging;
  return { prev: entries[current - 1], next: entries[current + 1] };
}

/** The last members of a JSON document. */
function relatedText(document: TimeMapDocument): string {
  const related = { timemap_uri: timeMapUris(document), timegate_uri: timeGateUri(document) };
  return `${JSON.stringify(related, undefined, 2).slice(2)}\n`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

const CONTEXT = '!context ["https://oduwsdl.github.io/contexts/memento"]\n';

function* cdxjTimeMap(document: TimeMapDocument): Texts {
  yield CONTEXT;
  yield `!id {"uri": ${quoted(selfUri(document, "cdxj"))}}\n`;
  yield cdxjHeaders(document);
  const pages = neighbours(document, "cdxj");
  if (pages !== undefined) yield `!meta ${JSON.stringify({ pages })}\n`;
  yield* writtenMementos(document, cdxjMemento);
}

function cdxjDescription(document: TimeMapDocument, closest: number): string {
  const lines = landmarks(document.mementos.count, closest).map(({ index, rels }) =>
    cdxjMemento(document, index, rels),
  );
  return CONTEXT + cdxjHeaders(document) + lines.join("");
}

function cdxjHeaders(document: TimeMapDocument): string {
  const uris = Object.entries(timeMapUris(document)).map(
    ([name, uri]) => `"${name}": ${quoted(uri)}`,
  );
  return (
    '!keys ["memento_datetime_YYYYMMDDhhmmss"]\n' +
    `!meta {"original_uri": ${quoted(document.original)}}\n` +
    `!meta {"timegate_uri": ${quoted(timeGateUri(document))}}\n` +
    `!meta {"timemap_uri": {${uris.join(", ")}}}\n`
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
