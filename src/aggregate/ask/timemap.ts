import { formatAmount } from "../../format.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { GetRequest, TakeBody } from "../../http/client.ts";
import type { HttpHeaders, ResponseHead } from "../../http/http-client.ts";
import { MementoList } from "../../memento/memento-list.ts";
import {
  pagesToFollow,
  type TimeMapReader,
  type TimeMapReading,
} from "../../memento/timemap-reading.ts";
import { timeMapReader } from "../../memento/timemap-reader.ts";
import {
  type ArchiveAnswer,
  answerOf,
  type ArchiveFault,
  faultOf,
  answerOfStatus,
  unreadableAnswer,
} from "./answer.ts";

/** Limits on an archive's response. */
export interface AskLimits {
  /** Bytes of one TimeMap with all its pages; default 256 MiB. */
  readonly maxBytes: number;
  /** Pages of one TimeMap; default 2,000. */
  readonly maxPages: number;
  /** Mementos of one archive; default 5 million. */
  readonly maxMementos: number;
}

export const DEFAULT_ASK_LIMITS: AskLimits = {
  maxBytes: 256 * 2 ** 20,
  maxPages: 2000,
  maxMementos: 5_000_000,
};

/** Access to the archive for the readers of one question. */
export interface Asking {
  readonly limits: AskLimits;
  /** Sends a request within the limits and timeouts of the question. Counts bytes of bodies. */
  get(
    request: Pick<GetRequest, "url" | "headers" | "followsRedirects">,
    take: TakeBody,
  ): Promise<ResponseHead>;
}

/** An answer, and the headers that determine its lifetime in the cache. */
export interface Reading {
  readonly answer: ArchiveAnswer;
  readonly headers: HttpHeaders;
  /** URL of the TimeMap that a TimeGate names. */
  readonly timemap?: string | undefined;
  /** Whether the failed host is another one, to which the archive redirects. */
  readonly isOfAnother?: boolean | undefined;
}

/**
 * Reads a TimeMap with its pages. If a later page fails, the answer has the mementos of earlier pages and the error.
 *
 * @throws if there is no response: see `Client.get`.
 */
export async function readTimeMap(asking: Asking, url: string): Promise<Reading> {
  const { maxPages, maxMementos } = asking.limits;
  const { head, reading } = await readPage(asking, url, maxMementos);
  const { status, headers } = head;
  if (reading === undefined) return { answer: answerOfStatus(status), headers };
  const waiting = pageAddresses(reading, head.url);
  if (reading.mementos.count === 0 && pagesToFollow(reading).length === 0 && !isTimeMap(reading)) {
    const has = reading.faults === 0 ? "no content" : quote(reading.firstFault ?? "", 40);
    const message = `the response is not a TimeMap; it has ${has}`;
    return { answer: unreadableAnswer(200, "bad-timemap", message), headers };
  }
  const mementos = resolveUris(reading.mementos, head.url);
  const seen = new Set([url, head.url]);
  let fault: ArchiveFault | undefined;
  for (let pages = 1; fault === undefined;) {
    const page = waiting.shift();
    if (page === undefined) break;
    if (seen.has(page)) continue;
    seen.add(page);
    pages += 1;
    try {
      if (pages > maxPages) {
        const message = `the TimeMap has more than ${formatAmount(maxPages, "page")}`;
        throw new MementoMapError("MM_LIMIT", message, { reason: "page-limit" });
      }
      const next = await readPage(asking, page, maxMementos - mementos.count);
      if (next.reading === undefined) {
        const message = `a page has status ${next.head.status}`;
        throw new MementoMapError("MM_HTTP", message, { reason: "bad-status" });
      }
      mementos.append(resolveUris(next.reading.mementos, next.head.url));
      waiting.push(...pageAddresses(next.reading, next.head.url));
    } catch (error) {
      fault = faultOf(error);
    }
  }
  return { answer: answerOf(mementos, { status, fault }), headers };
}

/** Whether the response is an HTML page: some archives report "no mementos" this way. */
export function isHtmlInstead({ answer, headers }: Reading): boolean {
  if (answer.failure !== "bad-timemap") return false;
  return /^text\/html\b/i.test(headers.get("content-type") ?? "");
}

async function readPage(
  asking: Asking,
  url: string,
  maxMementos: number,
): Promise<{ head: ResponseHead; reading: TimeMapReading | undefined }> {
  let reader: TimeMapReader | undefined;
  const head = await asking.get({ url }, ({ status, url: at, headers }) => {
    if (status !== 200) return undefined;
    const contentType = headers.get("content-type") ?? undefined;
    const opened = timeMapReader({ contentType, url: at, maxMementos });
    reader = opened;
    return (chunk) => opened.write(chunk);
  });
  return { head, reading: reader?.end() };
}

/** Whether a document without mementos is a TimeMap: an empty body is not. */
function isTimeMap({ faults, original, timegate, pages }: TimeMapReading): boolean {
  const isEmpty = original === undefined && timegate === undefined && pages.length === 0;
  return faults === 0 && !isEmpty;
}

function pageAddresses(reading: TimeMapReading, base: string): string[] {
  return pagesToFollow(reading).flatMap(({ uri }) => absoluteUri(uri, base) ?? []);
}

const ABSOLUTE = /^https?:\/\//i;

/** An absolute web address unchanged, others resolved; undefined if the result is not a web address. */
export function absoluteUri(uri: string, base: string): string | undefined {
  if (ABSOLUTE.test(uri)) return uri;
  if (!URL.canParse(uri, base)) return undefined;
  const { href } = new URL(uri, base);
  return ABSOLUTE.test(href) ? href : undefined;
}

/** The list with absolute web addresses: clients are redirected to them. */
export function resolveUris(mementos: MementoList, base: string): MementoList {
  if (mementos.areWebAddresses) return mementos;
  const list = new MementoList();
  for (const { uri, datetime } of mementos) {
    const absolute = absoluteUri(uri, base);
    if (absolute !== undefined) list.add(absolute, datetime);
  }
  return list;
}
