import type { UpstreamRequest } from "../upstream.ts";
import type { AskedArchive } from "./archive-request.ts";
import type { CacheRules, CacheStore } from "./cached-answer.ts";
import { CachedExchange } from "./cached-exchange.ts";
import { MemoryStore } from "./memory-store.ts";
import type { SharedAnswer } from "./shared-answer.ts";

export interface CacheOptions {
  /** Where answers are kept; default 64 MiB of memory. It is closed with the upstream. */
  readonly store?: CacheStore | undefined;
  /** How long answers are fresh that do not say so; default 1 h. */
  readonly freshMs?: number | undefined;
  /** The same for answers 404 and 410; default 10 min. */
  readonly negativeMs?: number | undefined;
  /**
   * How long after that an answer is still given when the archive fails or is left alone; default
   * 1 day. Archives can forbid it by `must-revalidate`.
   */
  readonly staleIfErrorMs?: number | undefined;
  /** Longer bodies are not kept; default 8 MiB. */
  readonly maxEntryBytes?: number | undefined;
}

/**
 * Answers requests from what was answered before, by RFC 9111, as a cache that many share.
 *
 * Requests are told apart by address, by whether redirects are followed, and by `Accept-Datetime`;
 * other headers that `Vary` names have to be the same as they were. After redirects it is the last
 * answer that says how long it is fresh.
 */
export class HttpCache {
  readonly #rules: CacheRules;

  constructor(options: CacheOptions) {
    this.#rules = {
      store: options.store ?? new MemoryStore(),
      freshMs: options.freshMs ?? 3_600_000,
      negativeMs: options.negativeMs ?? 600_000,
      staleIfErrorMs: options.staleIfErrorMs ?? 86_400_000,
      maxEntryBytes: options.maxEntryBytes ?? 8 * 2 ** 20,
    };
  }

  /** Answers from the cache, or by asking the archive; may do so before it returns. */
  begin(archive: AskedArchive, request: UpstreamRequest, answer: SharedAnswer): void {
    const exchange = new CachedExchange(this.#rules, cacheKey(request), archive, request, answer);
    answer.attach(exchange);
    exchange.begin();
  }

  close(): Promise<void> {
    return this.#rules.store.close();
  }
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
