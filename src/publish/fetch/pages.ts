import { LF } from "../../bytes/bytes.ts";
import { join } from "node:path";
import { pageLink, pageVersion } from "./page-links.ts";
import { sniff } from "../../ukvs/sniff.ts";
import { formatAmount, MementoMapError } from "../../errors.ts";
import { mapHeadOf } from "../../map/lookup/map-head.ts";
import { type PageMark, pageMark } from "../../map/lookup/page-range.ts";
import { withoutPageMark } from "../../map/lookup/page-range.ts";
import { formatHeaders, type UkvsHeaders } from "../../ukvs/header.ts";
import { download, type Download, type DownloadOptions } from "./download.ts";
import { fileChunks } from "./take-map.ts";

const HEAD_BYTES = 256 * 1024;

/** A page of a map that was downloaded. */
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
  if (first.mark.number !== 1) throw refused(url, `the map begins with page ${first.mark.number}`);
  if (of > options.maxPages) {
    throw refused(url, `the map has ${formatAmount(of, "page")}, more than ${options.maxPages}`);
  }
  const pages = [first];
  let left = options.maxBytes;
  for (let number = 2; number <= of; number += 1) {
    const next = nextUrl(pages[number - 2]);
    const name = join(folder, String(number));
    const paths = { part: name, about: `${name}.json` };
    const fetched = await download(next, paths, { ...options, held: undefined, maxBytes: left });
    const page = await pageOf(name, fetched, left);
    if (page === undefined) throw refused(next, `page ${number} is no page of a map`);
    refuseOther(first, page, number);
    pages.push(page);
    left -= Number(fetched.headers["content-length"] ?? 0);
  }
  return pages;
}

function refuseOther(first: DownloadedPage, page: DownloadedPage, number: number): void {
  const { url } = page.fetched.part;
  if (page.mark.number !== number || page.mark.of !== first.mark.of) {
    throw refused(
      url,
      `page ${number} of ${first.mark.of} was expected, and page ${page.mark.number} of ${page.mark.of} came`,
    );
  }
  const isSame =
    pageVersion(page.headers) === pageVersion(first.headers) &&
    descriptionOf(page) === descriptionOf(first);
  if (!isSame) throw refused(url, "the map changed while its pages were fetched; try again");
}

function descriptionOf({ headers }: DownloadedPage): string {
  return formatHeaders(withoutPageMark(headers)).join("\n");
}

function nextUrl({ fetched, headers, mark }: DownloadedPage): string {
  const { url } = fetched.part;
  const next = pageLink({ url, link: fetched.headers["link"], headers }, "next");
  if (next === undefined) {
    throw refused(url, `page ${mark.number} of ${mark.of} has no link to the next`);
  }
  const { origin } = new URL(next);
  if (origin !== new URL(url).origin) {
    throw refused(url, `page ${mark.number} leads to another site, ${origin}`);
  }
  return next;
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

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source: url } });
}
