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

/** A question, and the endpoint that it is put to: it may leave the list meanwhile. */
type Asked = Question & AskedEndpoint;

const DAY_MS = 86_400_000;
/** Bytes of all answers that are being read. */
const BUDGET_BYTES = 512 * 2 ** 20;
/** Short answers are taken in any case. */
const SHORT_BYTES = 2 ** 20;
/** `no-cache` of clients causes a request at most once a minute. */
const REFRESH_MS = 60_000;
/** Cached answers with a later time are from before the clock was set. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Queries archives within the limits of their hosts. Equal questions share one request, which runs to its end and fills
 * the cache even if no client waits for it any more.
 */
export class Asker implements Upstream {
  /** What archives were sent, by their ids. */
  readonly traffic = new Map<string, Traffic>();
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
      // The cache may have it even if the archive does not respond.
      const instead = await this.#ask(all, isInVain ? "only-cached" : how);
      return instead.result === "error" ? found : instead;
    }
    const isExact = [...found.mementos].some((memento) => memento.datetime === datetime);
    if (!isExact) return found;
    // Some TimeGates have a memento at any time that they are asked for.
    const whole = await this.#ask(all, how);
    return whole.result === "error" ? withoutDatetime(found, datetime) : whole;
  }

  /** At once if it is known. */
  #ask(question: Question, how: HowToAsk): ArchiveAnswer | Promise<ArchiveAnswer> {
    const { key } = question;
    const kept = this.#kept(key);
    const now = Date.now();
    if (kept !== undefined && now < kept.staleUntil) {
      const isFresh = how === "refresh" ? now - kept.askedAt < REFRESH_MS : now < kept.freshUntil;
      if (isFresh || how === "only-cached") return answerFrom(kept, "cache");
      if (how === "cached") {
        if (!this.#inFlight.has(key)) void this.#fetch(question, kept, "background");
        return answerFrom(kept, "stale");
      }
    }
    if (how === "only-cached") return NOT_CACHED;
    const inFlight = this.#inFlight.get(key);
    if (inFlight === undefined) return this.#fetch(question, kept, "client");
    return inFlight.answer.then((answer) =>
      answer.origin === undefined ? answer : { ...answer, origin: "coalesced" },
    );
  }

  #fetch(
    question: Question,
    kept: Holding | undefined,
    priority: Priority,
  ): Promise<ArchiveAnswer> {
    const asked = { ...question, ...this.#endpoints.of(question.archive, question.endpoint) };
    const answer = this.#read(asked, priority).then((reading) => {
      this.#inFlight.delete(question.key);
      return this.#keep(question, reading, kept);
    });
    this.#inFlight.set(question.key, { answer, origin: asked.origin });
    return answer;
  }

  /** Caches an answer; returns what was cached before where that is better. */
  #keep(
    { key, archive }: Question,
    { answer, headers }: Reading,
    kept: Holding | undefined,
  ): ArchiveAnswer {
    const { result, failure, fault, mementos } = answer;
    if (result === "error") {
      if (failure !== undefined) this.#trafficOf(archive).failures[failure] += 1;
      if (kept === undefined || Date.now() >= kept.staleUntil) return answer;
      return answerFrom(kept, "stale");
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
    return isSmaller ? answerFrom(better, "stale") : answer;
  }

  /** Asks the archive, unless it is left out, and notes how well it works. Never rejects. */
  async #read(asked: Asked, priority: Priority): Promise<Reading> {
    const { breaker } = asked;
    if (breaker.isOpen) return DORMANT;
    const isProbe = breaker.begin();
    // It may fail while this waits in the queue.
    const reading = await this.#get(asked, priority, () => !isProbe && breaker.isOpen);
    return this.#judge(asked, reading, isProbe);
  }

  /** @param isLeftOut looked at before each request. */
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
      if (bytes > maxBytes) throw tooLong(`the answer is longer than ${maxBytes} bytes`);
      if (this.#reading > BUDGET_BYTES && bytes > SHORT_BYTES) {
        throw tooLong("too many long answers are being read; ask again later");
      }
    };
    const get: Asking["get"] = (request, take) => {
      const begin = (): Promise<ResponseHead> => {
        if (this.#isClosed) throw closed();
        if (isLeftOut()) throw dormant();
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
  async #judge(
    { uri, breaker, limits }: Asked,
    reading: Reading,
    isProbe: boolean,
  ): Promise<Reading> {
    const { answer, headers, isOfAnother } = reading;
    const { result, failure, status = 0, fault = `it answered with status ${status}` } = answer;
    if (failure !== undefined && IS_OURS.has(failure)) {
      if (isProbe) breaker.endProbe();
    } else if (status === 429) {
      limits.overloaded();
      breaker.pause(fault, retryAfterMs(headers.get("retry-after"), Date.now()));
    } else if (isHtmlInstead(reading) && (await breaker.isUp())) {
      // So some archives say that they have nothing, while they have TimeMaps of other URIs.
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

  /** Whether an endpoint has an answer for another URI, past the cache and the circuit breaker. */
  async #hasAnswer(archive: Archive, endpoint: Endpoint, uri: string): Promise<boolean> {
    const question =
      endpoint === "timemap" ? askForAll(archive, uri) : askForClosest(archive, uri, LATEST);
    if (question === undefined) return false;
    const { limits } = this.#endpoints.of(archive, endpoint);
    const { answer } = await this.#get({ ...question, limits }, "client", () => false);
    return answer.result !== "error";
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

  /** Replaces the list of archives. The state of endpoints and hosts is kept by their addresses. */
  replaceArchives(archives: readonly Archive[]): void {
    this.#endpoints.replaceArchives(archives);
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.traffic.keys()) if (!ids.has(id)) this.traffic.delete(id);
  }

  /** Refuses what waits, and asks no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endpoints.refuseAll(closed());
    this.#client.close();
    await this.#options.cache?.close();
  }

  #trafficOf({ id }: Archive): Traffic {
    const traffic = this.traffic.get(id) ?? { requests: 0, bytes: 0, failures: { ...NO_FAILURES } };
    this.traffic.set(id, traffic);
    return traffic;
  }
}

/** What was sent to an archive and what came back, since the start. */
export interface Traffic {
  requests: number;
  /** Of bodies, decompressed. */
  bytes: number;
  readonly failures: Record<FailureReason, number>;
}

/** One entry for each reason, so that none is missing. */
const NO_FAILURES = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
  FailureReason,
  number
>;

function closed(): MementoMapError {
  return new MementoMapError("MM_REFUSED", "the upstream is closed", { reason: "closed" });
}

function dormant(): MementoMapError {
  const message = "the archive failed too often, and is left out for a while";
  return new MementoMapError("MM_REFUSED", message, { reason: "dormant" });
}

function tooLong(message: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

/** No answer, for this reason. */
function failedReading(error: unknown, isOfAnother: boolean = false): Reading {
  const headers = { get: () => undefined };
  return { answer: failedAnswer(faultOf(error)), headers, isOfAnother };
}

const DORMANT = failedReading(dormant());

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

/** Failures of a TimeGate that most likely affect the TimeMap, too. */
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

/** Failures in spite of a response: it is too long, or leads to a forbidden address. */
const IS_ANSWER: ReadonlySet<FailureReason> = new Set([
  "body-limit",
  "memento-limit",
  "redirect",
  "private-address",
  "no-memento",
]);

/** Whether the archive is to blame. */
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

/** Whether it was another host that failed, to which the archive redirects. */
function isOfAnother(error: unknown, address: string | undefined): boolean {
  const source = isMementoMapError(error) ? error.position?.source : undefined;
  if (source === undefined || address === undefined || !URL.canParse(source)) return false;
  return new URL(source).hostname !== new URL(address).hostname;
}

function answerFrom(holding: Holding, origin: Origin): ArchiveAnswer {
  const ageSeconds = Math.max(0, Math.floor((Date.now() - holding.madeAt) / 1000));
  return answerOf(holding.mementos, { origin, ageSeconds });
}

/** The mementos that a TimeGate names, but for those of exactly the time that it was asked for. */
function withoutDatetime(answer: ArchiveAnswer, datetime: number): ArchiveAnswer {
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
