import { MementoMapError, quote } from "../errors.ts";
import { MementoList } from "../memento/memento-list.ts";
import { pagesToFollow } from "../memento/pages-to-follow.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { absolute, resolved } from "./absolute-uri.ts";
import {
  type AskLimits,
  type Fault,
  faultOf,
  type Finding,
  findingOf,
  headersOf,
  type Question,
} from "./ask-archive.ts";
import type { Upstream, UpstreamAnswer } from "./upstream.ts";
import { formatAmount } from "../amount.ts";

/**
 * Asks an archive for the TimeMap of an original, and for its other pages where it is cut in pages.
 *
 * A fault in a later page leaves the mementos of those before; it is told in the finding.
 *
 * @param url the address of the TimeMap.
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askTimeMap(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  url: string,
): Promise<Finding> {
  const answer = await askFor(upstream, question, url, limits.maxBytes);
  const finding = findingOf(answer);
  if (answer.status !== 200) {
    answer.discard();
    return finding;
  }
  try {
    const reading = await readTimeMap(answer, limits.maxMementos);
    const pages = pagesToFollow(reading);
    if (reading.mementos.count === 0 && pages.length === 0 && !isTimeMap(reading)) {
      const has = reading.faults === 0 ? "nothing in it" : quote(reading.firstFault ?? "", 40);
      const fault = `the answer is no TimeMap; it has ${has}`;
      return { ...finding, code: "MM_BAD_INPUT", failure: "bad-timemap", fault };
    }
    const mementos = resolved(reading.mementos, answer.url);
    if (pages.length === 0) return { ...finding, mementos };
    const pageFault = await addPages(upstream, question, limits, {
      mementos,
      waiting: addressesOf(reading, answer.url),
      seen: new Set([url, answer.url]),
    });
    return { ...finding, mementos, ...pageFault };
  } catch (error) {
    return { ...finding, ...faultOf(error) };
  }
}

/** Whether something without a memento says so: an empty body does not. */
function isTimeMap({ faults, original, timegate, pages }: TimeMapReading): boolean {
  const isEmpty = original === undefined && timegate === undefined && pages.length === 0;
  return faults === 0 && !isEmpty;
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
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  { mementos, waiting, seen }: PagedTimeMap,
): Promise<Fault | undefined> {
  let pages = 1;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url)) continue;
    pages += 1;
    if (pages > limits.maxPages) {
      const fault = `the TimeMap has more than ${formatAmount(limits.maxPages, "page")}`;
      return { code: "MM_LIMIT", failure: "page-limit", fault };
    }
    seen.add(url);
    try {
      const answer = await askFor(upstream, question, url, limits.maxBytes);
      if (answer.status !== 200) {
        answer.discard();
        throw new MementoMapError("MM_HTTP", `a page was answered with status ${answer.status}`, {
          reason: "bad-status",
        });
      }
      const reading = await readTimeMap(answer, limits.maxMementos - mementos.count);
      mementos.append(resolved(reading.mementos, answer.url));
      waiting.push(...addressesOf(reading, answer.url));
    } catch (error) {
      if (question.signal.aborted) throw error;
      return faultOf(error);
    }
  }
  return undefined;
}

function askFor(
  upstream: Upstream,
  question: Question,
  url: string,
  maxBytes: number,
): Promise<UpstreamAnswer> {
  return upstream.ask({
    archive: question.archive,
    url,
    headers: headersOf(question),
    followsRedirects: true,
    isCacheable: true,
    maxBytes,
    signal: question.signal,
  });
}

/** @throws MM_HTTP, MM_LIMIT */
async function readTimeMap(answer: UpstreamAnswer, maxMementos: number): Promise<TimeMapReading> {
  const contentType = answer.headers.get("content-type") ?? undefined;
  const reader = timeMapReader({ contentType, url: answer.url, maxMementos });
  await answer.read((chunk) => reader.write(chunk));
  return reader.end();
}

function addressesOf(reading: TimeMapReading, base: string): string[] {
  return pagesToFollow(reading).flatMap(({ uri }) => absolute(uri, base) ?? []);
}
