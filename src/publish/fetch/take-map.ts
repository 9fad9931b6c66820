import { formatAmount } from "../../format.ts";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { isPacked, LF } from "../../bytes/bytes.ts";
import { MemorySource, sourceChunks } from "../../bytes/byte-source.ts";
import { FileSource } from "../../files/input-file.ts";
import { checkPacked, readHead } from "../../packed/read-packed.ts";
import { headersOf } from "../../packed/packed-file.ts";
import { openPackedFile } from "../../lookup/open-map-file.ts";
import { type Output, withOutput } from "../../files/output-file.ts";
import { kindText, sniff } from "../../ukvs/sniff.ts";
import { httpRefusal } from "../../http/http-client.ts";
import { nextPage, pageVersion } from "./discover.ts";
import { mapHeadOf, type PageMark, pageMark, withoutPageMark } from "../../ukvs/head.ts";
import {
  extentOf,
  type MapExtent,
  type MapGuardOptions,
  packedExtent,
  refuseShrunk,
} from "../../maps/map-guard.ts";
import { validateMap } from "../../maps/validate-map.ts";
import { formatHeaders, headerText, SizedHead, type UkvsHeaders } from "../../ukvs/header.ts";
import { decompressed } from "../../files/decompress.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { ioError, isMementoMapError, systemCode } from "../../errors.ts";
import { download, type Download, type DownloadOptions } from "./download.ts";

/** Headers are looked for in so much of the beginning. */
const HEAD_BYTES = 256 * 1024;
const SHOWN_FAULTS = 3;
/** Small, so that the memory of chunks is free again at once: see `DecompressOptions`. */
const CHUNK_BYTES = 16 * 1024;

interface TakeOptions extends MapGuardOptions {
  /** Where it came from, for messages. */
  readonly url: string;
  readonly maxBytes: number;
  readonly interrupt?: Interrupt | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a downloaded map, or the pages of one, and puts it under its name if nothing is wrong.
 *
 * Reads it once, decompressing, checking and writing as it goes. The file under the name changes in
 * one step at the end, or not at all.
 *
 * @throws MM_REFUSED with the first faults; MM_REFUSED, MM_LIMIT or MM_BAD_INPUT for compressed data
 *   that is damaged or a bomb; MM_IO.
 */
export async function takeMap(
  map: string | readonly DownloadedPage[],
  target: string,
  options: TakeOptions,
): Promise<UkvsHeaders> {
  const streams = { stdout: process.stdout, interrupt: options.interrupt };
  if (typeof map === "string" && isPacked(await firstBytes(map, options.maxBytes))) {
    return takePacked(map, target, options);
  }
  return withOutput(target, streams, async (output) => {
    const head = new Head(options.url);
    const faults: string[] = [];
    const lines = passed(mapChunks(map, options), output, head);
    for await (const { line, message } of validateMap(lines, { isOnlyErrors: true })) {
      faults.push(`line ${line}: ${message}`);
      // A file that is not a map has a fault in each line: stop early.
      if (faults.length > 100) break;
    }
    if (faults.length === 0) {
      await refuseLoss(map, target, options);
      return head.headers();
    }
    const shown = faults.slice(0, SHOWN_FAULTS).join("; ");
    const more = faults.length > SHOWN_FAULTS ? ", and more" : "";
    throw httpRefusal(options.url, `the map has faults (${shown}${more})`);
  });
}

/**
 * Checks a downloaded packed map, every part of it, and puts it under its name.
 *
 * @throws MM_BAD_INPUT, MM_CUT for one that is damaged; MM_EMPTY, MM_SHRUNK; MM_IO
 */
async function takePacked(
  path: string,
  target: string,
  options: TakeOptions,
): Promise<UkvsHeaders> {
  const { signal, interrupt, url } = options;
  const file = await FileSource.openPlain(path);
  try {
    // Servers are not meant to compress it; the few that do send small ones.
    const bytes = file ?? new MemorySource(await collected(fileChunks(path, options)), url);
    const source = { name: url, size: bytes.size, read: bytes.read.bind(bytes) };
    const { header } = await checkPacked(source, { signal });
    const old = (options.maxShrink ?? 0) >= 1 ? undefined : await fileExtent(target, signal);
    if (old !== undefined) refuseShrunk(old, packedExtent(header), url, options);
    await withOutput(target, { stdout: process.stdout, interrupt }, async (output) => {
      for await (const chunk of sourceChunks(source, { signal })) await output.write(chunk);
    });
    return headersOf(header);
  } finally {
    await file?.close();
  }
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** How much the map of a file holds; undefined where there is no map that can be read. */
async function fileExtent(
  path: string,
  signal: AbortSignal | undefined,
): Promise<MapExtent | undefined> {
  let packed: FileSource | undefined;
  try {
    packed = await openPackedFile(path);
    if (packed !== undefined) return packedExtent((await readHead(packed, { signal })).header);
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  } finally {
    await packed?.close();
  }
  return extentOf(fileChunks(path, { maxBytes: Infinity, signal }));
}

/** The bytes of the map, whole. */
function mapChunks(
  map: string | readonly DownloadedPage[],
  options: TakeOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  return typeof map === "string" ? fileChunks(map, options) : joinedPages(map, options);
}

/** Refuses a map that has lost too much of the one it would replace. */
async function refuseLoss(
  map: string | readonly DownloadedPage[],
  target: string,
  options: TakeOptions,
): Promise<void> {
  if ((options.maxShrink ?? 0) >= 1) return;
  const old = await fileExtent(target, options.signal);
  if (old === undefined) return;
  const next = await extentOf(mapChunks(map, options));
  if (next !== undefined) refuseShrunk(old, next, options.url, options);
}

/** The bytes of a downloaded file, decompressed. */
async function* fileChunks(
  path: string,
  { maxBytes, signal }: Pick<TakeOptions, "maxBytes" | "signal">,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    const options = { source: path, maxDecompressedBytes: maxBytes, chunkBytes: CHUNK_BYTES };
    for await (const chunk of decompressed(file, options)) {
      checkSignal(signal);
      yield chunk;
    }
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, path);
  } finally {
    file.destroy();
  }
}

/** The headers of all pages, with what they state to hold together if all of them do. */
function headOf(first: UkvsHeaders, pages: readonly DownloadedPage[]): Uint8Array {
  const headers = withoutPageMark(first);
  const sizes = pages.flatMap((page) => page.headers.size ?? []);
  if (sizes.length < pages.length) return headerText(headers);
  return new SizedHead(headers).bytes({
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    records: sizes.reduce((sum, { records }) => sum + records, 0),
  });
}

/** The map that pages make together: its headers once, then the records of each. */
async function* joinedPages(
  pages: readonly DownloadedPage[],
  options: TakeOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [first] = pages;
  yield headOf(first.headers, pages);
  for (const { path, recordsOffset } of pages) {
    let offset = 0;
    for await (const chunk of fileChunks(path, options)) {
      const skipped = Math.max(0, recordsOffset - offset);
      offset += chunk.length;
      if (skipped < chunk.length) yield chunk.subarray(skipped);
    }
  }
}

async function* passed(
  chunks: AsyncIterable<Uint8Array>,
  output: Output,
  head: Head,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    head.take(chunk);
    await output.write(chunk);
    yield chunk;
  }
  head.finish();
}

class Head {
  readonly #url: string;
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws MM_REFUSED when this is the beginning of something else. */
  take(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#length >= HEAD_BYTES) return;
    if (this.#length === 0) {
      const kind = sniff(chunk);
      if (kind !== "map")
        throw httpRefusal(this.#url, `the response is ${kindText(kind)}, not a map`);
    }
    this.#parts.push(chunk.slice(0, HEAD_BYTES));
    this.#length += chunk.length;
  }

  finish(): void {
    if (this.#length === 0) throw httpRefusal(this.#url, "the map is empty");
  }

  headers(): UkvsHeaders {
    const bytes = Buffer.concat(this.#parts);
    const end = bytes.lastIndexOf(LF) + 1;
    return mapHeadOf(bytes.subarray(0, end), this.#url).headers;
  }
}

export interface DownloadedPage {
  readonly fetched: Download;
  readonly path: string;
  readonly mark: PageMark;
  readonly headers: UkvsHeaders;
  /** Where its records begin, decompressed. */
  readonly recordsOffset: number;
}

/** Reads what a download says about pages; undefined for a map that is whole, or no map. */
export async function pageOf(
  path: string,
  fetched: Download,
  maxBytes: number,
): Promise<DownloadedPage | undefined> {
  const start = await firstBytes(path, maxBytes);
  if (sniff(start) !== "map") return undefined;
  const whole = start.subarray(0, start.lastIndexOf(LF) + 1);
  const { headers, recordsOffset } = mapHeadOf(whole, fetched.part.url);
  const mark = pageMark(headers, fetched.part.url);
  return mark === undefined ? undefined : { fetched, path, mark, headers, recordsOffset };
}

/**
 * Follows the links from the first page of a map to its last, downloading each.
 *
 * Links are taken from the `Link` header, and from the page itself where a server of plain files
 * sends none. Pages must be of one version, in order, and on one site.
 *
 * @throws MM_REFUSED when they are not; MM_HTTP, MM_IO.
 */
export async function fetchPages(
  first: DownloadedPage,
  folder: string,
  options: DownloadOptions & { readonly maxPages: number },
): Promise<DownloadedPage[]> {
  const { of } = first.mark;
  const { url } = first.fetched.part;
  if (first.mark.number !== 1)
    throw httpRefusal(url, `the map begins with page ${first.mark.number}`);
  if (of > options.maxPages) {
    throw httpRefusal(
      url,
      `the map has ${formatAmount(of, "page")}, more than ${options.maxPages}`,
    );
  }
  const pages = [first];
  let left = options.maxBytes;
  for (let number = 2; number <= of; number += 1) {
    const before = pages[number - 2];
    const { part, headers } = before.fetched;
    const link = { url: part.url, link: headers["link"], headers: before.headers };
    const next = nextPage(link, before.mark);
    if ("fault" in next) throw httpRefusal(part.url, next.fault);
    const name = join(folder, String(number));
    const paths = { part: name, about: `${name}.json` };
    const fetched = await download(next.url, paths, { ...options, maxBytes: left });
    const page = await pageOf(name, fetched, left);
    if (page === undefined) throw httpRefusal(next.url, `page ${number} is not a page of a map`);
    refuseOtherPage(first, page, number);
    pages.push(page);
    left -= Number(fetched.headers["content-length"] ?? 0);
  }
  return pages;
}

function refuseOtherPage(first: DownloadedPage, page: DownloadedPage, number: number): void {
  const { url } = page.fetched.part;
  if (page.mark.number !== number || page.mark.of !== first.mark.of) {
    throw httpRefusal(
      url,
      `page ${number} of ${first.mark.of} was expected, and page ${page.mark.number} of ${page.mark.of} came`,
    );
  }
  const isSame =
    pageVersion(page.headers) === pageVersion(first.headers) &&
    descriptionOf(page) === descriptionOf(first);
  if (!isSame) throw httpRefusal(url, "the map changed while its pages were fetched; try again");
}

function descriptionOf({ headers }: DownloadedPage): string {
  return formatHeaders(withoutPageMark(headers)).join("\n");
}

async function firstBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of fileChunks(path, { maxBytes, signal: undefined })) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= HEAD_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, HEAD_BYTES);
}
