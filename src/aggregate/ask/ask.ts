import { isMementoMapError, MementoMapError } from "../../errors.ts";
import type { Client } from "../../http/client.ts";
import type { ResponseHead } from "../../http/http-client.ts";
import { FAILURE_REASONS, type FailureReason, retryAfterMs } from "../../http/retry.ts";
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
import { addressOf, type AskedEndpoint, type EndpointOptions, Endpoints } from "./endpoints.ts";
import type { Priority } from "./limits.ts";
import { askForAll, askForClosest, askForNamed, LATEST, type Question } from "./question.ts";
import type { Endpoint, HowToAsk, Upstream, UpstreamState } from "./state.ts";
import {
  type Asking,
  type AskLimits,
  DEFAULT_ASK_LIMITS,
  isHtmlInstead,
  type Reading,
} from "./timemap.ts";

/** How archives are queried. All members are optional. */
export interface AskOptions extends EndpointOptions {
  readonly limits?: Partial<AskLimits> | undefined;
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Default none. */
  readonly cache?: Cache | undefined;
  /** Time until the response begins; default 30 s, or `timeoutMs` of the archive. */
  readonly headersTimeoutMs?: number | undefined;
  /** Total time, including the queue; default 60 s, or `timeoutMs` of the archive. */
  readonly totalTimeoutMs?: number | undefined;
}

/** A question and its endpoint, which may be removed from the list meanwhile. */
type Asked = Question & AskedEndpoint;

const DAY_MS = 86_400_000;
/** Limit on response bytes in flight, over all archives. */
const BUDGET_BYTES = 512 * 2 ** 20;
/** Shorter responses are always accepted. */
const SHORT_BYTES = 2 ** 20;
/** A forced refresh queries the archive at most once a minute. */
const REFRESH_MS = 60_000;
/** Entries dated further in the future are ignored: the clock was set back. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Queries archives within the limits of their hosts. Equal questions share one request, which runs to completion and
 * fills the cache even if all its clients have left.
 */
export class Asker implements Upstream {
  /** Traffic by archive id. */
  readonly traffic = new Map<string, Traffic>();
  readonly #client: Client;
  readonly #options: AskOptions;
  readonly #limits: AskLimits;
  readonly #lifetimes: Lifetimes;
  readonly #endpoints: Endpoints;
  /** By question key; `origin` is trusted while its request is in flight. */
  readonly #inFlight = new Map<string, { answer: Promise<ArchiveAnswer>; origin: string }>();
  /** Response bytes in flight. */
  #reading = 0;
  #isClosed = false;

  constructor(client: Client, options: AskOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#limits = { ...DEFAULT_ASK_LIMITS, ...options.limits };
    this.#lifetimes = { ...DEFAULT_LIFETIMES, ...options.lifetimes };
    this.#endpoints = new Endpoints(options, (...of) => this.#hasAnswer(...of));
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
    const cached = how === "refresh" ? undefined : this.#cached(all.key);
    if (cached !== undefined && Date.now() < cached.freshUntil) return this.#ask(all, how);
    return this.#askClosest(closest, all, datetime, how);
  }

  /** Queries the TimeGate, or the TimeMap if the TimeGate is unusable. */
  async #askClosest(
    closest: Question,
    all: Question,
    datetime: number,
    how: HowToAsk,
  ): Promise<ArchiveAnswer> {
    const found = await this.#ask(closest, how);
    if (found.result === "error") {
      const isTimeMapAffected = found.failure !== undefined && ALSO_OF_TIMEMAP.has(found.failure);
      // The TimeMap may be cached even if the archive does not respond.
      const timeMap = await this.#ask(all, isTimeMapAffected ? "only-cached" : how);
      return timeMap.result === "error" ? found : timeMap;
    }
    const isExact = [...found.mementos].some((memento) => memento.datetime === datetime);
    if (!isExact) return found;
    // Some TimeGates name a memento at exactly the requested datetime, whatever it is.
    const timeMap = await this.#ask(all, how);
    return timeMap.result === "error" ? withoutDatetime(found, datetime) : timeMap;
  }

  /** Synchronous for cached answers. */
  #ask(question: Question, how: HowToAsk): ArchiveAnswer | Promise<ArchiveAnswer> {
    const { key } = question;
    const cached = this.#cached(key);
    const now = Date.now();
    if (cached !== undefined && now < cached.staleUntil) {
      const isFresh =
        how === "refresh" ? now - cached.askedAt < REFRESH_MS : now < cached.freshUntil;
      if (isFresh || how === "only-cached") return answerFrom(cached, "cache");
      if (how === "cached") {
        if (!this.#inFlight.has(key)) void this.#fetch(question, cached, "background");
        return answerFrom(cached, "stale");
      }
    }
    if (how === "only-cached") return NOT_CACHED;
    const inFlight = this.#inFlight.get(key);
    if (inFlight === undefined) return this.#fetch(question, cached, "client");
    return inFlight.answer.then((answer) =>
      answer.origin === undefined ? answer : { ...answer, origin: "coalesced" },
    );
  }

  #fetch(
    question: Question,
    cached: Holding | undefined,
    priority: Priority,
  ): Promise<ArchiveAnswer> {
    const asked = { ...question, ...this.#endpoints.of(question.archive, question.endpoint) };
    const answer = this.#read(asked, priority).then((reading) => {
      this.#inFlight.delete(question.key);
      return this.#store(question, reading, cached);
    });
    this.#inFlight.set(question.key, { answer, origin: asked.origin });
    return answer;
  }

  /** Caches an answer; returns the previously cached one if that is better. */
  #store(
    { key, archive }: Question,
    { answer, headers }: Reading,
    cached: Holding | undefined,
  ): ArchiveAnswer {
    const { result, failure, fault, mementos } = answer;
    if (result === "error") {
      if (failure !== undefined) this.#trafficOf(archive).failures[failure] += 1;
      if (cached === undefined || Date.now() >= cached.staleUntil) return answer;
      return answerFrom(cached, "stale");
    }
    const { cache } = this.#options;
    const isPart = fault !== undefined;
    if (isPart || cache === undefined || this.#isClosed) return answer;
    const holding = holdingOf(mementos, headers, this.#lifetimes);
    if (holding === undefined) return answer;
    // Failing archives may return partial results.
    const isSmaller =
      cached !== undefined &&
      mementos.count < cached.mementos.count &&
      Date.now() - cached.madeAt < DAY_MS;
    const better = isSmaller
      ? { ...cached, askedAt: holding.askedAt, freshUntil: holding.freshUntil }
      : holding;
    cache.set(key, encodeHolding(better));
    return isSmaller ? answerFrom(better, "stale") : answer;
  }

  /** Queries the archive unless its circuit is open, and records the outcome. Never rejects. */
  async #read(asked: Asked, priority: Priority): Promise<Reading> {
    const { breaker } = asked;
    if (breaker.isOpen) return DORMANT;
    const isProbe = breaker.begin();
    // The circuit may open while the request is queued.
    const reading = await this.#get(asked, priority, () => !isProbe && breaker.isOpen);
    return this.#recordOutcome(asked, reading, isProbe);
  }

  /** @param isLeftOut checked before each request. */
  async #get(
    { archive, endpoint, limits, read }: Question & Pick<AskedEndpoint, "limits">,
    priority: Priority,
    isLeftOut: () => boolean,
  ): Promise<Reading> {
    const { headersTimeoutMs = 30_000, totalTimeoutMs = 60_000 } = this.#options;
    const { timeoutMs } = archive;
    const until = performance.now() + (timeoutMs ?? totalTimeoutMs);
    const { maxBytes } = this.#limits;
    const within = { headersTimeoutMs: timeoutMs ?? headersTimeoutMs, until, maxBytes };
    const traffic = this.#trafficOf(archive);
    let bytes = 0;
    const count = ({ length }: Uint8Array): void => {
      traffic.bytes += length;
      bytes += length;
      this.#reading += length;
      if (bytes > maxBytes) throw tooLong(`the response is longer than ${maxBytes} bytes`);
      if (this.#reading > BUDGET_BYTES && bytes > SHORT_BYTES) {
        throw tooLong("too many long responses are in flight; retry later");
      }
    };
    const get: Asking["get"] = (request, take) => {
      const begin = (): Promise<ResponseHead> => {
        if (this.#isClosed) throw closedError();
        if (isLeftOut()) throw dormantError();
        traffic.requests += 1;
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
    } catch (error) {
      return failedReading(error, isOfAnother(error, addressOf(archive, endpoint)));
    } finally {
      this.#reading -= bytes;
    }
  }

  /** Reports the outcome to the circuit breaker and the limits of the host. */
  async #recordOutcome(
    { uri, breaker, limits }: Asked,
    reading: Reading,
    isProbe: boolean,
  ): Promise<Reading> {
    const { answer, headers, isOfAnother } = reading;
    const { result, failure, status = 0, fault = `HTTP status ${status}` } = answer;
    if (failure !== undefined && IS_OURS.has(failure)) {
      if (isProbe) breaker.endProbe();
    } else if (status === 429) {
      limits.overloaded();
      breaker.pause(fault, retryAfterMs(headers.get("retry-after"), Date.now()));
    } else if (isHtmlInstead(reading) && (await breaker.isUp())) {
      // Some archives report "no mementos" this way, while their TimeMaps of other URIs work.
      return { headers, answer: answerOf(new MementoList(), { status }) };
    } else if (result === "error" && isOfAnother !== true && isFailure(status, failure)) {
      if (status === 503 || failure === "timeout") limits.overloaded();
      void breaker.failed(fault);
    } else {
      limits.succeeded();
      breaker.succeeded(result === "hit" ? uri : undefined);
    }
    return reading;
  }

  /** Whether an endpoint answers for another URI, bypassing the cache and the circuit breaker. */
  async #hasAnswer(archive: Archive, endpoint: Endpoint, uri: string): Promise<boolean> {
    const question =
      endpoint === "timemap" ? askForAll(archive, uri) : askForClosest(archive, uri, LATEST);
    if (question === undefined) return false;
    const { limits } = this.#endpoints.of(archive, endpoint);
    const { answer } = await this.#get({ ...question, limits }, "client", () => false);
    return answer.result !== "error";
  }

  #cached(key: string): Holding | undefined {
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

  /** Whether an origin belongs to a listed archive, or to a former one with requests in flight. */
  isListed(origin: string): boolean {
    if (this.#endpoints.isListed(origin)) return true;
    return [...this.#inFlight.values()].some((ask) => ask.origin === origin);
  }

  /** Replaces the list of archives. Endpoints and hosts keep their state by address. */
  replaceArchives(archives: readonly Archive[]): void {
    this.#endpoints.replaceArchives(archives);
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.traffic.keys()) if (!ids.has(id)) this.traffic.delete(id);
  }

  /** Rejects queued requests and sends no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endpoints.refuseAll(closedError());
    this.#client.close();
    await this.#options.cache?.close();
  }

  #trafficOf({ id }: Archive): Traffic {
    const traffic = this.traffic.get(id) ?? { requests: 0, bytes: 0, failures: { ...NO_FAILURES } };
    this.traffic.set(id, traffic);
    return traffic;
  }
}

/** Requests to an archive and their results since the start. */
export interface Traffic {
  requests: number;
  /** Of response bodies, decompressed. */
  bytes: number;
  readonly failures: Record<FailureReason, number>;
}

/** One entry per reason, so that metrics list them all. */
const NO_FAILURES = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
  FailureReason,
  number
>;

function closedError(): MementoMapError {
  return new MementoMapError("MM_REFUSED", "the upstream is closed", { reason: "closed" });
}

function dormantError(): MementoMapError {
  const message = "the archive is dormant after repeated failures";
  return new MementoMapError("MM_REFUSED", message, { reason: "dormant" });
}

function tooLong(message: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

/** The reading of a failed request. */
function failedReading(error: unknown, isOfAnother: boolean = false): Reading {
  const headers = { get: () => undefined };
  return { answer: failedAnswer(faultOf(error)), headers, isOfAnother };
}

const DORMANT = failedReading(dormantError());

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

/** Failures of a TimeGate that probably affect the TimeMap too. */
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

/** Failures despite a response: it is too long, or redirects to a forbidden address. */
const IS_ANSWER: ReadonlySet<FailureReason> = new Set([
  "body-limit",
  "memento-limit",
  "redirect",
  "private-address",
  "no-memento",
]);

/** Whether a failure counts against the archive. */
function isFailure(status: number, failure: FailureReason | undefined): boolean {
  return failure === undefined ? status >= 500 : !IS_ANSWER.has(failure);
}

/** Failures on our side. */
const IS_OURS: ReadonlySet<FailureReason> = new Set([
  "local",
  "internal",
  "bad-request",
  "closed",
  "queue-full",
  "queue-timeout",
  "dormant",
]);

/** Whether the failed host is another one, to which the archive redirects. */
function isOfAnother(error: unknown, address: string | undefined): boolean {
  const source = isMementoMapError(error) ? error.position?.source : undefined;
  if (source === undefined || address === undefined || !URL.canParse(source)) return false;
  return new URL(source).hostname !== new URL(address).hostname;
}

function answerFrom(holding: Holding, origin: Origin): ArchiveAnswer {
  const ageSeconds = Math.max(0, Math.floor((Date.now() - holding.madeAt) / 1000));
  return answerOf(holding.mementos, { origin, ageSeconds });
}

/** The mementos that a TimeGate names, except those at exactly the requested datetime. */
function withoutDatetime(answer: ArchiveAnswer, datetime: number): ArchiveAnswer {
  const others = MementoList.of([...answer.mementos].filter((each) => each.datetime !== datetime));
  if (others.count > 0) return { ...answer, mementos: others };
  const fault =
    "its TimeGate names a memento at exactly this datetime, which its TimeMap does not confirm";
  return {
    ...answer,
    result: "error",
    mementos: others,
    code: "MM_BAD_INPUT",
    failure: "no-memento",
    fault,
  };
}
