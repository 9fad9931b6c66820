import { formatHttpDate, tryParseDatetime } from "../memento/datetime.ts";
import { readLinks } from "../memento/link-timemap.ts";
import { MementoList } from "../memento/memento-list.ts";
import { absolute, resolved } from "./absolute-uri.ts";
import { type Finding, findingOf, headersOf, type Question } from "./ask-archive.ts";
import type { Upstream, UpstreamAnswer } from "./upstream.ts";

/** TimeGates that lead to another TimeGate are followed so often. */
const MAX_STEPS = 3;
const MAX_BODY_BYTES = 65_536;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Asks the TimeGate of an archive for the memento closest to a moment.
 *
 * Takes every memento that its `Link` headers name. Where they name none, the memento that it leads
 * to is taken, at the time in its address or in `Memento-Datetime`.
 *
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askTimeGate(
  upstream: Upstream,
  question: Question,
  datetime: number,
): Promise<Finding> {
  let url = question.archive.timegate + question.uri;
  const headers = headersOf(question, { "accept-datetime": formatHttpDate(datetime) });
  for (let step = 1; ; step++) {
    const answer = await upstream.ask({
      archive: question.archive,
      url,
      headers,
      followsRedirects: false,
      isCacheable: true,
      maxBytes: MAX_BODY_BYTES,
      signal: question.signal,
    });
    const finding = findingOf(answer);
    const mementos = mementosOf(answer);
    const location = answer.headers.get("location");
    answer.discard();
    if (mementos !== undefined) return { ...finding, mementos };
    const isRedirect = REDIRECTS.has(answer.status) && typeof location === "string";
    if (!isRedirect || step === MAX_STEPS) return withoutMementos(finding);
    const next = absolute(location, answer.url);
    if (next === undefined) return withoutMementos(finding);
    url = next;
  }
}

function mementosOf(answer: UpstreamAnswer): MementoList | undefined {
  const { status, headers, url } = answer;
  if (status !== 200 && !REDIRECTS.has(status)) return undefined;
  const link = headers.get("link");
  if (typeof link === "string") {
    const { mementos } = readLinks(link);
    if (mementos.count > 0) return resolved(mementos, url);
  }
  const location = headers.get(status === 200 ? "content-location" : "location");
  const uri = typeof location === "string" ? absolute(location, url) : url;
  if (uri === undefined) return undefined;
  const datetime = datetimeOf(headers.get("memento-datetime"), uri);
  return datetime === undefined ? undefined : MementoList.of([{ uri, datetime }]);
}

/** Archives have the time of a memento in its address, if they do not say it. */
function datetimeOf(header: string | null | undefined, uri: string): number | undefined {
  const said = typeof header === "string" ? tryParseDatetime(header) : undefined;
  return said ?? tryParseDatetime(/\/(\d{14})(?:[a-z]{2}_)?\//.exec(uri)?.[1] ?? "");
}

function withoutMementos(finding: Finding): Finding {
  const { status } = finding;
  // A TimeGate that answers 200 or redirects, and has no memento to name, does not say it has none.
  if (status === undefined || (status !== 200 && !REDIRECTS.has(status))) return finding;
  return { ...finding, code: "MM_BAD_INPUT", fault: "the TimeGate names no memento" };
}
