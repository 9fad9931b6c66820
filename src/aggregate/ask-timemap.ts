import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { MementoList } from "../memento/memento-list.ts";
import { pagesToFollow } from "../memento/pages-to-follow.ts";
import { timeMapReader } from "../memento/timemap-reader.ts";
import type { TimeMapReading } from "../memento/timemap-reading.ts";
import { absolute, resolved } from "./absolute-uri.ts";
import {
  type AskLimits,
  type Finding,
  findingOf,
  headersOf,
  type Question,
} from "./ask-archive.ts";
import type { Upstream, UpstreamAnswer } from "./upstream.ts";

/**
 * Asks an archive for the TimeMap of an original, and for its other pages where it is cut in pages.
 *
 * A fault in a later page leaves the mementos of those before; it is told in the finding.
 *
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askTimeMap(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
): Promise<Finding> {
  const url = question.archive.timemap + question.uri;
  const answer = await askFor(upstream, question, url, limits.maxBytes);
  const finding = findingOf(answer);
  if (answer.status !== 200) {
    answer.discard();
    return finding;
  }
  try {
    const reading = await readTimeMap(answer, limits.maxMementos);
    const pages = pagesToFollow(reading);
    if (reading.mementos.count === 0 && pages.length === 0 && reading.faults > 0) {
      const fault = `the answer is no TimeMap; it has ${quote(reading.firstFault ?? "", 40)}`;
      return { ...finding, code: "MM_BAD_INPUT", fault };
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
): Promise<Pick<Finding, "code" | "fault"> | undefined> {
  let pages = 1;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url)) continue;
    pages += 1;
    if (pages > limits.maxPages) {
      return { code: "MM_LIMIT", fault: `the TimeMap has more than ${limits.maxPages} pages` };
    }
    seen.add(url);
    try {
      const answer = await askFor(upstream, question, url, limits.maxBytes);
      if (answer.status !== 200) {
        answer.discard();
        throw new MementoMapError("MM_HTTP", `a page was answered with status ${answer.status}`);
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

function faultOf(error: unknown): Pick<Finding, "code" | "fault"> {
  return {
    code: isMementoMapError(error) ? error.code : "MM_HTTP",
    fault: error instanceof Error ? error.message : String(error),
  };
}
