import type { ForwardedAnswer } from "../../http/socket-forward.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";
import { NO_PREFERENCES } from "./preferences.ts";

const KEPT_MS = 10_000;
/** Of all answers together; the oldest are forgotten. */
const MOST_BYTES = 4 * 2 ** 20;
/** Longer ones take more time to make and to send than to forward. */
const LONGEST_BYTES = 65_536;

interface Recent {
  readonly answer: ForwardedAnswer;
  readonly cameAt: number;
}

/**
 * TimeMaps that another process gave in the last ten seconds. They are given again, with their age, as any cache in
 * front of that process would: if every request for a popular original were forwarded, one process would answer them
 * all, and each would take longer than where there is only one.
 */
export class RecentAnswers {
  /** The oldest first. */
  readonly #answers = new Map<string, Recent>();
  readonly #now: () => number;
  #bytes = 0;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** What an answer is kept by; undefined for a request that is always forwarded. */
  static keyOf({ request, base, route, preferences }: AggregatorExchange): string | undefined {
    const isPlain = request.method === "GET" && route === "timemap";
    if (!isPlain || preferences !== NO_PREFERENCES) return undefined;
    return `${request.headers.accept ?? ""}\n${base}\n${request.url ?? ""}`;
  }

  find(key: string): ForwardedAnswer | undefined {
    const recent = this.#answers.get(key);
    if (recent === undefined) return undefined;
    const ms = this.#now() - recent.cameAt;
    return ms < KEPT_MS ? aged(recent.answer, Math.floor(ms / 1000)) : undefined;
  }

  /** Keeps an answer that every cache may keep. */
  put(key: string, answer: ForwardedAnswer): void {
    this.#forget(key);
    const { fields, body } = answer;
    if (body.byteLength > LONGEST_BYTES || !isPublic(fields)) return;
    const now = this.#now();
    this.#answers.set(key, { answer, cameAt: now });
    this.#bytes += sizeOf(key, answer);
    for (const [oldest, { cameAt }] of this.#answers) {
      if (now - cameAt < KEPT_MS && this.#bytes <= MOST_BYTES) break;
      this.#forget(oldest);
    }
  }

  clear(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #forget(key: string): void {
    const known = this.#answers.get(key);
    if (known === undefined) return;
    this.#answers.delete(key);
    this.#bytes -= sizeOf(key, known.answer);
  }
}

/** About as much as it takes in memory, with its headers. */
function sizeOf(key: string, { body }: ForwardedAnswer): number {
  return key.length + body.byteLength + 1024;
}

/** An answer as it is some seconds later. */
function aged(answer: ForwardedAnswer, seconds: number): ForwardedAnswer {
  if (seconds === 0) return answer;
  const fields = [...answer.fields];
  const at = fieldAt(fields, "age");
  if (at === -1) fields.push("Age", String(seconds));
  else fields[at + 1] = String(Number(fields[at + 1]) + seconds);
  return { ...answer, fields };
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
  return fields.findIndex((field, at) => at % 2 === 0 && field.toLowerCase() === name);
}
