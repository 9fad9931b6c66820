import { formatAmount } from "../../format.ts";
import {
  summarizeTimeMap,
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
} from "../../memento/timemap-document.ts";
import { describeMemento, timeGateLinks, writeTimeMap } from "../../memento/write-timemap.ts";
import { escapeHtml } from "../../page/html.ts";
import type { Exchange } from "./exchange.ts";
import type { Preferences } from "./request.ts";
import type { Aggregation } from "../aggregator.ts";
import { isWhole } from "../session.ts";
import type { Decision, RouteReason } from "../route/decision.ts";
import {
  notFound,
  type Problem,
  problemReply,
  type Reply,
  type ReplyHeaders,
  textReply,
} from "../../http/reply.ts";

/** A lookup and its result. */
export interface Found {
  readonly exchange: Exchange;
  readonly aggregation: Aggregation;
  readonly preferences: Preferences;
  /** Parameters in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The requested datetime, if there is one. */
  readonly datetime: number;
}

/** A TimeMap, or a page of one that is longer than `pageSize`; generated as the client reads it. */
export function timeMapReply(found: Found): Reply {
  const { base, request, options } = found.exchange;
  const { original, mementos } = found.aggregation;
  const { pageSize = 1_000_000 } = options;
  const { page } = found.params;
  const format = formatOf(found);
  const pages = mementos.pages(pageSize);
  const current = Number(page ?? 1) - 1;
  if (current >= pages.length) {
    return problemReply(notFound(`the TimeMap has ${formatAmount(pages.length, "page")}`));
  }
  const uriOf = (number: number, other: string): string =>
    `${base}/timemap/${other}/${number + 1}/${original}`;
  const isWhole = page === undefined && pages.length === 1;
  const paging = isWhole ? undefined : { pages, current, uriOf };
  return {
    status: 200,
    headers: { ...mementosHeaders(found), "Content-Type": TIMEMAP_TYPES[format] },
    body:
      request.method === "HEAD"
        ? undefined
        : bodyOf(writeTimeMap({ ...documentOf(found), paging }, format)),
  };
}

/** A format allowed in the path. */
function formatOf({ params: { format = "link" } }: Found): TimeMapFormat {
  return format as TimeMapFormat;
}

/** A single block if there are few bytes, so that the response has a Content-Length. */
function bodyOf(blocks: Generator<Uint8Array, void, undefined>): Reply["body"] {
  const first = blocks.next();
  if (first.done === true) return undefined; // a TimeMap is never empty
  const second = blocks.next();
  if (second.done === true) return first.value;
  return (async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield first.value;
    yield second.value;
    yield* blocks;
  })();
}

function documentOf({ exchange: { base }, aggregation }: Found): TimeMapDocument {
  const { original, mementos } = aggregation;
  return { original, service: base, mementos };
}

/** Index of the memento closest to the requested datetime. */
function closestOf({ aggregation: { mementos }, datetime }: Found): number {
  return mementos.closest(datetime);
}

/** Redirects to the memento closest to a datetime, and links to those around it (RFC 7089, 4.1). */
export function timeGateReply(found: Found): Reply {
  return redirect(found, { Link: timeGateLinks(documentOf(found), closestOf(found)) });
}

/** Redirects to the memento closest to a datetime. */
export function mementoReply(found: Found): Reply {
  return redirect(found);
}

function redirect(found: Found, more: ReplyHeaders = {}): Reply {
  const location = headerUri(found.aggregation.mementos.uriAt(closestOf(found)));
  const headers = { ...aggregationHeaders(found), ...more, Location: location };
  const body = `<a href="${escapeHtml(location)}">Found</a>.\n\n`;
  return { ...textReply("text/html; charset=utf-8", body, headers), status: 302 };
}

/** Describes the memento closest to a datetime, and those around it. */
export function detailsReply(found: Found): Reply {
  const format = formatOf(found);
  return {
    status: 200,
    headers: { ...aggregationHeaders(found), "Content-Type": TIMEMAP_TYPES[format] },
    body: describeMemento(documentOf(found), format, closestOf(found)),
  };
}

/** Counts mementos by archive and year, without listing them. */
export function summaryReply(found: Found): Reply {
  const { archives, mementos } = found.aggregation;
  const summary = summarizeTimeMap({ ...documentOf(found), mementos }, archives);
  const text = `${JSON.stringify(summary, undefined, 2)}\n`;
  return textReply("application/json", text, mementosHeaders(found));
}

function mementosHeaders(found: Found): ReplyHeaders {
  const count = String(found.aggregation.mementos.count);
  return { ...aggregationHeaders(found), "X-Memento-Count": count };
}

/** Request headers that responses vary by, whether present or not. */
const PREFERENCE_HEADERS = "prefer, x-memgator-archive-filter, x-mementomap-route";
const DORMANT_SECONDS = 60;

/** Headers of a response built from archives' answers. */
export function aggregationHeaders({ exchange, aggregation, preferences }: Found): ReplyHeaders {
  const { route, options } = exchange;
  const { applied, wantsReasons } = preferences;
  const hits = aggregation.outcomes.filter(({ result }) => result === "hit").length;
  return {
    Vary: route === "timegate" ? `accept-datetime, ${PREFERENCE_HEADERS}` : PREFERENCE_HEADERS,
    ...freshness(aggregation, options.maxAgeSeconds ?? 600),
    ...(route === "timemap" ? { "X-MementoMap-Archives": String(hits) } : {}),
    ...(aggregation.isWhole ? {} : { "X-MementoMap-Missing": missingHeader(aggregation) }),
    ...(applied === undefined ? {} : { "Preference-Applied": applied }),
    ...(wantsReasons ? { "X-MementoMap-Route": routeReasons(aggregation) } : {}),
  };
}

/**
 * A response that lacks an archive is not cached: the archive may be back at once. If the archive is dormant, which
 * lasts at least a minute, the response is cached for that long. A response without mementos is not stored at all if
 * archives are missing, if skipped ones may have a memento, or if none was queried.
 */
function freshness(aggregation: Aggregation, seconds: number): ReplyHeaders {
  const { outcomes, mementos, isWhole: isAll } = aggregation;
  const isNothing = mementos.count === 0;
  const isKnown = outcomes.every(isWhole) && outcomes.length > 0;
  if (!isAll && !isKnown) return { "Cache-Control": isNothing ? "no-store" : "no-cache" };
  if (isNothing && skippedArchives(aggregation).length > 0) return { "Cache-Control": "no-store" };
  const age = Math.max(0, ...outcomes.map(({ ageSeconds }) => ageSeconds));
  // Caches count from `Age`: a response is fresh when it is sent, however old its parts are.
  const maxAge = age + (isAll ? seconds : Math.min(seconds, DORMANT_SECONDS));
  return {
    "Cache-Control": `public, max-age=${maxAge}`,
    ...(age > 0 ? { Age: String(age) } : {}),
  };
}

/** `loc;pending, ia;timeout`: the archives whose answers are missing or incomplete. */
function missingHeader(aggregation: Aggregation): string {
  return missingArchives(aggregation)
    .map(({ archive, reason }) => `${headerToken(archive)};${reason}`)
    .join(", ");
}

/** `ia=in-map;hit;3, loc=not-in-map`: why each archive was queried or skipped, and its answer. */
function routeReasons({ decisions, outcomes }: Aggregation): string {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.decision, outcome]));
  return decisions
    .map((decision) => {
      const outcome = outcomeOf.get(decision);
      const said = outcome === undefined ? "" : `;${outcome.result};${outcome.mementos}`;
      return `${headerToken(decision.archive.id)}=${decision.reason}${said}`;
    })
    .join(", ");
}

/** An id as a header token. */
function headerToken(id: string): string {
  return /^[\w.:-]+$/.test(id) ? id : encodeURIComponent(id);
}

/**
 * A URI as a header value: those of archives may contain any characters.
 *
 * Non-ASCII characters are encoded as UTF-8, as browsers do; whitespace, controls, quotes and angle brackets
 * too.
 */
export function headerUri(uri: string): string {
  return /^[!#-;=?-~]*$/.test(uri)
    ? uri
    : uri.replaceAll(/[^!#-;=?-~]+/gu, (part) => encodeURIComponent(part));
}

/** Reasons for skipping an archive that may still have a memento. */
const MAY_HAVE_IT: ReadonlySet<RouteReason> = new Set([
  "not-selected",
  "beyond-top-k",
  "improbable",
  "unlikely",
]);

function skippedArchives({ decisions }: Aggregation): Decision[] {
  return decisions.filter(({ reason }) => MAY_HAVE_IT.has(reason));
}

/** An archive whose answer is missing or incomplete. */
interface MissingArchive {
  readonly archive: string;
  readonly name: string;
  /** A stable word: `pending`, `status-503`, or one of `FAILURE_REASONS`. */
  readonly reason: string;
  /** Description for people. */
  readonly detail: string;
}

/** The archives whose answers are missing: those that failed or have not answered yet, and dormant ones. */
function missingArchives({ decisions, outcomes }: Aggregation): MissingArchive[] {
  const failed = outcomes
    .filter((outcome) => !isWhole(outcome))
    .map(({ archive, result, failure, status = 0, fault }) => ({
      archive: archive.id,
      name: archive.name,
      reason: result === "pending" ? "pending" : (failure ?? `status-${status}`),
      detail: fault ?? `HTTP status ${status}`,
    }));
  const dormant = decisions
    .filter(({ reason }) => reason === "dormant")
    .map(({ archive: { id, name } }) => ({
      archive: id,
      name,
      reason: "dormant",
      detail: "dormant after repeated failures",
    }));
  return [...failed, ...dormant];
}

const LATE: ReadonlySet<string> = new Set([
  "pending",
  "timeout",
  "connect-timeout",
  "queue-timeout",
]);

/**
 * The reply without mementos: 404 if archives answered so, 502 or 504 if none of them answered. For a TimeMap the
 * count says so too, as in MemGator.
 *
 * If archives are missing, the document names them, and caches must not store it.
 */
export function noMementoReply(found: Found): Reply {
  const { exchange, aggregation, preferences } = found;
  const isOnlyCached = preferences.how === "only-cached" && !aggregation.isWhole;
  const problem = isOnlyCached ? notCached(aggregation) : noMementoProblem(found);
  const isCounted = problem.status === 404 && exchange.route === "timemap";
  const reply = problemReply(problem);
  const count = isCounted ? { "X-Memento-Count": "0" } : {};
  return { ...reply, headers: { ...reply.headers, ...aggregationHeaders(found), ...count } };
}

function noMementoProblem({ exchange, aggregation, preferences }: Found): Problem {
  if (aggregation.isWhole) {
    const { from, until } = { ...exchange.options.defaults, ...preferences.route };
    const period = from === undefined && until === undefined ? "" : " in the requested period";
    const skipped = skippedArchives(aggregation);
    const names = skipped.map(({ archive, reason }) => `${archive.id} (${reason})`).join(", ");
    const detail =
      skipped.length === 0
        ? `no archive has a memento of this${period}`
        : `no archive that was queried has a memento of this${period}; not queried: ${names}`;
    return { status: 404, title: "Not found", detail };
  }
  const missing = missingArchives(aggregation);
  const names = missing.map(({ archive, reason }) => `${archive} (${reason})`).join(", ");
  if (aggregation.outcomes.some(({ result }) => result === "hit" || result === "miss")) {
    return {
      status: 404,
      title: "Not found",
      detail: `no archive that answered has a memento of this; no answer from: ${names}`,
      members: { missing },
    };
  }
  const isLate = missing.every(({ reason }) => LATE.has(reason));
  return {
    status: isLate ? 504 : 502,
    title: isLate ? "No archive answered in time" : "No archive answered",
    detail: `no archive answered: ${names}; retry later`,
    members: { missing },
    headers: isLate ? { "Retry-After": "2" } : {},
  };
}

function notCached(aggregation: Aggregation): Problem {
  return {
    status: 504,
    title: "Not cached",
    detail: "there are no cached answers for this",
    members: { missing: missingArchives(aggregation) },
  };
}
