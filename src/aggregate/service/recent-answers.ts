import type { WholeAnswer } from "../../http/send.ts";
import { HeaderBlock } from "../../http/response-head.ts";
import { BatchedTopic, type Bus } from "../../files/processes/bus.ts";
import { isSample } from "../route/decision.ts";
import type { Outcome, Session, SessionObserver } from "../session.ts";
import { type CachedAnswer, MemoryStore } from "../upstream/cache-store.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";
import { NO_PREFERENCES, type Preferences } from "./preferences.ts";

const KEPT_MS = 60_000;
/** Of all answers together; the oldest are forgotten. */
const MOST_BYTES = 16 * 2 ** 20;
/** Longer ones take more time to send than to make. */
const LONGEST_BYTES = 65_536;
/** Originals that are known to have more by now; the oldest are forgotten. */
const MOST_OUTDATED = 4096;
/** How often other processes are told of them. */
const TOLD_EVERY_MS = 100;

/** What an answer is kept by, which original it is about, and since when it is worked on. */
interface AnswerPlace {
  readonly key: string;
  readonly original: string;
  readonly askedAt: number;
}

/** An answer that can be given again. */
export interface RecentAnswer extends WholeAnswer {
  /** How many mementos it says that it has, and of how many archives. */
  readonly mementos: number;
  readonly archives: number;
}

export interface RecentAnswersOptions {
  /** The processes that serve together with this one, and keep the same answers; default none. */
  readonly bus?: Bus | undefined;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: (() => number) | undefined;
}

/**
 * TimeMaps that were given in the last minute. They are given again, with their age, as any cache in front of the
 * service would: to merge cached answers of a dozen archives, or to forward a request to the process that has them,
 * takes several times as long.
 *
 * Once an archive that a client did not wait for turns out to have something of an original, older answers about it
 * are not given any more. A request with `no-cache` gets a new answer, which is kept in place of the old one.
 */
export class RecentAnswers implements SessionObserver {
  readonly #now: () => number;
  #answers = new MemoryStore({ maxBytes: MOST_BYTES });
  /** Originals, and when their answers became outdated; the oldest first. */
  readonly #outdated = new Map<string, number>();
  /** Keys of answers that are being replaced. */
  readonly #replaced = new Set<string>();
  readonly #topic: BatchedTopic<string> | undefined;
  #clearedAt = -Infinity;

  constructor({ bus, now = () => performance.now() }: RecentAnswersOptions = {}) {
    this.#now = now;
    const take = (original: string): void => this.#outdate(original);
    this.#topic = bus && new BatchedTopic(bus, "outdated", { everyMs: TOLD_EVERY_MS, take });
  }

  /** The place for an answer; undefined for a request whose answer is not kept. */
  placeFor(exchange: AggregatorExchange, original: string): AnswerPlace | undefined {
    const { request, base, route, preferences } = exchange;
    const isPlain = preferences === NO_PREFERENCES || wantsOnlyNew(preferences);
    if (request.method !== "GET" || route !== "timemap" || !isPlain) return undefined;
    const key = `${request.headers.accept ?? ""} ${base}\n${request.url ?? ""}`;
    return { key, original, askedAt: this.#now() };
  }

  find({ key, original }: AnswerPlace): RecentAnswer | undefined {
    const kept = this.#answers.find(key);
    if (kept === undefined) return undefined;
    const ms = this.#now() - kept.receivedAt;
    if (ms >= KEPT_MS || this.#outdatedAt(original) >= kept.receivedAt) return undefined;
    return answerOf(kept, Math.floor(ms / 1000));
  }

  /** Whether a request is under way whose answer will replace the kept one. */
  isBeingReplaced({ key }: AnswerPlace): boolean {
    return this.#replaced.has(key);
  }

  /** Notes the start of such a request; returns a function to call at its end. */
  replace({ key }: AnswerPlace): () => void {
    this.#replaced.add(key);
    return () => this.#replaced.delete(key);
  }

  /** Keeps an answer that every cache may keep, and that nothing made outdated while it was worked on. */
  put(place: AnswerPlace, { status, fields, body }: WholeAnswer): void {
    const { key, original, askedAt } = place;
    const isOutdated = Math.max(this.#outdatedAt(original), this.#clearedAt) >= askedAt;
    let headerBlock = "";
    for (let at = 0; at + 1 < fields.length; at += 2) {
      headerBlock += `${fields[at]}: ${fields[at + 1]}\r\n`;
    }
    const headers = new HeaderBlock(headerBlock);
    // It lacks an archive, but the kept one does not.
    if (headers.first("x-mementomap-missing") !== undefined && !isOutdated) return;
    if (body.length > LONGEST_BYTES || isOutdated || !isPublic(headers)) {
      this.#answers.delete(key);
      return;
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
    this.#outdate(uri);
    this.#topic?.publish(uri);
  }

  #outdatedAt(original: string): number {
    return this.#outdated.get(original) ?? -Infinity;
  }

  #outdate(original: string): void {
    this.#outdated.delete(original);
    this.#outdated.set(original, this.#now());
    if (this.#outdated.size <= MOST_OUTDATED) return;
    const [oldest] = this.#outdated.keys();
    if (oldest !== undefined) this.#outdated.delete(oldest);
  }

  /** Forgets all answers, and those that are worked on: archives, their maps or settings are others. */
  clear(): void {
    this.#clearedAt = this.#now();
    this.#answers = new MemoryStore({ maxBytes: MOST_BYTES });
  }
}

/** Whether a client only says that it wants a new answer. */
function wantsOnlyNew({ cacheControl, ...others }: Preferences): boolean {
  const { route, isBroadcast, wantsReasons, applied } = NO_PREFERENCES;
  return (
    cacheControl === "no-cache" &&
    others.route === route &&
    others.isBroadcast === isBroadcast &&
    others.wantsReasons === wantsReasons &&
    others.applied === applied
  );
}

/** An answer as it is some seconds later. */
function answerOf({ status, headerBlock, body }: CachedAnswer, seconds: number): RecentAnswer {
  const fields: string[] = [];
  let age = seconds;
  let [mementos, archives] = [0, 0];
  for (const [name, value] of new HeaderBlock(headerBlock)) {
    const lower = name.toLowerCase();
    if (lower === "x-memento-count") mementos = Number(value);
    if (lower === "x-mementomap-archives") archives = Number(value);
    if (lower === "age") age += Number(value);
    else fields.push(name, value);
  }
  if (age > 0) fields.push("Age", String(age));
  return { status, fields, body, mementos, archives };
}

/** Whether caches may keep it for longer than it is kept here. */
function isPublic(headers: HeaderBlock): boolean {
  const cacheControl = headers.first("cache-control") ?? "";
  const [, maxAge = "0"] = /^public, max-age=(\d+)$/.exec(cacheControl) ?? [];
  return (Number(maxAge) - Number(headers.first("age") ?? 0)) * 1000 >= KEPT_MS;
}
