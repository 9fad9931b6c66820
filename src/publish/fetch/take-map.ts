import { formatAmount } from "../../format.ts";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { LF } from "../../bytes/bytes.ts";
import { peek } from "../../bytes/peek.ts";
import { MemorySource, sourceChunks } from "../../bytes/byte-source.ts";
import { FileSource } from "../../files/input-file.ts";
import { checkPacked, readHead } from "../../packed/read-packed.ts";
import { headersOf } from "../../packed/packed-file.ts";
import { openPackedFile } from "../../lookup/open-map-file.ts";
import { withOutput } from "../../files/output-file.ts";
import { kindText, sniff } from "../../ukvs/sniff.ts";
import { httpRefusal } from "../../http/http-client.ts";
import { nextPage, pageFault, type PageHead } from "./pages.ts";
import { mapHeadOf, pageMark, withoutPageMark } from "../../ukvs/head.ts";
import {
  extentOf,
  type MapExtent,
  type MapGuardOptions,
  packedExtent,
  refuseShrunk,
} from "../../maps/map-guard.ts";
import { validateMap } from "../../maps/validate-map.ts";
import { headerText, SizedHead, type UkvsHeaders } from "../../ukvs/header.ts";
import { decompressed } from "../../files/decompress.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { ioError, isMementoMapError, systemCode } from "../../errors.ts";
import { download, type Download, type DownloadOptions, fileSize } from "./download.ts";

/** The headers must be within this many bytes. */
const HEAD_BYTES = 256 * 1024;
const SHOWN_FAULTS = 3;
/** A file that is not a map has a fault in each line. */
const MAX_FAULTS = 100;
/** Small, so that the memory of chunks is free again at once: see `DecompressOptions`. */
const CHUNK_BYTES = 16 * 1024;

/** A download recognized by its beginning as a map, or a page of one. */
export interface Downloaded extends PageHead {
  readonly fetched: Download;
  readonly path: string;
  readonly isPacked: boolean;
  /** Where its records begin, decompressed. */
  readonly recordsOffset: number;
}

/**
 * Reads the beginning of a download.
 *
 * @throws MM_REFUSED if it is not a map; MM_BAD_HEADER
 */
export async function openDownload(
  path: string,
  fetched: Download,
  maxBytes: number,
): Promise<Downloaded> {
  const { url } = fetched.part;
  const beginning = await peek(fileChunks(path, { maxBytes }), HEAD_BYTES);
  await beginning.close();
  const start = beginning.head;
  const kind = sniff(start);
  const isPacked = kind === "packed";
  if (!isPacked && kind !== "map") {
    const what = start.length === 0 ? "the map is empty" : `the response is ${kindText(kind)}`;
    throw httpRefusal(url, what);
  }
  const lines = start.subarray(0, isPacked ? 0 : start.lastIndexOf(LF) + 1);
  const { headers, recordsOffset } = mapHeadOf(lines, url);
  return { fetched, path, isPacked, headers, mark: pageMark(headers, url), recordsOffset };
}

interface TakeOptions extends MapGuardOptions {
  /** Limit on all pages, decompressed. */
  readonly maxBytes: number;
  readonly interrupt?: Interrupt | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a downloaded map, or its pages, and moves it to its target if it is valid.
 *
 * Reads it once: decompresses, checks and writes in one pass. The target is replaced in one step at
 * the end, or not at all.
 *
 * @throws MM_REFUSED with the first faults; MM_REFUSED, MM_LIMIT or MM_BAD_INPUT for compressed data
 *   that is damaged or a bomb, and for damaged packed maps; MM_EMPTY, MM_SHRUNK; MM_IO.
 */
export async function takeMap(
  map: readonly Downloaded[],
  target: string,
  options: TakeOptions,
): Promise<UkvsHeaders> {
  const [{ isPacked, headers, fetched }] = map;
  const { url } = fetched.part;
  if (isPacked) return takePacked(map[0], target, options);
  await withOutput(target, outputOptions(options), async (output) => {
    const written = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const chunk of mapChunks(map, options)) {
        await output.write(chunk);
        yield chunk;
      }
    };
    const faults: string[] = [];
    for await (const { line, message } of validateMap(written(), { isOnlyErrors: true })) {
      faults.push(`line ${line}: ${message}`);
      if (faults.length > MAX_FAULTS) break;
    }
    if (faults.length > 0) {
      const shown = faults.slice(0, SHOWN_FAULTS).join("; ");
      const more = faults.length > SHOWN_FAULTS ? ", and more" : "";
      throw httpRefusal(url, `the map has faults (${shown}${more})`);
    }
    await refuseLoss(() => extentOf(mapChunks(map, options)), { target, url }, options);
  });
  return headers;
}

/** Checks every part of a packed map, and moves it to its target. */
async function takePacked(
  { path, fetched }: Downloaded,
  target: string,
  options: TakeOptions,
): Promise<UkvsHeaders> {
  const { signal } = options;
  const { url } = fetched.part;
  const file = await FileSource.openPlain(path);
  try {
    // Servers should not compress it; the few that do send small ones.
    const bytes =
      file ?? new MemorySource((await peek(fileChunks(path, options), Infinity)).head, url);
    const source = { name: url, size: bytes.size, read: bytes.read.bind(bytes) };
    const { header } = await checkPacked(source, { signal });
    await refuseLoss(() => packedExtent(header), { target, url }, options);
    await withOutput(target, outputOptions(options), async (output) => {
      for await (const chunk of sourceChunks(source, { signal })) await output.write(chunk);
    });
    return headersOf(header);
  } finally {
    await file?.close();
  }
}

function outputOptions({ interrupt }: TakeOptions): {
  readonly stdout: NodeJS.WriteStream;
  readonly interrupt: Interrupt | undefined;
} {
  return { stdout: process.stdout, interrupt };
}

/** Rejects a map that has lost too much of the one it would replace. */
async function refuseLoss(
  extent: () => MapExtent | undefined | Promise<MapExtent | undefined>,
  { target, url }: { readonly target: string; readonly url: string },
  options: TakeOptions,
): Promise<void> {
  if ((options.maxShrink ?? 0) >= 1) return;
  const old = await fileExtent(target, options.signal);
  const next = old === undefined ? undefined : await extent();
  if (old !== undefined && next !== undefined) refuseShrunk(old, next, url, options);
}

/** The extent of the map in a file; undefined if there is no readable map. */
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

/** The bytes of the map: unchanged, or its headers once and the records of each page. */
async function* mapChunks(
  map: readonly Downloaded[],
  options: TakeOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [{ mark, path: whole }] = map;
  if (mark === undefined) {
    yield* fileChunks(whole, options);
    return;
  }
  yield headOf(map);
  let maxBytes = options.maxBytes;
  for (const { path, recordsOffset } of map) {
    let offset = 0;
    for await (const chunk of fileChunks(path, { ...options, maxBytes })) {
      const skipped = Math.max(0, recordsOffset - offset);
      offset += chunk.length;
      if (skipped < chunk.length) yield chunk.subarray(skipped);
    }
    maxBytes -= offset;
  }
}

/** The headers common to all pages, with the total size if all of them state theirs. */
function headOf(pages: readonly Downloaded[]): Uint8Array {
  const headers = withoutPageMark(pages[0].headers);
  const sizes = pages.flatMap((page) => page.headers.size ?? []);
  if (sizes.length < pages.length) return headerText(headers);
  return new SizedHead(headers).bytes({
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    records: sizes.reduce((sum, { records }) => sum + records, 0),
  });
}

/**
 * Follows the links from the first page of a map to its last, downloading each; a whole map is
 * returned alone.
 *
 * Pages must be of one version, in order, and on one site.
 *
 * @throws MM_REFUSED when they are not; MM_HTTP, MM_IO.
 */
export async function fetchPages(
  first: Downloaded,
  folder: string,
  options: DownloadOptions & { readonly maxPages: number },
): Promise<readonly Downloaded[]> {
  const { mark, fetched } = first;
  const { url } = fetched.part;
  if (mark === undefined) return [first];
  if (mark.number !== 1) throw httpRefusal(url, `the map begins with page ${mark.number}`);
  if (mark.of > options.maxPages) {
    const pages = formatAmount(mark.of, "page");
    throw httpRefusal(url, `the map has ${pages}, more than ${options.maxPages}`);
  }
  const pages = [first];
  let left = options.maxBytes - ((await fileSize(first.path)) ?? 0);
  for (let number = 2; number <= mark.of; number += 1) {
    const before = pages[number - 2];
    const { part, headers } = before.fetched;
    const link = { url: part.url, link: headers["link"], headers: before.headers };
    const next = nextPage(link, number - 1);
    if ("fault" in next) throw httpRefusal(part.url, next.fault);
    const path = join(folder, String(number));
    const paths = { part: path, about: `${path}.json` };
    const page = await download(next.url, paths, { ...options, maxBytes: left });
    const opened = await openDownload(path, page, options.maxBytes);
    const wrong = pageFault(opened, number, before);
    if (wrong !== undefined) {
      throw httpRefusal(page.part.url, `it ${wrong}; the map may have changed, try again`);
    }
    pages.push(opened);
    left -= (await fileSize(path)) ?? 0;
  }
  return pages;
}
