import { formatAmount } from "../../format.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { GetRequest, ResponseHead, TakeBody } from "../../http/client.ts";
import type { HttpHeaders } from "../../http/http-client.ts";
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
  uselessAnswer,
} from "./answer.ts";

/** How much of an archive's answer is taken. */
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

/** What readers of answers need of one ask. */
export interface Asking {
  readonly limits: AskLimits;
  /** Gets something from the archive, in its turn and within the time of the ask. Counts bytes of bodies. */
  get(
    request: Pick<GetRequest, "url" | "headers" | "followsRedirects">,
    take: TakeBody,
  ): Promise<ResponseHead>;
}

/** An answer, and the headers that say how long it may be kept. */
export interface Reading {
  readonly answer: ArchiveAnswer;
  readonly headers: HttpHeaders;
  /** Where a TimeGate says that the TimeMap is. */
  readonly timemap?: string | undefined;
}

/**
 * Reads a TimeMap with its pages. A fault in a later page leaves the mementos of those before; the answer tells it.
 *
 * @throws when there is no answer: see `Client.get`.
 */
export async function readTimeMap(asking: Asking, url: string): Promise<Reading> {
  const { maxMementos } = asking.limits;
  const { head, reading } = await readPage(asking, url, maxMementos);
  const { status, headers } = head;
  if (status === 404) return { answer: answerOf(new MementoList()), headers };
  if (reading === undefined) return { answer: uselessAnswer(status), headers };
  const pages = pagesToFollow(reading);
  if (reading.mementos.count === 0 && pages.length === 0 && !isTimeMap(reading)) {
    return { answer: uselessAnswer(200, notATimeMap(reading)), headers };
  }
  const mementos = resolved(reading.mementos, head.url);
  if (pages.length === 0) return { answer: answerOf(mementos, { status }), headers };
  const fault = await addPages(asking, {
    mementos,
    waiting: addressesOf(reading, head.url),
    seen: new Set([url, head.url]),
  });
  return { answer: answerOf(mementos, { status, fault }), headers };
}

/** Whether something is an HTML page in the place of a TimeMap: so some archives say that they have nothing. */
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

/** Whether something without a memento says so: an empty body does not. */
function isTimeMap({ faults, original, timegate, pages }: TimeMapReading): boolean {
  const isEmpty = original === undefined && timegate === undefined && pages.length === 0;
  return faults === 0 && !isEmpty;
}

function notATimeMap({ faults, firstFault }: TimeMapReading): ArchiveFault {
  const has = faults === 0 ? "nothing in it" : quote(firstFault ?? "", 40);
  const fault = `the answer is not a TimeMap; it has ${has}`;
  return { code: "MM_BAD_INPUT", failure: "bad-timemap", fault };
}

interface PagedTimeMap {
  /** What was read so far; more is added to it. */
  readonly mementos: MementoList;
  /** The addresses of pages that were named, and not asked for yet. */
  readonly waiting: string[];
  readonly seen: Set<string>;
}

/** Reads the pages one after the other; tells what went wrong, if something did. */
async function addPages(
  asking: Asking,
  { mementos, waiting, seen }: PagedTimeMap,
): Promise<ArchiveFault | undefined> {
  const { maxPages, maxMementos } = asking.limits;
  let pages = 1;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url)) continue;
    pages += 1;
    if (pages > maxPages) {
      const fault = `the TimeMap has more than ${formatAmount(maxPages, "page")}`;
      return { code: "MM_LIMIT", failure: "page-limit", fault };
    }
    seen.add(url);
    try {
      const { head, reading } = await readPage(asking, url, maxMementos - mementos.count);
      if (reading === undefined) {
        const message = `a page was answered with status ${head.status}`;
        throw new MementoMapError("MM_HTTP", message, { reason: "bad-status" });
      }
      mementos.append(resolved(reading.mementos, head.url));
      waiting.push(...addressesOf(reading, head.url));
    } catch (error) {
      return faultOf(error);
    }
  }
  return undefined;
}

function addressesOf(reading: TimeMapReading, base: string): string[] {
  return pagesToFollow(reading).flatMap(({ uri }) => absolute(uri, base) ?? []);
}

const ABSOLUTE = /^https?:\/\//i;

/** As it is, if it is a whole web address; else resolved; undefined when it leads elsewhere. */
export function absolute(uri: string, base: string): string | undefined {
  if (ABSOLUTE.test(uri)) return uri;
  if (!URL.canParse(uri, base)) return undefined;
  const { href } = new URL(uri, base);
  return ABSOLUTE.test(href) ? href : undefined;
}

/** The list with whole addresses of the web: clients are redirected to them. */
export function resolved(mementos: MementoList, base: string): MementoList {
  if (mementos.areWebAddresses) return mementos;
  const list = new MementoList();
  for (const { uri, datetime } of mementos) {
    const whole = absolute(uri, base);
    if (whole !== undefined) list.add(whole, datetime);
  }
  return list;
}
