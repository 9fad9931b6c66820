import { formatHttpDate, tryParseDatetime } from "../memento/datetime.ts";
import { readLinks } from "../memento/link-timemap.ts";
import { MementoList } from "../memento/memento-list.ts";
import { asciiBytes, sendableUri } from "../memento/percent-encode.ts";
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
 * @param timegate the address of the TimeGate, without the URI.
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
export async function askTimeGate(
  upstream: Upstream,
  question: Question,
  datetime: number,
  timegate: string,
): Promise<TimeGateFinding> {
  let url = timegate + question.uri;
  const headers = headersOf(question, { "accept-datetime": formatHttpDate(datetime) });
  for (let step = 1; ; step++) {
    const answer = await upstream.ask({
      archive: question.archive,
      endpoint: "timegate",
      url,
      headers,
      followsRedirects: false,
      isCacheable: true,
      maxBytes: MAX_BODY_BYTES,
      signal: question.signal,
    });
    const finding = findingOf(answer);
    const { mementos, timemap } = linksOf(answer);
    const location = locationOf(answer, "location");
    answer.discard();
    if (mementos !== undefined) return { ...finding, mementos, timemap };
    const isRedirect = REDIRECTS.has(answer.status) && location !== undefined;
    if (!isRedirect || step === MAX_STEPS) return { ...withoutMementos(finding), timemap };
    const next = absolute(location, answer.url);
    if (next === undefined) return { ...withoutMementos(finding), timemap };
    url = next;
  }
}

/** What a TimeGate answered, and where it says the TimeMap is. */
export interface TimeGateFinding extends Finding {
  readonly timemap: string | undefined;
}

function linksOf(answer: UpstreamAnswer): Pick<TimeGateFinding, "mementos" | "timemap"> {
  const { status, headers, url } = answer;
  if (status !== 200 && !REDIRECTS.has(status)) return { mementos: undefined, timemap: undefined };
  const link = headers.get("link");
  const reading = typeof link === "string" ? readLinks(asciiBytes(link)) : undefined;
  const page = reading?.pages.find(({ rel }) => rel === "timemap");
  const timemap = page === undefined ? undefined : absolute(page.uri, url);
  const named = reading === undefined ? undefined : resolved(reading.mementos, url);
  if (named !== undefined && named.count > 0) return { mementos: named, timemap };
  const location = locationOf(answer, status === 200 ? "content-location" : "location");
  const uri = location === undefined ? url : absolute(location, url);
  if (uri === undefined) return { mementos: undefined, timemap };
  const datetime = datetimeOf(headers.get("memento-datetime"), uri);
  const mementos = datetime === undefined ? undefined : MementoList.of([{ uri, datetime }]);
  return { mementos, timemap };
}

/** A header that is an address; its bytes are kept as they are, percent-encoded. */
function locationOf({ headers }: UpstreamAnswer, name: string): string | undefined {
  const value = headers.get(name);
  return typeof value === "string" ? sendableUri(value.trim()) : undefined;
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
  const fault = "the TimeGate names no memento";
  return { ...finding, code: "MM_BAD_INPUT", failure: "no-memento", fault };
}
