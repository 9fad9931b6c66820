import CachePolicy from "http-cache-semantics";
import { asError } from "../../errors.ts";
import type { UpstreamAnswer, UpstreamRequest } from "../upstream.ts";
import { ArchiveRequest, type AskedArchive } from "./archive-request.ts";
import { type CachedAnswer, type CacheStore, headersOfBlock, MemoryStore } from "./cache-store.ts";
import type { SharedAnswer } from "./shared-answer.ts";
import type { FailureReason } from "../../http/retry.ts";
import { joinBytes } from "../../bytes/bytes.ts";
import { holdChunk } from "../../bytes/hold-chunk.ts";
import type { HttpHeaders } from "../../http/http-client.ts";
import type { AnswerHead, AnswerHeaders, AnswerReceiver, Exchange } from "../../http/exchange.ts";

export interface CacheOptions {
  /** Where answers are kept; default 64 MiB of memory. It is closed with the upstream. */
  readonly store?: CacheStore | undefined;
  /** How long answers are fresh that do not say so; default 1 h. */
  readonly freshMs?: number | undefined;
  /** The same for answers 404 and 410; default 10 min. */
  readonly negativeMs?: number | undefined;
  /**
   * How long after that an answer is still given when the archive fails or is dormant; default
   * 1 day. Archives can forbid it by `must-revalidate`.
   */
  readonly staleIfErrorMs?: number | undefined;
  /** Longer bodies are not kept; default 8 MiB. */
  readonly maxEntryBytes?: number | undefined;
}

/** How long answers are good that do not say so themselves. */
interface Freshness {
  /** For answers that are there: 200, 203, 300, 301, 308. */
  readonly freshMs: number;
  /** For answers that are not: 404, 410. */
  readonly negativeMs: number;
}

/** What a request through the cache needs to know of it. */
export interface CacheRules extends Freshness {
  readonly store: CacheStore;
  readonly staleIfErrorMs: number;
  readonly maxEntryBytes: number;
}

/** @returns the rules with defaults for what is left out. */
export function cacheRules(options: CacheOptions): CacheRules {
  return {
    store: options.store ?? new MemoryStore(),
    freshMs: options.freshMs ?? 3_600_000,
    negativeMs: options.negativeMs ?? 600_000,
    staleIfErrorMs: options.staleIfErrorMs ?? 86_400_000,
    maxEntryBytes: options.maxEntryBytes ?? 8 * 2 ** 20,
  };
}

/** Whether a request is one that a cache can answer: not for a part, and without conditions. */
export function isForCache({ isCacheable, headers }: UpstreamRequest): boolean {
  if (!isCacheable) return false;
  if (headers === undefined) return true;
  return (
    !Object.hasOwn(headers, "range") &&
    !Object.hasOwn(headers, "authorization") &&
    !Object.hasOwn(headers, "if-none-match") &&
    !Object.hasOwn(headers, "if-modified-since")
  );
}

function cacheKey({ url, headers, followsRedirects }: UpstreamRequest): string {
  const datetime = headers?.["accept-datetime"] ?? "";
  return `${followsRedirects ? "follow" : "stay"} ${datetime}\n${url}`;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
/**
 * An answer that came later than now came while the clock was wrong, and would count as fresh until
 * the time it was set to.
 */
const CLOCK_SLACK_MS = 60_000;
/** What bodies begin with; never written to. */
const NOTHING: Uint8Array[] = [];
/** About the message that said so, not about what was kept. */
const NOT_FRESHENED: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "transfer-encoding",
]);

/**
 * One request through the cache (RFC 9111, shared): answered from the store, by the archive, or from
 * the store after the archive confirmed what is kept or failed.
 *
 * Requests are told apart by address, by whether redirects are followed, and by `Accept-Datetime`;
 * other headers that `Vary` names have to be the same as they were. After redirects it is the last
 * answer that says how long it is fresh.
 */
export class CachedExchange implements AnswerReceiver, Exchange {
  readonly #rules: CacheRules;
  readonly #key: string;
  readonly #archive: AskedArchive;
  readonly #request: UpstreamRequest;
  readonly #answer: SharedAnswer;
  /** What is kept and has to be asked about. */
  #stale: CachedAnswer | undefined;
  #policy: CachePolicy | undefined;
  #inner: Exchange | undefined;
  #isAborted = false;
  /** The answer was given: what still comes is of no interest. */
  #isAnswered = false;
  #head: AnswerHead | undefined;
  /** The body, for the store; undefined when it is not to be kept. */
  #chunks: Uint8Array[] | undefined;
  #bytes = 0;

  constructor(
    rules: CacheRules,
    archive: AskedArchive,
    request: UpstreamRequest,
    answer: SharedAnswer,
  ) {
    this.#rules = rules;
    this.#key = cacheKey(request);
    this.#archive = archive;
    this.#request = request;
    this.#answer = answer;
  }

  begin(): void {
    const found = this.#rules.store.find(this.#key);
    if (!(found instanceof Promise)) {
      this.#decide(found);
      return;
    }
    found
      .then((kept) => {
        if (!this.#isAborted) this.#decide(kept);
      })
      .catch((error: unknown) => this.#answer.onFail(asError(error)));
  }

  resume(): void {
    this.#inner?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#inner?.abort();
  }

  onHead(head: AnswerHead): void {
    if (this.#stale !== undefined && head.status === 304) {
      this.#freshen(this.#stale, head);
      return;
    }
    if (head.status >= 500 && this.#giveStale()) return;
    this.#head = head;
    this.#chunks = this.#isToKeep(head) ? NOTHING : undefined;
    this.#answer.onHead(head);
  }

  onChunk(chunk: Uint8Array): boolean {
    if (this.#isAnswered) return true;
    if (this.#chunks !== undefined) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#rules.maxEntryBytes) this.#chunks = undefined;
      else if (this.#chunks === NOTHING) this.#chunks = [chunk];
      else holdChunk(this.#chunks, chunk);
    }
    return this.#answer.onChunk(chunk);
  }

  onEnd(): void {
    if (this.#isAnswered) return;
    if (this.#chunks !== undefined && this.#head !== undefined) {
      const body = this.#chunks.length === 1 ? this.#chunks[0] : joinBytes(this.#chunks);
      const { status, url, headers } = this.#head;
      this.#rules.store.put(this.#key, {
        receivedAt: Date.now(),
        status,
        url,
        headerBlock: blockOf(headers),
        requestHeaders: this.#request.headers ?? NO_HEADERS,
        body,
      });
    }
    this.#answer.onEnd();
  }

  onFail(error: Error, reason: FailureReason): void {
    if (this.#isAnswered) return;
    const isArchives = reason !== "body-limit" && reason !== "aborted";
    if (this.#head === undefined && isArchives && this.#giveStale()) return;
    this.#answer.onFail(error);
  }

  #decide(found: CachedAnswer | undefined): void {
    const { url, headers = NO_HEADERS } = this.#request;
    const asked = { url, method: "GET", headers };
    const isOfFuture = found !== undefined && found.receivedAt > Date.now() + CLOCK_SLACK_MS;
    const kept = isOfFuture ? undefined : found;
    if (kept !== undefined) {
      const isPlain = this.#request.headers === undefined && isPlainlyFresh(kept, this.#rules);
      const policy = isPlain ? undefined : policyOf(url, kept, this.#rules);
      if (policy?.storable() === false) {
        this.#rules.store.delete(this.#key);
      } else if (policy === undefined || policy.satisfiesWithoutRevalidation(asked)) {
        this.#archive.counters.cacheHits += 1;
        this.#give(kept, "cache");
        return;
      } else {
        this.#stale = kept;
        this.#policy = policy;
      }
    }
    if (/only-if-cached/i.test(cacheControlOf(headers))) this.#give(notKept(url), "cache");
    else this.#ask(this.#policy?.revalidationHeaders(asked));
  }

  #ask(conditions: CachePolicy.Headers | undefined): void {
    const request =
      conditions === undefined
        ? this.#request
        : { ...this.#request, headers: conditions as Record<string, string> }; // each has one value
    const inner = new ArchiveRequest(this.#archive, request, this);
    this.#inner = inner;
    inner.begin();
  }

  #isToKeep({ status, headers }: AnswerHead): boolean {
    if (this.#request.method === "HEAD" || !isKeptStatus(status)) return false;
    const said = headers.get("cache-control");
    return said === undefined || said === null || !/no-store|private/i.test(said);
  }

  #freshen(stale: CachedAnswer, head: AnswerHead): void {
    const headers = headersOfBlock(stale.headerBlock);
    delete headers["age"]; // it was that of the old answer
    for (const [name, value] of Object.entries(headersOfBlock(blockOf(head.headers)))) {
      if (!NOT_FRESHENED.has(name)) headers[name] = value;
    }
    let headerBlock = "";
    for (const [name, value] of Object.entries(headers)) headerBlock += `${name}: ${value}\r\n`;
    const fresh = { ...stale, headerBlock, receivedAt: Date.now() };
    this.#rules.store.put(this.#key, fresh);
    this.#archive.counters.revalidations += 1;
    this.#give(fresh, "revalidated");
  }

  /** Gives what is kept although it is old, if that is allowed; whether it was. */
  #giveStale(): boolean {
    const stale = this.#stale;
    const policy = this.#policy;
    if (stale === undefined || policy === undefined) return false;
    const isForbidden =
      /must-revalidate|proxy-revalidate|no-cache|s-maxage/i.test(
        cacheControlOf(headersOfBlock(stale.headerBlock)),
      ) || /no-cache/i.test(cacheControlOf(this.#request.headers));
    const staleMs = (policy.age() - policy.maxAge()) * 1000;
    if (isForbidden || staleMs > this.#rules.staleIfErrorMs) return false;
    this.#archive.counters.staleAnswers += 1;
    this.#give(stale, "cache");
    return true;
  }

  #give(kept: CachedAnswer, origin: UpstreamAnswer["origin"]): void {
    const { status, url, body } = kept;
    this.#isAnswered = true;
    this.#answer.origin = origin;
    this.#answer.onHead({ status, url, headers: new KeptHeaders(kept) });
    if (this.#request.method !== "HEAD" && body.byteLength > 0) this.#answer.onChunk(body);
    this.#answer.onEnd();
  }
}

/** All that reaches this comes from the network. */
function blockOf(headers: AnswerHeaders): string {
  return headers.toBlock?.() ?? "";
}

function cacheControlOf(headers: Readonly<Record<string, string>> | undefined): string {
  return headers?.["cache-control"] ?? "";
}

/** What RFC 9111 gives when nothing is kept and nobody may be asked. */
function notKept(url: string): CachedAnswer {
  return {
    receivedAt: Date.now(),
    status: 504,
    url,
    headerBlock: "",
    requestHeaders: {},
    body: new Uint8Array(),
  };
}

const SAYS_AGE = /^age\s*:/im;
const SAYS_OF_CACHES = /^(?:age|cache-control|expires|pragma|vary)\s*:/im;

/**
 * Whether a kept answer that says nothing about caches, to a request that did not either, is fresh: as most are.
 * `policyOf` says the same, and takes longer than all else that an answer from the cache does.
 */
export function isPlainlyFresh(answer: CachedAnswer, freshness: Freshness): boolean {
  const { status, receivedAt, headerBlock, requestHeaders } = answer;
  const seconds = Math.round(assumedMs(status, freshness) / 1000);
  if (seconds === 0 || Date.now() - receivedAt >= seconds * 1000) return false;
  return !SAYS_OF_CACHES.test(headerBlock) && Object.keys(requestHeaders).length === 0;
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
function isKeptStatus(status: number): boolean {
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

/** Headers that were kept, with the age of the answer; read when somebody asks for one. */
class KeptHeaders implements HttpHeaders {
  readonly #block: string;
  readonly #heldSeconds: number;
  #record: Readonly<Record<string, string>> | undefined;

  constructor({ headerBlock, receivedAt }: CachedAnswer) {
    this.#block = headerBlock;
    this.#heldSeconds = Math.max(0, Math.floor((Date.now() - receivedAt) / 1000));
  }

  get(name: string): string | undefined {
    if (name === "age" && !SAYS_AGE.test(this.#block)) return String(this.#heldSeconds);
    const record = (this.#record ??= headersOfBlock(this.#block));
    if (name === "age") return String((Number(record["age"]) || 0) + this.#heldSeconds);
    return Object.hasOwn(record, name) ? record[name] : undefined;
  }
}
