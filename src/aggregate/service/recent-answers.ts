import type { ForwardedAnswer } from "../../http/socket-forward.ts";
import { isSample } from "../route/decision.ts";
import type { Outcome, Session, SessionObserver } from "../session.ts";
import { type CachedAnswer, MemoryStore } from "../upstream/cache-store.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";
import { NO_PREFERENCES } from "./preferences.ts";

const KEPT_MS = 60_000;
/** Of all answers together; the oldest are forgotten. */
const MOST_BYTES = 16 * 2 ** 20;
/** Longer ones take more time to send than to make. */
const LONGEST_BYTES = 65_536;
/** Originals that are known to have more by now; the oldest are forgotten. */
const MOST_OUTDATED = 4096;

/**
 * TimeMaps that were given in the last minute. They are given again, with their age, as any cache in front of the
 * service would: to merge cached answers of a dozen archives, or to forward a request to the process that has them,
 * takes several times as long.
 *
 * Once an archive that a client did not wait for turns out to have something of an original, older answers about it
 * are not given any more.
 */
export class RecentAnswers implements SessionObserver {
  readonly #now: () => number;
  #answers = new MemoryStore({ maxBytes: MOST_BYTES });
  /** Originals, and when their answers became outdated; the oldest first. */
  readonly #outdated = new Map<string, number>();

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** What an answer is kept by; undefined for a request whose answer is not kept. */
  static keyOf({ request, base, route, preferences }: AggregatorExchange): string | undefined {
    const isPlain = request.method === "GET" && route === "timemap";
    if (!isPlain || preferences !== NO_PREFERENCES) return undefined;
    return `${request.headers.accept ?? ""} ${base}\n${request.url ?? ""}`;
  }

  /** The answer of a key, which is about an original. */
  find(key: string, original: string): ForwardedAnswer | undefined {
    const kept = this.#answers.find(key);
    if (kept === undefined) return undefined;
    const ms = this.#now() - kept.receivedAt;
    const outdatedAt = this.#outdated.get(original) ?? -Infinity;
    if (ms >= KEPT_MS || outdatedAt >= kept.receivedAt) return undefined;
    return answerOf(kept, Math.floor(ms / 1000));
  }

  /** Keeps an answer that every cache may keep. */
  put(key: string, { status, fields, body }: ForwardedAnswer): void {
    if (body.length > LONGEST_BYTES || !isPublic(fields)) {
      this.#answers.delete(key);
      return;
    }
    let headerBlock = "";
    for (let at = 0; at + 1 < fields.length; at += 2) {
      headerBlock += `${fields[at]}: ${fields[at + 1]}\r\n`;
    }
    this.#answers.put(key, {
      receivedAt: this.#now(),
      status,
      url: "",
      headerBlock,
      requestHeaders: {},
      body: typeof body === "string" ? Buffer.from(body) : body,
    });
  }

  answered({ uri }: Session, { decision, result }: Outcome): void {
    if (result !== "hit" || !isSample(decision)) return;
    this.#outdated.delete(uri);
    this.#outdated.set(uri, this.#now());
    if (this.#outdated.size <= MOST_OUTDATED) return;
    const [oldest] = this.#outdated.keys();
    if (oldest !== undefined) this.#outdated.delete(oldest);
  }

  clear(): void {
    this.#answers = new MemoryStore({ maxBytes: MOST_BYTES });
  }
}

/** An answer as it is some seconds later. */
function answerOf({ status, headerBlock, body }: CachedAnswer, seconds: number): ForwardedAnswer {
  const fields: string[] = [];
  for (let at = 0; at < headerBlock.length;) {
    const colon = headerBlock.indexOf(": ", at);
    const end = headerBlock.indexOf("\r\n", colon);
    fields.push(headerBlock.slice(at, colon), headerBlock.slice(colon + 2, end));
    at = end + 2;
  }
  if (seconds > 0) {
    const at = fieldAt(fields, "age");
    if (at === -1) fields.push("Age", String(seconds));
    else fields[at + 1] = String(Number(fields[at + 1]) + seconds);
  }
  return { status, fields, body };
}

/** Whether caches may keep it for longer than it is kept here. Answers that lack an archive say otherwise. */
function isPublic(fields: readonly string[]): boolean {
  const cacheControl = valueOf(fields, "cache-control") ?? "";
  const [, maxAge = "0"] = /^public, max-age=(\d+)$/.exec(cacheControl) ?? [];
  return (Number(maxAge) - Number(valueOf(fields, "age") ?? 0)) * 1000 >= KEPT_MS;
}

function valueOf(fields: readonly string[], name: string): string | undefined {
  const at = fieldAt(fields, name);
  return at === -1 ? undefined : fields[at + 1];
}

function fieldAt(fields: readonly string[], name: string): number {
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at].length === name.length && fields[at].toLowerCase() === name) return at;
  }
  return -1;
}
