import CachePolicy from "http-cache-semantics";
import { headersOfBlock } from "./cached-head.ts";

/** An answer as a cache keeps it. */
export interface CachedAnswer {
  /** When it came, or was last found unchanged: milliseconds since 1970. */
  readonly receivedAt: number;
  readonly status: number;
  /** Where it came from, after redirects. */
  readonly url: string;
  /** Its headers, about the decompressed body, as they are sent: `Name: value`, CR, LF. */
  readonly headerBlock: string;
  /** The headers it was asked for with, by lower-case names. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** How long answers are good that do not say so themselves. */
export interface Freshness {
  /** For answers that are there: 200, 203, 300, 301, 308. */
  readonly freshMs: number;
  /** For answers that are not: 404, 410. */
  readonly negativeMs: number;
}

/** Keeps answers by their requests; forgets some when there are too many. */
export interface CacheStore {
  find(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  put(key: string, answer: CachedAnswer): void;
  delete(key: string): void;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** What a request through the cache needs to know of it. */
export interface CacheRules extends Freshness {
  readonly store: CacheStore;
  readonly staleIfErrorMs: number;
  readonly maxEntryBytes: number;
}

const SAYS_HOW_LONG =
  /(?:max-age|s-maxage|no-cache|no-store|private|must-revalidate|proxy-revalidate|immutable)/i;

/** Judges by RFC 9111 whether a kept answer may be used, as a cache that many share. */
export function policyOf(url: string, answer: CachedAnswer, freshness: Freshness): CachePolicy {
  const headers = headersOfBlock(answer.headerBlock);
  // Nobody here keeps cookies, and a load balancer's must not end all caching.
  delete headers["set-cookie"];
  const seconds = Math.round(assumedMs(answer.status, freshness) / 1000);
  const said = headers["cache-control"] ?? "";
  const isSaid =
    SAYS_HOW_LONG.test(said) || headers["expires"] !== undefined || headers["pragma"] !== undefined;
  if (!isSaid && seconds > 0) {
    headers["cache-control"] = said === "" ? `max-age=${seconds}` : `${said}, max-age=${seconds}`;
  }
  const request = { url, method: "GET", headers: { ...answer.requestHeaders } };
  const policy = new CachePolicy(request, { status: answer.status, headers }, { shared: true });
  // The policy is made when it is needed, which is later than the answer.
  return CachePolicy.fromObject({ ...policy.toObject(), t: answer.receivedAt });
}

/** Whether an answer of this status may be kept at all. Most that are not are failures. */
export function isKeptStatus(status: number): boolean {
  return (status >= 200 && status < 400 && status !== 206 && status !== 304) || isNegative(status);
}

function isNegative(status: number): boolean {
  return status === 404 || status === 410;
}

function assumedMs(status: number, { freshMs, negativeMs }: Freshness): number {
  if (isNegative(status)) return negativeMs;
  const isPresent =
    status === 200 || status === 203 || status === 300 || status === 301 || status === 308;
  return isPresent ? freshMs : 0;
}
