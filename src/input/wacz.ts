import { openPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import { badInput, ioError, quote } from "../errors.ts";
import type { FileSlice, IndexInput, OpenOptions } from "./index-input.ts";
import { openCompressed } from "./file-inputs.ts";
import { openZipNum, type PartLocation } from "./zipnum.ts";

/** Real collections have a few hundred. */
const MAX_ENTRIES = 10_000;
const STORED = 0;
const DEFLATED = 8;

interface WaczEntry {
  readonly name: string;
  readonly slice: FileSlice;
}

/**
 * Opens a WACZ file: its ZipNum index if it has one, else its plain index, else its WARC files.
 * Nothing is unpacked to disk.
 *
 * @throws MM_BAD_INPUT for a ZIP file that is damaged or has none of these, MM_IO
 */
export async function openWacz(path: string, options: OpenOptions): Promise<IndexInput[]> {
  const entries = await waczEntries(path);
  const entryOptions: OpenOptions = { ...options, format: "auto" };
  const locate = (name: string = "index.cdx.gz"): Promise<PartLocation> => {
    const requested = `indexes/${name}`;
    const entry = entries.find((candidate) => candidate.name === requested);
    if (entry === undefined || entry.slice.inflatedLength !== undefined) {
      const what = `the index refers to ${quote(requested)}, which is not an uncompressed entry of this file`;
      return Promise.reject(badInput(path, what));
    }
    const { offset, length } = entry.slice;
    return Promise.resolve({ path, source: `${path}/${requested}`, offset, size: length });
  };
  const named = (pattern: RegExp): WaczEntry[] => entries.filter(({ name }) => pattern.test(name));
  const zipNum = named(/^indexes\/[^/]+\.idx(?:\.gz)?$/);
  if (zipNum.length > 0) {
    const clusters = zipNum.map(({ name, slice }) =>
      openZipNum({ path, source: `${path}/${name}`, slice }, locate, entryOptions),
    );
    return (await Promise.all(clusters)).flat();
  }
  const lists = named(/^indexes\/[^/]+\.cdxj?(?:\.gz)?$/);
  const chosen = lists.length > 0 ? lists : named(/^archive\/.+\.warc(?:\.gz)?$/);
  if (chosen.length === 0) {
    throw badInput(path, "no index in indexes/ and no WARC file in archive/; is it a WACZ file?");
  }
  return Promise.all(
    chosen.map(({ name, slice }) =>
      openCompressed({ path, source: `${path}/${name}`, size: slice.length, slice }, entryOptions),
    ),
  );
}

async function waczEntries(path: string): Promise<WaczEntry[]> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, { lazyEntries: true, autoClose: false });
    const entries: WaczEntry[] = [];
    for await (const entry of zip.eachEntry()) {
      if (/^(?:indexes|archive)\/./.test(entry.fileName)) {
        entries.push({ name: entry.fileName, slice: await sliceOf(zip, entry, path) });
        if (entries.length > MAX_ENTRIES) {
          throw badInput(
            path,
            `more than ${MAX_ENTRIES} entries; unpack it, and pass its WARC files or its index`,
          );
        }
      }
    }
    return entries;
  } catch (error) {
    if (error instanceof Error && "code" in error) throw ioError(error, path);
    const what = error instanceof Error ? error.message : String(error);
    throw badInput(path, `invalid ZIP file (${what})`, error);
  } finally {
    zip?.close();
  }
}

async function sliceOf(zip: ZipFile, entry: Entry, path: string): Promise<FileSlice> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const length = entry.compressedSize;
  if (entry.compressionMethod === STORED) return { offset: fileDataStart, length };
  if (entry.compressionMethod === DEFLATED) {
    return { offset: fileDataStart, length, inflatedLength: entry.uncompressedSize };
  }
  throw badInput(path, `unsupported compression of the entry ${quote(entry.fileName)}`);
}
