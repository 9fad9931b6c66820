import { isMementoMapError } from "../../errors.ts";
import type { Client, ResponseHead, TakeBody } from "../../http/client.ts";
import { privateHost } from "../../http/private-address.ts";
import { type FailureReason, retryAfterMs } from "../../http/retry.ts";
import { datetimeOfEpochMs, tryParseDatetime } from "../../memento/datetime.ts";
import { MementoList } from "../../memento/memento-list.ts";
import type { Archive } from "../route/archive.ts";
import { type ArchiveAnswer, answerOf, failedAnswer, faultOf, type Origin } from "./answer.ts";
import { Breaker } from "./breaker.ts";
import { ByteBudget } from "./byte-budget.ts";
import {
  type Cache,
  decodeHolding,
  DEFAULT_LIFETIMES,
  encodeHolding,
  type Holding,
  holdingOf,
  type Lifetimes,
} from "./cache.ts";
import { type CdxEndpoint, cdxQuery, readCdx } from "./cdx.ts";
import { type HostLimits, Limits, type Priority } from "./limits.ts";
import {
  ArchiveCounters,
  type Endpoint,
  type EndpointState,
  type HowToAsk,
  type Upstream,
  type UpstreamState,
} from "./state.ts";
import { readTimeGate } from "./timegate.ts";
import {
  type Asking,
  type AskLimits,
  DEFAULT_ASK_LIMITS,
  isHtmlInstead,
  type Reading,
  readTimeMap,
} from "./timemap.ts";

/** How archives are asked. Every member may be left out. */
export interface AskOptions {
  readonly limits?: Partial<AskLimits> | undefined;
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Default none. */
  readonly cache?: Cache | undefined;
  /** How long an answer may take to begin; default 30 s, or what the archive's entry says. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long all may take, waiting included; default 60 s, or what the archive's entry says. */
  readonly totalTimeoutMs?: number | undefined;
  /** Requests in flight at once to the host of an archive whose entry says nothing; default by the host. */
  readonly concurrency?: number | undefined;
  /** Requests begun in a second to such a host; default any number. */
  readonly rate?: number | undefined;
  /** The part of these limits that this process has: 1/4 where four ask the same archives. Default 1. */
  readonly share?: number | undefined;
  /** Failures in a row after which an endpoint is left out; default 5, Infinity for never. */
  readonly tolerance?: number | undefined;
  /** How long it is left out first; doubled up to `longestDormantMs`. Default 1 min. */
  readonly dormantMs?: number | undefined;
  /** Default 15 min. */
  readonly longestDormantMs?: number | undefined;
  /** Told when an endpoint of an archive is left out, is probed, or is back. Must not throw. */
  readonly onChange?:
    | ((archive: Archive, state: EndpointState, endpoint: Endpoint) => void)
    | undefined;
  /** Milliseconds that only go up, for the circuit breaker; default a clock that nobody can set. */
  readonly now?: (() => number) | undefined;
}

/** One ask: what all who ask the same share. */
interface Question {
  /** The same for the same answer. */
  readonly key: string;
  readonly archive: Archive;
  readonly uri: string;
  readonly endpoint: Endpoint;
  readonly read: (asking: Asking) => Promise<Reading>;
}

const DAY_MS = 86_400_000;
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
  readonly #budget = new ByteBudget();
  readonly #inFlight = new Map<string, Promise<ArchiveAnswer>>();
  /** By their addresses. */
  readonly #endpoints = new Map<string, AskedEndpoint>();
  /** By host and port: endpoints of one host share them. */
  readonly #hosts = new Map<string, Limits>();
  /** Those that are no longer in the list, as long as they are asked. */
  #gone: readonly AskedEndpoint[] = [];
  readonly #now: () => number;
  #isClosed = false;

  constructor(client: Client, options: AskOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#limits = { ...DEFAULT_ASK_LIMITS, ...options.limits };
    this.#lifetimes = { ...DEFAULT_LIFETIMES, ...options.lifetimes };
    this.#now = options.now ?? (() => performance.now());
  }

  ask(
    archive: Archive,
    uri: string,
    how: HowToAsk = "cached",
  ): ArchiveAnswer | Promise<ArchiveAnswer> {
    const { timemap, timegate } = archive;
    if (timemap !== undefined) {
      const url = timemap + uri;
      const read = (asking: Asking): Promise<Reading> => readTimeMap(asking, url);
      return this.#ask({ key: url, archive, uri, endpoint: "timemap", read }, how);
    }
    const cdx = cdxOf(archive);
    if (cdx !== undefined) {
      const read = (asking: Asking): Promise<Reading> => readCdx(asking, cdx, uri);
      return this.#ask({ key: cdxQuery(cdx, uri), archive, uri, endpoint: "timemap", read }, how);
    }
    if (timegate === undefined) return NO_ENDPOINT;
    const read = (asking: Asking): Promise<Reading> => readByTimeGate(asking, timegate + uri);
    return this.#ask(
      { key: `${timegate}${uri} all`, archive, uri, endpoint: "timegate", read },
      how,
    );
  }

  askClosest(
    archive: Archive,
    uri: string,
    datetime: number,
    how: HowToAsk = "cached",
  ): ArchiveAnswer | Promise<ArchiveAnswer> {
    const { timemap, timegate } = archive;
    if (timegate === undefined) return this.ask(archive, uri, how);
    const cdx = cdxOf(archive);
    const all = timemap === undefined ? cdx && cdxQuery(cdx, uri) : timemap + uri;
    const kept = all === undefined || how === "refresh" ? undefined : this.#kept(all);
    if (kept !== undefined && Date.now() < kept.freshUntil) return this.ask(archive, uri, how);
    return this.#askTimeGate(archive, timegate + uri, { uri, datetime, how });
  }

  /** The TimeGate, or the TimeMap where the TimeGate is of no use. */
  async #askTimeGate(
    archive: Archive,
    url: string,
    { uri, datetime, how }: { uri: string; datetime: number; how: HowToAsk },
  ): Promise<ArchiveAnswer> {
    const isLatest = datetime >= datetimeOfEpochMs(Date.now() - REFRESH_MS);
    const key = `${url} ${isLatest ? "latest" : datetime}`;
    const read = (asking: Asking): Promise<Reading> => readTimeGate(asking, url, datetime);
    const found = await this.#ask({ key, archive, uri, endpoint: "timegate", read }, how);
    if (addressOf(archive, "timemap") === undefined) return found;
    if (found.result === "error") {
      const isInVain = found.failure !== undefined && ALSO_OF_TIMEMAP.has(found.failure);
      // What is kept costs the archive nothing, whatever is wrong with it.
      const all = await this.ask(archive, uri, isInVain ? "only-cached" : how);
      return all.result === "error" ? found : all;
    }
    if (!names(found.mementos, datetime)) return found;
    // Some TimeGates have a memento at any time that they are asked for.
    const all = await this.ask(archive, uri, how);
    return all.result === "error" ? without(found, datetime) : all;
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
    return inFlight.then((answer) =>
      answer.origin === undefined ? answer : { ...answer, origin: "coalesced" },
    );
  }

  #fetch(
    question: Question,
    kept: Holding | undefined,
    priority: Priority,
  ): Promise<ArchiveAnswer> {
    const { key } = question;
    const asking = this.#askNow(question, priority).then(
      (reading) => {
        this.#inFlight.delete(key);
        return this.#keep(question, reading, kept);
      },
      (error: unknown) => {
        this.#inFlight.delete(key);
        return this.#instead(question, failedAnswer(faultOf(error)), kept);
      },
    );
    this.#inFlight.set(key, asking);
    return asking;
  }

  #keep(question: Question, reading: Reading, kept: Holding | undefined): ArchiveAnswer {
    const { answer, headers } = reading;
    if (answer.result === "error") return this.#instead(question, answer, kept);
    const isPart = answer.fault !== undefined;
    if (isPart || this.#options.cache === undefined || this.#isClosed) return answer;
    const holding = holdingOf(answer.mementos, headers, this.#lifetimes);
    if (holding === undefined) return answer;
    // Archives in trouble answer with a part of what they have.
    const isSmaller =
      kept !== undefined &&
      answer.mementos.count < kept.mementos.count &&
      Date.now() - kept.madeAt < DAY_MS;
    const better = isSmaller
      ? { ...kept, askedAt: holding.askedAt, freshUntil: holding.freshUntil }
      : holding;
    this.#options.cache.set(question.key, encodeHolding(better));
    return isSmaller ? known(better, "stale") : answer;
  }

  /** What is kept, if it may still be used. */
  #instead({ archive }: Question, answer: ArchiveAnswer, kept: Holding | undefined): ArchiveAnswer {
    const counters = this.#countersOf(archive);
    if (answer.failure !== undefined) counters.failures[answer.failure] += 1;
    if (kept === undefined || Date.now() >= kept.staleUntil) return answer;
    counters.staleAnswers += 1;
    return known(kept, "stale");
  }

  async #askNow(question: Question, priority: Priority): Promise<Reading> {
    const { archive, endpoint } = question;
    const asked = this.#endpointOf(archive, endpoint);
    const { breaker } = asked;
    const isProbe = breaker.check();
    const asking = this.#asking(archive, asked, priority, () => {
      // It may have failed while this waited for its turn.
      if (!isProbe && breaker.isOpen) breaker.check();
    });
    try {
      const reading = await question.read(asking);
      return await this.#judge(question, asked, reading);
    } catch (error) {
      this.#blame(question, asked, error);
      throw error;
    } finally {
      asking.close();
    }
  }

  /** What an answer tells about the archive. */
  async #judge(
    question: Question,
    { breaker, limits }: AskedEndpoint,
    reading: Reading,
  ): Promise<Reading> {
    const { answer, headers } = reading;
    const { status = 0 } = answer;
    const said = `it answered with status ${status}`;
    if (status === 429) {
      limits.overloaded();
      breaker.pause(said, retryAfterMs(headers.get("retry-after"), Date.now()));
    } else if (status >= 500) {
      if (status === 503) limits.overloaded();
      void breaker.failed(said, this.#confirmation(question));
    } else if (answer.failure === "bad-timemap") {
      // So some archives say that they have nothing, while they have TimeMaps of other URIs.
      const isUp = isHtmlInstead(reading) && (await this.#isUp(question, breaker));
      if (isUp) return { headers, answer: answerOf(new MementoList(), { status }) };
      void breaker.failed(answer.fault ?? "", this.#confirmation(question));
    } else {
      limits.succeeded();
      breaker.succeeded(answer.result === "hit" ? question.uri : undefined);
    }
    return reading;
  }

  async #isUp(question: Question, breaker: Breaker): Promise<boolean> {
    return breaker.wasGoodLately || breaker.confirm(this.#confirmation(question));
  }

  /** What a failure tells about the archive. */
  #blame(question: Question, { breaker, limits }: AskedEndpoint, error: unknown): void {
    const { archive, endpoint } = question;
    const { failure = "internal", fault = "" } = faultOf(error);
    if (IS_OURS.has(failure)) {
      breaker.endProbe();
    } else if (IS_ANSWER.has(failure) || isOfAnother(error, addressOf(archive, endpoint))) {
      breaker.succeeded();
    } else {
      if (failure === "timeout") limits.overloaded();
      void breaker.failed(fault, this.#confirmation(question));
    }
  }

  /** Whether an endpoint has an answer for another URI, past the cache and the circuit breaker. */
  #confirmation({ archive, endpoint }: Question): (uri: string) => Promise<boolean> {
    return async (uri) => {
      const asked = this.#endpointOf(archive, endpoint);
      const asking = this.#asking(archive, asked, "client", () => undefined);
      const cdx = cdxOf(archive);
      const url = (addressOf(archive, endpoint) ?? "") + uri;
      try {
        const { answer } = await (endpoint === "timegate"
          ? readTimeGate(asking, url, LATEST)
          : cdx === undefined
            ? readTimeMap(asking, url)
            : readCdx(asking, cdx, uri));
        return answer.result !== "error";
      } catch {
        return false;
      } finally {
        asking.close();
      }
    };
  }

  /** @param check called before each request. */
  #asking(
    archive: Archive,
    asked: AskedEndpoint,
    priority: Priority,
    check: () => void,
  ): Asking & { close(): void } {
    const { limits } = asked;
    asked.asks += 1;
    const { headersTimeoutMs = 30_000, totalTimeoutMs = 60_000 } = this.#options;
    const { timeoutMs } = archive;
    const until = performance.now() + (timeoutMs ?? totalTimeoutMs);
    const { maxBytes } = this.#limits;
    const how = { headersTimeoutMs: timeoutMs ?? headersTimeoutMs, until, maxBytes };
    const claim = this.#budget.open(maxBytes);
    const counters = this.#countersOf(archive);
    const counted =
      (take: TakeBody): TakeBody =>
      (head) => {
        const sink = take(head);
        if (sink === undefined) return undefined;
        return (chunk) => {
          counters.bytes += chunk.length;
          claim.take(chunk.length);
          sink(chunk);
        };
      };
    return {
      limits: this.#limits,
      get: (request, take) => {
        const get = (): Promise<ResponseHead> => {
          check();
          counters.requests += 1;
          return this.#client.get({ ...request, ...how }, counted(take));
        };
        return limits.run(get, until, priority);
      },
      close: () => {
        asked.asks -= 1;
        claim.release();
      },
    };
  }

  #kept(key: string): Holding | undefined {
    const bytes = this.#isClosed ? undefined : this.#options.cache?.get(key);
    const holding = bytes === undefined ? undefined : decodeHolding(bytes);
    if (holding === undefined || holding.askedAt > Date.now() + CLOCK_SLACK_MS) return undefined;
    return holding;
  }

  stateOf(archive: Archive): UpstreamState {
    const asked = ENDPOINTS.filter((endpoint) => addressOf(archive, endpoint) !== undefined).map(
      (endpoint) => this.#endpointOf(archive, endpoint),
    );
    const states = asked.map(({ breaker }) => this.#stateOf(breaker));
    const limits = asked[0]?.limits;
    return {
      ...states.reduce(worseOf, AWAKE),
      requestsUnderWay: limits?.inFlight ?? 0,
      requestsWaiting: limits?.waiting ?? 0,
      concurrency: limits?.concurrency ?? 0,
    };
  }

  isDormant(archive: Archive, endpoint: Endpoint): boolean {
    return this.#endpoints.get(addressOf(archive, endpoint) ?? "")?.breaker.isOpen === true;
  }

  /** Whether an origin is one of an archive, which the operator named. */
  isListed(origin: string): boolean {
    for (const asked of this.#endpoints.values()) if (asked.origin === origin) return true;
    return this.#gone.some((asked) => asked.origin === origin && asked.asks > 0);
  }

  /** Goes by another list of archives: what is known of an endpoint, and of a host, goes by its address. */
  replaceArchives(archives: readonly Archive[]): void {
    const before = new Map(this.#endpoints);
    this.#endpoints.clear();
    this.#gone = [...this.#gone, ...before.values()].filter(({ asks }) => asks > 0);
    const hosts = new Map<string, HostLimits>();
    const known = archives.flatMap((archive) =>
      ENDPOINTS.flatMap((endpoint) => {
        const url = addressOf(archive, endpoint);
        return url === undefined ? [] : [{ archive, endpoint, url, ...placeOf(url) }];
      }),
    );
    for (const { archive, host } of known) {
      hosts.set(host, lower(this.#hostLimits(archive, host), hosts.get(host)));
    }
    for (const host of this.#hosts.keys()) if (!hosts.has(host)) this.#hosts.delete(host);
    for (const [host, limits] of hosts) this.#hosts.get(host)?.change(limits);
    for (const { archive, endpoint, url, host, origin } of known) {
      let limits = this.#hosts.get(host);
      if (limits === undefined) {
        limits = new Limits(hosts.get(host) ?? this.#hostLimits(archive, host));
        this.#hosts.set(host, limits);
      }
      const breaker = before.get(url)?.breaker ?? this.#newBreaker(archive, endpoint);
      this.#endpoints.set(url, { breaker, limits, origin, asks: 0 });
    }
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.counters.keys()) if (!ids.has(id)) this.counters.delete(id);
  }

  /** Refuses what waits, and asks no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const limits of this.#hosts.values()) limits.close();
    await this.#client.close();
    await this.#options.cache?.close();
  }

  #endpointOf(archive: Archive, endpoint: Endpoint): AskedEndpoint {
    const url = addressOf(archive, endpoint) ?? "";
    let asked = this.#endpoints.get(url);
    if (asked === undefined) {
      const { host, origin } = placeOf(url);
      let limits = this.#hosts.get(host);
      if (limits === undefined) {
        limits = new Limits(this.#hostLimits(archive, host));
        this.#hosts.set(host, limits);
      }
      if (this.#isClosed) limits.close();
      asked = { breaker: this.#newBreaker(archive, endpoint), limits, origin, asks: 0 };
      this.#endpoints.set(url, asked);
    }
    return asked;
  }

  #newBreaker(archive: Archive, endpoint: Endpoint): Breaker {
    const { tolerance = 5, dormantMs = 60_000, longestDormantMs, onChange } = this.#options;
    const breaker = new Breaker({
      tolerance,
      dormantMs,
      longestMs: longestDormantMs ?? 15 * 60_000,
      now: this.#now,
      onChange: () => onChange?.(archive, this.#stateOf(breaker), endpoint),
    });
    return breaker;
  }

  #stateOf({ health, consecutiveFailures, openUntil, lastFailure }: Breaker): EndpointState {
    const dormantUntil = openUntil === undefined ? undefined : openUntil - this.#now() + Date.now();
    return { health, consecutiveFailures, dormantUntil, lastFailure };
  }

  #hostLimits({ concurrency, rate }: Archive, host: string): HostLimits {
    const { share = 1, ...options } = this.#options;
    const atOnce = concurrency ?? options.concurrency ?? (isOwn(host) ? OWN_HOST : PUBLIC_HOST);
    const perSecond = rate ?? options.rate;
    return {
      concurrency: Math.max(1, Math.floor(atOnce * share)),
      rate: perSecond === undefined ? undefined : perSecond * share,
    };
  }

  #countersOf({ id }: Archive): ArchiveCounters {
    let counters = this.counters.get(id);
    if (counters === undefined) {
      counters = new ArchiveCounters();
      this.counters.set(id, counters);
    }
    return counters;
  }
}

/** One endpoint of an archive: whether it works, and how much its host is asked. */
interface AskedEndpoint {
  readonly breaker: Breaker;
  readonly limits: Limits;
  readonly origin: string;
  /** Asks that are in flight. */
  asks: number;
}

/** Where an archive is asked; all mementos come from a CDX server where it has no TimeMap. */
function addressOf(archive: Archive, endpoint: Endpoint): string | undefined {
  return endpoint === "timegate" ? archive.timegate : (archive.timemap ?? archive.cdx);
}

function cdxOf({ timemap, cdx, replay }: Archive): CdxEndpoint | undefined {
  if (timemap !== undefined || cdx === undefined || replay === undefined) return undefined;
  return { cdx, replay };
}

function placeOf(url: string): { host: string; origin: string } {
  const { host, origin } = new URL(url);
  return { host, origin };
}

const ENDPOINTS = ["timemap", "timegate"] as const satisfies readonly Endpoint[];
/** Requests at once to a host of the Internet: some firewalls object to 20 connections. */
const PUBLIC_HOST = 16;
/** And to one of this network, which is the operator's own. */
const OWN_HOST = 256;

function isOwn(host: string): boolean {
  const { hostname } = new URL(`http://${host}`);
  return privateHost(hostname) !== undefined || hostname === "localhost";
}

function lower(a: HostLimits, b: HostLimits | undefined): HostLimits {
  if (b === undefined) return a;
  const rates = [a.rate, b.rate].filter((rate) => rate !== undefined);
  return {
    concurrency: Math.min(a.concurrency, b.concurrency),
    rate: rates.length === 0 ? undefined : Math.min(...rates),
  };
}

const AWAKE: EndpointState = {
  health: "awake",
  consecutiveFailures: 0,
  dormantUntil: undefined,
  lastFailure: undefined,
};

function worseOf(a: EndpointState, b: EndpointState): EndpointState {
  if (a.health === "awake" && b.health === "awake") {
    return b.consecutiveFailures > a.consecutiveFailures ? b : a;
  }
  return (b.dormantUntil ?? 0) > (a.dormantUntil ?? 0) ? b : a;
}

/** TimeGates give the last memento for it. */
const LATEST = tryParseDatetime("99991231235959") ?? 0;

/** Where the list of archives names a TimeGate only: the TimeMap that it names, or what it names itself. */
async function readByTimeGate(asking: Asking, url: string): Promise<Reading> {
  const found = await readTimeGate(asking, url, LATEST);
  if (found.timemap !== undefined) return readTimeMap(asking, found.timemap);
  if (found.answer.result !== "hit") return found;
  const fault = "it has no TimeMap; its TimeGate names these mementos, and may know more";
  const noEndpoint = { code: "MM_NOT_FOUND", failure: "no-endpoint", fault } as const;
  return { ...found, answer: { ...found.answer, ...noEndpoint } };
}

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

function names(mementos: MementoList, datetime: number): boolean {
  for (let i = 0; i < mementos.count; i++) if (mementos.datetimeAt(i) === datetime) return true;
  return false;
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
