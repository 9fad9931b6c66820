import type { IncomingMessage, ServerResponse } from "node:http";
import type { Aggregation } from "../aggregator.ts";
import { isWhole, type Outcome } from "../session.ts";
import type { StopSignal } from "../upstream.ts";
import type { RouteName } from "../../http/metrics.ts";
import { type Problem } from "../../http/reply.ts";
import { sendProblem, sendWhole, type WholeAnswer } from "../../http/send.ts";
import type { Preferences } from "./preferences.ts";

/** A request to the aggregator that is being answered. */
export interface AggregatorExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isHead: boolean;
  preferences: Preferences;
  /** The address of the client. */
  readonly client: string;
  /** The public address of the service, without a slash at its end. */
  readonly base: string;
  /** Whether another process has the client. */
  readonly isForwarded: boolean;
  /** Aborted when the client has gone. */
  readonly signal: StopSignal;
  /** What the request is counted as in metrics. */
  route: RouteName;
  readonly style: AnswerStyle;
  /** Called with an answer that is sent whole, where it may be given again. */
  onAnswer?: ((answer: WholeAnswer) => void) | undefined;
  /** Links to maps of what was learnt, for answers about the service itself. */
  mapLinks?: string | undefined;
}

/** What is the same in every answer. */
export interface AnswerStyle {
  /** The value of `Server`. */
  readonly server: string;
  /** How long clients may use a whole answer without asking again. */
  readonly maxAgeSeconds: number;
}

const EXPOSED_HEADERS =
  "Link, Location, X-Memento-Count, Server, Memento-Datetime, Preference-Applied, Retry-After, X-MementoMap-Archives, X-MementoMap-Missing, X-MementoMap-Route";

/** Headers as a flat list of names and values, which Node writes with the least ado. */
export type HeaderList = string[];

/** What every answer carries, as MemGator's do: who answers, and that pages of other sites may read it. */
export function commonHeaders({ style: { server } }: AggregatorExchange): HeaderList {
  return [
    "Server",
    server,
    "Access-Control-Allow-Origin",
    "*",
    "Access-Control-Expose-Headers",
    EXPOSED_HEADERS,
  ];
}

/** The preference headers of a request: answers depend on them, whether it has them or not. */
const PREFERENCE_HEADERS = "prefer, x-memgator-archive-filter, x-mementomap-route";

/** The headers of an answer that archives had a part in. */
export function aggregationHeaders(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
): HeaderList {
  const { preferences, route, style } = exchange;
  const headers = commonHeaders(exchange);
  const varies =
    route === "timegate" ? `accept-datetime, ${PREFERENCE_HEADERS}` : PREFERENCE_HEADERS;
  headers.push("Vary", varies);
  addFreshness(headers, aggregation, style);
  if (route === "timemap") headers.push("X-MementoMap-Archives", String(hitCount(aggregation)));
  if (!aggregation.isWhole) headers.push("X-MementoMap-Missing", missingHeader(aggregation));
  if (preferences.applied !== undefined) headers.push("Preference-Applied", preferences.applied);
  if (preferences.wantsReasons) headers.push("X-MementoMap-Route", routeReasons(aggregation));
  return headers;
}

/** How many archives have mementos of the original. */
function hitCount({ outcomes }: Aggregation): number {
  let hits = 0;
  for (const { result } of outcomes) if (result === "hit") hits += 1;
  return hits;
}

/**
 * An answer that lacks an archive is not cached: the archive may be back at once. If the archive is
 * dormant, which lasts a minute at least, the answer is cached for that long. An answer without
 * mementos is not stored at all if archives are missing, or if no archive had a part in it.
 */
function addFreshness(headers: HeaderList, aggregation: Aggregation, style: AnswerStyle): void {
  const { outcomes, mementos } = aggregation;
  const areAllWhole = outcomes.every(isWhole);
  if (!aggregation.isWhole && (!areAllWhole || !hasAnswer(aggregation))) {
    headers.push("Cache-Control", mementos.count === 0 ? "no-store" : "no-cache");
    return;
  }
  const { maxAgeSeconds } = style;
  const maxAge = aggregation.isWhole ? maxAgeSeconds : Math.min(maxAgeSeconds, DORMANT_SECONDS);
  let age = 0;
  for (const { ageSeconds } of outcomes) age = Math.max(age, ageSeconds);
  // Caches count from `Age` on: an answer that is given is fresh, however old its parts are.
  headers.push("Cache-Control", `public, max-age=${age + maxAge}`);
  if (age > 0) headers.push("Age", String(age));
}

const DORMANT_SECONDS = 60;

/** `loc;late, ia;timeout`: the archives whose answer is missing from this one, or a part of it. */
function missingHeader(aggregation: Aggregation): string {
  return missingArchives(aggregation)
    .map(({ archive, reason }) => `${headerToken(archive)};${reason}`)
    .join(", ");
}

/** `ia=in-map;hit;3, loc=not-in-map`: why each archive was asked, or was not, and what it said. */
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

/** An id as it can stand in a header. */
function headerToken(id: string): string {
  return /^[\w.:-]+$/.test(id) ? id : encodeURIComponent(id);
}

/**
 * A URI as it can stand in a header: what archives send may have any characters in it.
 *
 * Those that are not ASCII are encoded as UTF-8, as browsers do; blanks, controls, quotes and angle
 * brackets too.
 */
export function headerUri(uri: string): string {
  return /^[!#-;=?-~]*$/.test(uri)
    ? uri
    : uri.replaceAll(/[^!#-;=?-~]+/gu, (part) => encodeURIComponent(part));
}

/** Answers with a problem document. */
export function sendRefusal(exchange: AggregatorExchange, problem: Problem): void {
  const { response, isHead } = exchange;
  if (!response.headersSent) setHeaders(response, commonHeaders(exchange));
  sendProblem(response, problem, isHead);
}

/** Tells where maps of what was learnt are; each link names the archive its map is of. */
export function addMapLinks(headers: HeaderList, { mapLinks }: AggregatorExchange): void {
  if (mapLinks !== undefined) headers.push("Link", mapLinks);
}

/** Sets headers for an answer that something else begins. */
export function setHeaders(response: ServerResponse, headers: HeaderList): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at], headers[at + 1]);
}

export function sendJson(
  exchange: AggregatorExchange,
  headers: HeaderList,
  value: unknown,
  status: number = 200,
): void {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  sendBody(exchange, status, headers, "application/json", text);
}

/** Sends a text of known length. */
export function sendBody(
  { response, isHead, onAnswer }: AggregatorExchange,
  status: number,
  headers: HeaderList,
  contentType: string,
  body: string | Uint8Array,
): void {
  headers.push("Content-Type", contentType, "Content-Length", String(Buffer.byteLength(body)));
  onAnswer?.({ status, fields: headers, body });
  sendWhole(response, { status, fields: headers, body: isHead ? "" : body });
}

/** An archive whose answer is missing from an aggregation, or a part of it. */
export interface MissingArchive {
  readonly archive: string;
  readonly name: string;
  /** A stable word: `late`, `status-503`, or one of `FAILURE_REASONS`. */
  readonly reason: string;
  /** What happened, for people. */
  readonly detail: string;
}

/** The archives whose answer is missing: those that failed or were late, and dormant ones. */
export function missingArchives({ decisions, outcomes }: Aggregation): MissingArchive[] {
  const failed = outcomes.filter((outcome) => !isWhole(outcome)).map(missingOutcome);
  const dormant = decisions
    .filter(({ reason }) => reason === "dormant")
    .map(({ archive }) => ({
      archive: archive.id,
      name: archive.name,
      reason: "dormant",
      detail: "it failed too often and is dormant for a while",
    }));
  return [...failed, ...dormant];
}

/** Whether one archive at least said what it has, so that the answer means something. */
export function hasAnswer({ outcomes }: Aggregation): boolean {
  return outcomes.some(({ result }) => result === "hit" || result === "miss");
}

/** Whether archives are missing only because they took too long. */
export function areAllLate(missing: readonly MissingArchive[]): boolean {
  return missing.every(({ reason }) => LATE.has(reason));
}

const LATE: ReadonlySet<string> = new Set(["late", "timeout", "connect-timeout", "queue-timeout"]);

function missingOutcome({ archive, result, failure, status, fault }: Outcome): MissingArchive {
  const reason = result === "late" ? "late" : (failure ?? `status-${status ?? 0}`);
  const detail = fault ?? `it answered with status ${status ?? 0}`;
  return { archive: archive.id, name: archive.name, reason, detail };
}

/** The methods that every path takes. */
export const ALLOWED = "GET, HEAD, OPTIONS";

/** Answers OPTIONS: what pages of other sites may send. */
export function sendPreflight(exchange: AggregatorExchange): void {
  exchange.response.writeHead(204, [
    ...commonHeaders(exchange),
    "Allow",
    ALLOWED,
    "Access-Control-Allow-Methods",
    ALLOWED,
    "Access-Control-Allow-Headers",
    "Accept, Accept-Datetime, Cache-Control, Prefer, X-MemGator-Archive-Filter, X-MementoMap-Route",
    "Access-Control-Max-Age",
    "86400",
  ]);
  exchange.response.end();
}

export function tooFast(wait: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(wait)));
  return {
    status: 429,
    title: "Too many requests",
    detail: `too many requests from your address; wait ${seconds} s`,
    headers: { "Retry-After": seconds },
  };
}
