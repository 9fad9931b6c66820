import { LF } from "../../bytes/bytes.ts";
import { createReadStream } from "node:fs";
import { kindText, sniff } from "../../ukvs/sniff.ts";
import { MementoMapError } from "../../errors.ts";
import { mapHeadOf } from "../../map/lookup/map-head.ts";
import { withoutPageMark } from "../../map/lookup/page-range.ts";
import { extentOf } from "../../map/map-extent.ts";
import { type MapGuardOptions, refuseShrunk } from "../../map/map-guard.ts";
import { validateMap } from "../../map/validate.ts";
import { headerText, SizedHead, type UkvsHeaders } from "../../ukvs/header.ts";
import { decompressed } from "../../files/decompress.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { ioError, systemCode } from "../../files/io-error.ts";
import { type Output, withOutput } from "../../files/output-file.ts";
import type { DownloadedPage } from "./pages.ts";

/** Headers are looked for in so much of the beginning. */
const HEAD_BYTES = 256 * 1024;
const SHOWN_FAULTS = 3;
/** Small, so that the memory of chunks is free again at once: see `DecompressOptions`. */
const CHUNK_BYTES = 16 * 1024;

export interface TakeOptions extends MapGuardOptions {
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
  return withOutput(
    target,
    { stdout: process.stdout, interrupt: options.interrupt },
    async (output) => {
      const chunks = typeof map === "string" ? fileChunks(map, options) : joinedPages(map, options);
      const head = new Head(options.url);
      const faults: string[] = [];
      let faultCount = 0;
      const lines = passed(chunks, output, head);
      for await (const { line, message } of validateMap(lines, { isOnlyErrors: true })) {
        faultCount += 1;
        if (faults.length < SHOWN_FAULTS) faults.push(`line ${line}: ${message}`);
        // A file that is no map at all has a fault in each line: enough is enough.
        if (faultCount > 100) break;
      }
      if (faultCount === 0) {
        await refuseLoss(map, target, options);
        return head.headers();
      }
      const more = faultCount > SHOWN_FAULTS ? ", and more" : "";
      throw refused(options.url, `the map has faults (${faults.join("; ")}${more})`);
    },
  );
}

/** Refuses a map that has lost too much of the one it would replace. */
async function refuseLoss(
  map: string | readonly DownloadedPage[],
  target: string,
  options: TakeOptions,
): Promise<void> {
  if ((options.maxShrink ?? 0) >= 1) return;
  const old = await extentOf(fileChunks(target, { maxBytes: Infinity, signal: options.signal }));
  if (old === undefined) return;
  const chunks = typeof map === "string" ? fileChunks(map, options) : joinedPages(map, options);
  const next = await extentOf(chunks);
  if (next !== undefined) refuseShrunk(old, next, options.url, options);
}

/** The bytes of a downloaded file, decompressed. */
export async function* fileChunks(
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

/** The first lines of a map. */
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
    if (this.#length === 0) refuseOther(chunk, this.#url);
    this.#parts.push(chunk.slice(0, HEAD_BYTES));
    this.#length += chunk.length;
  }

  finish(): void {
    if (this.#length === 0) throw refused(this.#url, "the map is empty");
  }

  headers(): UkvsHeaders {
    const bytes = Buffer.concat(this.#parts);
    const end = bytes.lastIndexOf(LF) + 1;
    return mapHeadOf(bytes.subarray(0, end), this.#url).headers;
  }
}

function refuseOther(start: Uint8Array, url: string): void {
  const kind = sniff(start);
  if (kind !== "map") throw refused(url, `what came is ${kindText(kind)}`);
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source: url } });
}
