import { isRedirect, redirectTarget } from "../../http/redirects.ts";
import type { ResponseHead } from "../../http/http-client.ts";
import { formatHttpDate, tryParseDatetime } from "../../memento/datetime.ts";
import { asciiBytes, MementoList, sendableUri } from "../../memento/memento-list.ts";
import { readLinks } from "../../memento/timemap-reader.ts";
import { answerOf, answerOfStatus, unreadableAnswer } from "./answer.ts";
import { absoluteUri, type Asking, type Reading, resolveUris } from "./timemap.ts";

/** Limit on TimeGates that lead to another TimeGate. */
const MAX_STEPS = 3;

/**
 * Queries a TimeGate for the memento closest to a datetime, and reads every memento in its `Link` headers. If there is
 * none, uses the redirect target, with the datetime in its URL or in `Memento-Datetime`.
 *
 * @param url the TimeGate's URL followed by the URI.
 * @throws if there is no response: see `Client.get`.
 */
export async function readTimeGate(
  asking: Asking,
  url: string,
  datetime: number,
): Promise<Reading> {
  const headers = { "accept-datetime": formatHttpDate(datetime) };
  for (let step = 1; ; step++) {
    const head = await asking.get({ url, headers, followsRedirects: false }, () => undefined);
    const { status } = head;
    const { mementos, timemap } = linksOf(head);
    if (mementos !== undefined)
      return { answer: answerOf(mementos, { status }), headers: head.headers, timemap };
    const location = locationOf(head, "location");
    if (location === undefined || !isRedirect(status) || step === MAX_STEPS) {
      // A TimeGate that answers 200 or redirects without naming a memento does not report a miss.
      const answer =
        status === 200 || isRedirect(status)
          ? unreadableAnswer(status, "no-memento", "the TimeGate names no memento")
          : answerOfStatus(status);
      return { answer, headers: head.headers, timemap };
    }
    url = redirectTarget(head.url, location);
  }
}

/** The mementos that a TimeGate names, and the URL of the TimeMap. */
interface NamedLinks {
  readonly mementos: MementoList | undefined;
  readonly timemap: string | undefined;
}

function linksOf(head: ResponseHead): NamedLinks {
  const { status, headers, url } = head;
  if (status !== 200 && !isRedirect(status)) return { mementos: undefined, timemap: undefined };
  const link = headers.get("link");
  const reading = typeof link === "string" ? readLinks(asciiBytes(link)) : undefined;
  const page = reading?.pages.find(({ rel }) => rel === "timemap");
  const timemap = page === undefined ? undefined : absoluteUri(page.uri, url);
  const named = reading === undefined ? undefined : resolveUris(reading.mementos, url);
  if (named !== undefined && named.count > 0) return { mementos: named, timemap };
  const location = locationOf(head, status === 200 ? "content-location" : "location");
  const uri = location === undefined ? url : absoluteUri(location, url);
  if (uri === undefined) return { mementos: undefined, timemap };
  const datetime = datetimeOf(headers.get("memento-datetime"), uri);
  const mementos = datetime === undefined ? undefined : MementoList.of([{ uri, datetime }]);
  return { mementos, timemap };
}

/** A header with a URL; its raw bytes are percent-encoded. */
function locationOf({ headers }: ResponseHead, name: string): string | undefined {
  const value = headers.get(name);
  return typeof value === "string" ? sendableUri(value.trim()) : undefined;
}

/** The datetime in the header, or else the one in the memento's URL. */
function datetimeOf(header: string | null | undefined, uri: string): number | undefined {
  const stated = typeof header === "string" ? tryParseDatetime(header) : undefined;
  return stated ?? tryParseDatetime(/\/(\d{14})(?:[a-z]{2}_)?\//.exec(uri)?.[1] ?? "");
}
