import { isMementoMapError, MementoMapError } from "../../errors.ts";
import type { Client, ResponseHead } from "../../http/client.ts";
import { type FailureReason, retryAfterMs } from "../../http/retry.ts";
import { MementoList } from "../../memento/memento-list.ts";
import type { Archive } from "../route/archive.ts";
import { type ArchiveAnswer, answerOf, failedAnswer, faultOf, type Origin } from "./answer.ts";
import {
  type Cache,
  decodeHolding,
  DEFAULT_LIFETIMES,
  encodeHolding,
  type Holding,
  holdingOf,
  type Lifetimes,
} from "./cache.ts";
import type { Confirm } from "./breaker.ts";
import { addressOf, type AskedEndpoint, type EndpointOptions, Endpoints } from "./endpoints.ts";
import type { Priority } from "./limits.ts";
import { askForAll, askForClosest, askForNamed, LATEST, type Question } from "./question.ts";
import {
  ArchiveCounters,
  type Endpoint,
  type HowToAsk,
  type Upstream,
  type UpstreamState,
} from "./state.ts";
import {
  type Asking,
  type AskLimits,
  DEFAULT_ASK_LIMITS,
  isHtmlInstead,
  type Reading,
} from "./timemap.ts";

/** How archives are asked. Every member may be left out. */
export interface AskOptions extends EndpointOptions {
  readonly limits?: Partial<AskLimits> | undefined;
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Default none. */
  readonly cache?: Cache | undefined;
  /** How long an answer may take to begin; default 30 s, or what the archive's entry says. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long all may take, waiting included; default 60 s, or what the archive's entry says. */
  readonly totalTimeoutMs?: number | undefined;
}

/** A question, and the endpoint that it was put to: it may have left the list since. */
type Asked = Question & AskedEndpoint;

const DAY_MS = 86_400_000;
/** Bytes of answers that are being read at once, whoever asks whom. */
const BUDGET_BYTES = 512 * 2 ** 20;
/** Short answers are taken in any case. */
const SHORT_BYTES = 2 ** 20;
/** Who asks for a new answer gets one once a minute. */
const REFRESH_MS = 60_000;
/** What is kept from a time that is yet to come was kept before the clock was set. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Asks archives: once for the same, within the limits of their hosts, whoever waits. What is begun is finished, and kept
 * in the cache; nobody can abort it.
 */
export class Asker implements Upstream {
  readonly counters = new Map<string, ArchiveCounters>();
  readonly #client: Client;
  readonly #options: AskOptions;
  readonly #limits: AskLimits;
  readonly #lifetimes: Lifetimes;
  readonly #endpoints: Endpoints;
  /** By the keys of questions; with the origin, which is trusted as long as it is asked. */
  readonly #inFlight = new Map<string, { answer: Promise<ArchiveAnswer>; origin: string }>();
  /** Bytes of answers that are being read. */
  #reading = 0;
  #isClosed = false;

  constructor(client: Client, options: AskOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#limits = { ...DEFAULT_ASK_LIMITS, ...options.limits };
    this.#lifetimes = { ...DEFAULT_LIFETIMES, ...options.lifetimes };
    this.#endpoints = new Endpoints(options);
  }

  ask(
    archive: Archive,
    uri: string,
    how: HowToAsk = "cached",
  ): ArchiveAnswer | Promise<ArchiveAnswer> {
    const question = askForAll(archive, uri) ?? askForNamed(archive, uri);
    return question === undefined ? NO_ENDPOINT : this.#ask(question, how);
  }

  askClosest(
    archive: Archive,
    uri: string,
    datetime: number,
    how: HowToAsk = "cached",
  ): ArchiveAnswer | Promise<ArchiveAnswer> {
    const closest = askForClosest(archive, uri, datetime);
    if (closest === undefined) return this.ask(archive, uri, how);
    const all = askForAll(archive, uri);
    if (all === undefined) return this.#ask(closest, how);
    const kept = how === "refresh" ? undefined : this.#kept(all.key);
    if (kept !== undefined && Date.now() < kept.freshUntil) return this.#ask(all, how);
    return this.#askClosest(closest, all, datetime, how);
  }

  /** The TimeGate, or the TimeMap where the TimeGate is of no use. */
  async #askClosest(
    closest: Question,
    all: Question,
    datetime: number,
    how: HowToAsk,
  ): Promise<ArchiveAnswer> {
    const found = await this.#ask(closest, how);
    if (found.result === "error") {
      const isInVain = found.failure !== undefined && ALSO_OF_TIMEMAP.has(found.failure);
      // What is kept costs the archive nothing, whatever is wrong with it.
      const instead = await this.#ask(all, isInVain ? "only-cached" : how);
      return instead.result === "error" ? found : instead;
    }
    const isExact = [...found.mementos].some((memento) => memento.datetime === datetime);
    if (!isExact) return found;
    // Some TimeGates have a memento at any time that they are asked for.
    const whole = await this.#ask(all, how);
    return whole.result === "error" ? without(found, datetime) : whole;
  }

  /** At once if it is known. */
  #ask(question: Question, how: HowToAsk): ArchiveAnswer | Promise<ArchiveAnswer> {
    const { key, archive } = question;
    const counters = this.#countersOf(archive);
    const kept = this.#kept(key);
    const now = Date.now();
    if (kept !== undefined && now < kept.staleUntil) {
      const isFresh = how === "refresh" ? now - kept.askedAt < REFRESH_MS : now < kept.freshUntil;
      if (isFresh || how === "only-cached") {
        counters.cacheHits += 1;
        return known(kept, "cache");
      }
      if (how === "cached") {
        counters.staleAnswers += 1;
        if (!this.#inFlight.has(key)) void this.#fetch(question, kept, "background");
        return known(kept, "stale");
      }
    }
    if (how === "only-cached") return NOT_CACHED;
    const inFlight = this.#inFlight.get(key);
    if (inFlight === undefined) return this.#fetch(question, kept, "client");
    counters.coalesced += 1;
    return inFlight.answer.then((answer) =>
      answer.origin === undefined ? answer : { ...answer, origin: "coalesced" },
    );
  }

  #fetch(
    question: Question,
    kept: Holding | undefined,
    priority: Priority,
  ): Promise<ArchiveAnswer> {
    const { key, archive, endpoint } = question;
    const asked = { ...question, ...this.#endpoints.of(archive, endpoint) };
    const answer = this.#read(asked, priority)
      .catch((error: unknown) => ({ answer: failedAnswer(faultOf(error)), headers: NO_HEADERS }))
      .then((reading) => {
        this.#inFlight.delete(key);
        return this.#keep(question, reading, kept);
      });
    this.#inFlight.set(key, { answer, origin: asked.origin });
    return answer;
  }

  /** Keeps an answer; gives what was kept before where that is better. */
  #keep(
    { key, archive }: Question,
    { answer, headers }: Reading,
    kept: Holding | undefined,
  ): ArchiveAnswer {
    const counters = this.#countersOf(archive);
    const { result, failure, fault, mementos } = answer;
    if (result === "error") {
      if (failure !== undefined) counters.failures[failure] += 1;
      if (kept === undefined || Date.now() >= kept.staleUntil) return answer;
      counters.staleAnswers += 1;
      return known(kept, "stale");
    }
    const { cache } = this.#options;
    const isPart = fault !== undefined;
    if (isPart || cache === undefined || this.#isClosed) return answer;
    const holding = holdingOf(mementos, headers, this.#lifetimes);
    if (holding === undefined) return answer;
    // Archives in trouble answer with a part of what they have.
    const isSmaller =
      kept !== undefined &&
      mementos.count < kept.mementos.count &&
      Date.now() - kept.madeAt < DAY_MS;
    const better = isSmaller
      ? { ...kept, askedAt: holding.askedAt, freshUntil: holding.freshUntil }
      : holding;
    cache.set(key, encodeHolding(better));
    return isSmaller ? known(better, "stale") : answer;
  }

  /** Asks the archive, unless it is left out, and notes how well it works. */
  async #read(asked: Asked, priority: Priority): Promise<Reading> {
    const { breaker } = asked;
    const isProbe = breaker.check();
    try {
      const reading = await this.#readNow(asked, priority, () => {
        // It may have failed while this waited for its turn.
        if (!isProbe && breaker.isOpen) breaker.check();
      });
      return await this.#judge(asked, reading);
    } catch (error) {
      this.#blame(asked, error, isProbe);
      throw error;
    }
  }

  /** @param check called before each request. */
  async #readNow(
    { archive, limits, read }: Pick<Asked, "archive" | "limits" | "read">,
    priority: Priority,
    check: () => void,
  ): Promise<Reading> {
    const { headersTimeoutMs = 30_000, totalTimeoutMs = 60_000 } = this.#options;
    const { timeoutMs } = archive;
    const until = performance.now() + (timeoutMs ?? totalTimeoutMs);
    const { maxBytes } = this.#limits;
    const within = { headersTimeoutMs: timeoutMs ?? headersTimeoutMs, until, maxBytes };
    const counters = this.#countersOf(archive);
    let bytes = 0;
    const count = ({ length }: Uint8Array): void => {
      counters.bytes += length;
      bytes += length;
      this.#reading += length;
      if (bytes > maxBytes) throw tooLong(`the answer is longer than ${maxBytes} bytes`);
      if (this.#reading > BUDGET_BYTES && bytes > SHORT_BYTES) {
        throw tooLong("too many long answers are being read; ask again later");
      }
    };
    const get: Asking["get"] = (request, take) => {
      const begin = (): Promise<ResponseHead> => {
        if (this.#isClosed) throw closed();
        check();
        counters.requests += 1;
        return this.#client.get({ ...request, ...within }, (head) => {
          const sink = take(head);
          if (sink === undefined) return undefined;
          return (chunk) => {
            count(chunk);
            sink(chunk);
          };
        });
      };
      return limits.run(begin, until, priority);
    };
    try {
      return await read({ limits: this.#limits, get });
    } finally {
      this.#reading -= bytes;
    }
  }

  /** What an answer tells about the archive. */
  async #judge(asked: Asked, reading: Reading): Promise<Reading> {
    const { breaker, limits, uri } = asked;
    const { answer, headers } = reading;
    const { status = 0 } = answer;
    const said = `it answered with status ${status}`;
    if (status === 429) {
      limits.overloaded();
      breaker.pause(said, retryAfterMs(headers.get("retry-after"), Date.now()));
    } else if (status >= 500) {
      if (status === 503) limits.overloaded();
      void breaker.failed(said, this.#confirm(asked));
    } else if (answer.failure === "bad-timemap") {
      // So some archives say that they have nothing, while they have TimeMaps of other URIs.
      const isUp = isHtmlInstead(reading) && (await breaker.isUp(this.#confirm(asked)));
      if (isUp) return { headers, answer: answerOf(new MementoList(), { status }) };
      void breaker.failed(answer.fault ?? "", this.#confirm(asked));
    } else {
      limits.succeeded();
      breaker.succeeded(answer.result === "hit" ? uri : undefined);
    }
    return reading;
  }

  /** What a failure tells about the archive. */
  #blame(asked: Asked, error: unknown, isProbe: boolean): void {
    const { archive, endpoint, breaker, limits } = asked;
    const { failure = "internal", fault = "" } = faultOf(error);
    if (IS_OURS.has(failure)) {
      if (isProbe) breaker.endProbe();
    } else if (IS_ANSWER.has(failure) || isOfAnother(error, addressOf(archive, endpoint))) {
      breaker.succeeded();
    } else {
      if (failure === "timeout") limits.overloaded();
      void breaker.failed(fault, this.#confirm(asked));
    }
  }

  /** Whether an endpoint has an answer for another URI, past the cache and the circuit breaker. */
  #confirm({ archive, endpoint, limits }: Asked): Confirm {
    return async (uri) => {
      const question =
        endpoint === "timemap" ? askForAll(archive, uri) : askForClosest(archive, uri, LATEST);
      if (question === undefined) return false;
      try {
        const asked = { ...question, limits };
        const { answer } = await this.#readNow(asked, "client", () => undefined);
        return answer.result !== "error";
      } catch {
        return false;
      }
    };
  }

  #kept(key: string): Holding | undefined {
    const bytes = this.#isClosed ? undefined : this.#options.cache?.get(key);
    const holding = bytes === undefined ? undefined : decodeHolding(bytes);
    if (holding === undefined || holding.askedAt > Date.now() + CLOCK_SLACK_MS) return undefined;
    return holding;
  }

  stateOf(archive: Archive): UpstreamState {
    return this.#endpoints.stateOf(archive);
  }

  isDormant(archive: Archive, endpoint: Endpoint): boolean {
    return this.#endpoints.isDormant(archive, endpoint);
  }

  /** Whether an origin is one of an archive, which the operator named; or named before, and it is still asked. */
  isListed(origin: string): boolean {
    if (this.#endpoints.isListed(origin)) return true;
    return [...this.#inFlight.values()].some((ask) => ask.origin === origin);
  }

  /** Goes by another list of archives: what is known of an endpoint, and of a host, goes by its address. */
  replaceArchives(archives: readonly Archive[]): void {
    this.#endpoints.replaceArchives(archives);
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.counters.keys()) if (!ids.has(id)) this.counters.delete(id);
  }

  /** Refuses what waits, and asks no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endpoints.refuseAll(closed());
    await this.#client.close();
    await this.#options.cache?.close();
  }

  #countersOf({ id }: Archive): ArchiveCounters {
    const known = this.counters.get(id) ?? new ArchiveCounters();
    this.counters.set(id, known);
    return known;
  }
}

function closed(): MementoMapError {
  return new MementoMapError("MM_REFUSED", "the upstream is closed", { reason: "closed" });
}

function tooLong(message: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

const NO_HEADERS: Reading["headers"] = { get: () => undefined };

const NO_ENDPOINT = failedAnswer({
  code: "MM_NOT_FOUND",
  failure: "no-endpoint",
  fault: "it has no TimeMap, no TimeGate and no CDX server",
});

const NOT_CACHED: ArchiveAnswer = {
  ...failedAnswer({ code: undefined, failure: undefined, fault: "nothing is cached" }),
  status: 504,
  origin: "cache",
};

/** What is wrong with the TimeGate for these reasons is wrong with the TimeMap too, most likely. */
const ALSO_OF_TIMEMAP: ReadonlySet<FailureReason> = new Set([
  "dns",
  "connect",
  "connect-timeout",
  "tls",
  "timeout",
  "queue-full",
  "queue-timeout",
  "bad-request",
  "local",
  "closed",
]);

/** An answer that is too long, or leads where nobody may go, is an answer. */
const IS_ANSWER: ReadonlySet<FailureReason> = new Set([
  "body-limit",
  "memento-limit",
  "redirect",
  "private-address",
]);
/** Says nothing about the archive. */
const IS_OURS: ReadonlySet<FailureReason> = new Set([
  "local",
  "internal",
  "bad-request",
  "closed",
  "queue-full",
  "queue-timeout",
  "dormant",
]);

/** Whether it was another host that failed, to which the archive redirects. */
function isOfAnother(error: unknown, address: string | undefined): boolean {
  const source = isMementoMapError(error) ? error.position?.source : undefined;
  if (source === undefined || address === undefined || !URL.canParse(source)) return false;
  return new URL(source).hostname !== new URL(address).hostname;
}

function known(holding: Holding, origin: Origin): ArchiveAnswer {
  const ageSeconds = Math.max(0, Math.floor((Date.now() - holding.madeAt) / 1000));
  return answerOf(holding.mementos, { origin, ageSeconds });
}

/** The mementos that a TimeGate names, but for those of exactly the time that it was asked for. */
function without(answer: ArchiveAnswer, datetime: number): ArchiveAnswer {
  const others = MementoList.of([...answer.mementos].filter((each) => each.datetime !== datetime));
  if (others.count > 0) return { ...answer, mementos: others };
  const fault =
    "its TimeGate names a memento of exactly this time, which its TimeMap does not confirm";
  return {
    ...answer,
    result: "error",
    mementos: others,
    code: "MM_BAD_INPUT",
    failure: "no-memento",
    fault,
  };
}
