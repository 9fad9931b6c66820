import { asError } from "../../errors.ts";
import type { LookupFunction } from "node:net";
import type {
  AnswerListener,
  Endpoint,
  EndpointState,
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
  UpstreamState,
} from "../upstream.ts";
import { loopHasTime } from "./event-loop.ts";
import { steadyClock } from "../session.ts";
import type { Archive } from "../route/archive.ts";
import { userAgent } from "../../files/package-file.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { MAX_REDIRECTS } from "../../http/redirects.ts";
import { ArchiveRequest, type AskedArchive } from "./archive-request.ts";
import { ACCEPTED_CODINGS } from "../../http/body-decoder.ts";
import { ArchiveCounters, Dormancy, type DormancyNews } from "./archive-health.ts";
import type { Bus } from "../../files/processes/bus.ts";
import {
  CachedExchange,
  type CacheOptions,
  type CacheRules,
  cacheRules,
  isForCache,
} from "./http-cache.ts";
import { Limits, type LimitsOptions } from "./limits.ts";
import { type TurnGrant, TurnSource, TURNS_TOPIC } from "./turns.ts";
import { type HeadListener, SharedAnswer, UnderWay } from "./shared-answer.ts";
import { OriginPools } from "../../http/origin-pools.ts";

const DEFAULT_TOTAL_MS = 60_000;
const DEFAULT_CONCURRENCY = 256;
const DEFAULT_QUEUE_MS = 2000;
const DEFAULT_LONGEST_DORMANT_MS = 900_000;

export interface UpstreamOptions {
  /** Whom archives can write to: an address of mail or of a page. Sent with every request. */
  readonly contact?: string | undefined;
  /** The whole `User-Agent`; default `mementomap/VERSION (+CONTACT)`. */
  readonly agent?: string | undefined;
  /** How long a connection may take to be made; default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long an answer may take to begin; default 30 s, or what the archive's entry says. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long all may take, waiting included; default 60 s, or what the archive's entry says. */
  readonly totalTimeoutMs?: number | undefined;
  /**
   * Requests under way at once to one archive, at most; default 256. It begins with 16, and adapts:
   * see `AdaptiveLimit`.
   */
  readonly concurrency?: number | undefined;
  /**
   * How long a request waits for its turn at most; default 2 s. Those that would wait longer are
   * refused at once.
   */
  readonly queueTimeoutMs?: number | undefined;
  /** Requests begun in a second to one archive; default any number. */
  readonly rate?: number | undefined;
  /**
   * The share of `concurrency` and `rate` that this process has, and of those in the archives'
   * entries: 1/4 where four processes ask the same archives. Default 1.
   */
  readonly share?: number | undefined;
  /** Requests that may wait for one archive; more are refused at once. Default 10,000. */
  readonly maxWaiting?: number | undefined;
  /** How often a request is sent again; default 2. */
  readonly retries?: number | undefined;
  /** The pause before the first of these; default 500 ms. */
  readonly retryDelayMs?: number | undefined;
  /** Failures in a row after which an archive is dormant; default 5, Infinity for never. */
  readonly tolerance?: number | undefined;
  /** How long it is dormant first; doubled up to `longestDormantMs`. Default 1 min. */
  readonly dormantMs?: number | undefined;
  /** Default 15 min. */
  readonly longestDormantMs?: number | undefined;
  /** Whether redirects and links may lead to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Default 5. */
  readonly maxRedirects?: number | undefined;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Where and how long answers are kept; default 64 MiB of memory. */
  readonly cache?: CacheOptions | "off" | undefined;
  /** The processes that ask the same archives: what one finds out about their health, all know. */
  readonly bus?: Bus | undefined;
  /** Told when an endpoint of an archive falls asleep, is probed, or wakes, as seen by this process. */
  readonly onChange?:
    | ((archive: Archive, state: EndpointState, endpoint: Endpoint) => void)
    | undefined;
  /** Milliseconds since 1970, for dormancy; default a clock that nobody can set. */
  readonly now?: (() => number) | undefined;
}

/** Asks archives over the network. */
export interface ArchiveUpstream extends Upstream {
  /** What was asked of each archive so far, by its id. */
  readonly counters: ReadonlyMap<string, ArchiveCounters>;
  /**
   * Goes by another list of archives. Those of the same id keep their state and their connections,
   * unless their addresses are others. Those that are gone are forgotten when no question from before
   * can be under way any more.
   */
  replaceArchives(archives: readonly Archive[]): void;
  /** Cuts all connections; requests under way and waiting fail. */
  close(): Promise<void>;
}

/**
 * Makes what asks archives: over connections that are kept, within limits, again where that may
 * help, not at all for a while where it does not, and once where many ask the same.
 *
 * The origins of archives are trusted, also at private addresses; redirects and links lead to those
 * and to the public Internet only.
 */
export function createUpstream(options: UpstreamOptions = {}): ArchiveUpstream {
  return new PoliteUpstream(options);
}

/** What is kept of an archive. */
interface KnownArchive {
  readonly archive: Archive;
  readonly asked: Readonly<Record<Endpoint, AskedArchive>>;
}

/** What processes tell each other about an endpoint, which they know by its address. */
interface HealthMessage {
  readonly address: string;
  readonly news: DormancyNews;
}

/** Limits that leave a process with fewer requests at once are not divided. */
const LEAST_DIVIDED = 8;
const HEALTH_TOPIC = "archive-health";

class PoliteUpstream implements ArchiveUpstream {
  /** What other processes said last, by the address of the endpoint. */
  readonly #heard = new Map<string, DormancyNews>();
  readonly #options: UpstreamOptions;
  readonly #pools: OriginPools;
  readonly #headers: readonly string[];
  readonly #cache: CacheRules | undefined;
  readonly #archives = new Map<string, KnownArchive>();
  readonly #now: () => number;
  readonly #hasTime = loopHasTime();
  /** The ids of the list; undefined as long as there is none. */
  #listed: ReadonlySet<string> | undefined;
  #forgetting: NodeJS.Timeout | undefined;
  readonly #underWay = new UnderWay<SharedAnswer>();
  readonly counters = new Map<string, ArchiveCounters>();

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyClock;
    this.#pools = new OriginPools({
      connectTimeoutMs: options.connectTimeoutMs ?? 5000,
      connections: options.concurrency ?? 16,
      allowsPrivate: () => options.allowsPrivate === true,
      lookup: options.lookup,
      proxies: options.proxies,
    });
    this.#headers = [
      "user-agent",
      options.agent ?? userAgent(options.contact),
      "accept-encoding",
      ACCEPTED_CODINGS,
    ];
    this.#cache = options.cache === "off" ? undefined : cacheRules(options.cache ?? {});
    // Other processes are of the same program.
    options.bus?.subscribe(HEALTH_TOPIC, (message) => this.#hear(message as HealthMessage));
    options.bus?.subscribe(TURNS_TOPIC, (message) => this.#grant(message as TurnGrant));
  }

  ask(request: UpstreamRequest): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      const onAnswer = (answer: UpstreamAnswer): true => {
        resolve(answer);
        return true;
      };
      this.#ask(request, { onAnswer, onFail: reject });
    });
  }

  listen(request: UpstreamRequest, listener: AnswerListener): void {
    this.#ask(request, listener);
  }

  #ask(request: UpstreamRequest, listener: HeadListener): void {
    const known = this.#archives.get(request.archive.id) ?? this.#meet(request.archive, undefined);
    const archive = known.asked[request.endpoint ?? "timemap"];
    const hash = this.#underWay.hashOf(request);
    const shared = this.#underWay.find(request, hash);
    if (shared !== undefined) {
      archive.counters.coalesced += 1;
      shared.join(request, "coalesced", listener);
      return;
    }
    const answer = new SharedAnswer(request, hash, this.#underWay);
    answer.join(request, undefined, listener);
    if (answer.isAbandoned) return;
    try {
      this.#begin(archive, request, answer);
    } catch (error) {
      answer.onFail(asError(error));
    }
  }

  stateOf(archive: Archive): UpstreamState {
    const asked = this.#known(archive)?.asked;
    const { limits } = asked?.timemap ?? {};
    const timemap = archive.timemap === undefined ? undefined : this.#endpointState(asked?.timemap);
    const timegate =
      archive.timegate === undefined ? undefined : this.#endpointState(asked?.timegate);
    return {
      ...worseOf(timemap, timegate),
      endpoints: { timemap, timegate },
      requestsUnderWay: limits?.underWay ?? 0,
      requestsWaiting: limits?.waiting ?? 0,
      concurrency: limits?.concurrency ?? this.#concurrencyOf(archive),
    };
  }

  isDormant(archive: Archive, endpoint: Endpoint): boolean {
    return this.#known(archive)?.asked[endpoint].dormancy.isRefusing === true;
  }

  /** What is known of an archive that was asked, here or by another process. */
  #known(archive: Archive): KnownArchive | undefined {
    const known = this.#archives.get(archive.id);
    if (known !== undefined || this.#heard.size === 0) return known;
    const isHeardOf = addressesOf(archive).some((address) => this.#heard.has(address));
    return isHeardOf ? this.#meet(archive, undefined) : undefined;
  }

  #endpointState(asked: AskedArchive | undefined): EndpointState {
    const dormancy = asked?.dormancy;
    if (dormancy === undefined) return AWAKE;
    const { health, consecutiveFailures, until, lastFailure } = dormancy;
    const dormantUntil = until === undefined ? undefined : until + this.#aheadMs();
    return { health, consecutiveFailures, dormantUntil, lastFailure };
  }

  replaceArchives(archives: readonly Archive[]): void {
    this.#listed = new Set(archives.map(({ id }) => id));
    for (const archive of archives) {
      const known = this.#archives.get(archive.id);
      if (known !== undefined && known.archive !== archive) this.#meet(archive, known);
    }
    const { totalTimeoutMs = DEFAULT_TOTAL_MS } = this.#options;
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.#forgetGone(), 2 * totalTimeoutMs).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#forgetting);
    const closed = this.#pools.close();
    for (const { asked } of this.#archives.values()) asked.timemap.limits.close();
    await closed;
    await this.#cache?.store.close();
  }

  #begin(archive: AskedArchive, request: UpstreamRequest, answer: SharedAnswer): void {
    const exchange =
      this.#cache !== undefined && isForCache(request)
        ? new CachedExchange(this.#cache, archive, request, answer)
        : new ArchiveRequest(archive, request, answer);
    answer.attach(exchange);
    exchange.begin();
  }

  /** @param before what is known of an archive of the same id. */
  #meet(archive: Archive, before: KnownArchive | undefined): KnownArchive {
    const { id, timeoutMs } = archive;
    const options = this.#options;
    const { share = 1 } = options;
    const rate = archive.rate ?? options.rate;
    const turns = this.#turnsOf(archive);
    const concurrency = this.#concurrencyOf(archive);
    for (const address of addressesOf(archive)) this.#pools.trust(address, concurrency);
    const common = {
      id,
      pools: this.#pools,
      maxRedirects: options.maxRedirects ?? MAX_REDIRECTS,
      counters: before?.asked.timemap.counters ?? new ArchiveCounters(),
      headers: this.#headers,
      limits: limitsOf(before?.asked.timemap.limits, {
        concurrency,
        rate: rate === undefined ? undefined : rate * share,
        share: turns === undefined ? share : 1,
        turns,
        maxWaiting: options.maxWaiting ?? 10_000,
        longestWaitMs: options.queueTimeoutMs ?? DEFAULT_QUEUE_MS,
        hasTime: this.#hasTime,
        now: () => performance.now(),
      }),
      retry: { retries: options.retries ?? 2, firstMs: options.retryDelayMs ?? 500 },
      headersTimeoutMs: timeoutMs ?? options.headersTimeoutMs ?? 30_000,
      totalTimeoutMs: timeoutMs ?? options.totalTimeoutMs ?? DEFAULT_TOTAL_MS,
      longestDormantMs: options.longestDormantMs ?? DEFAULT_LONGEST_DORMANT_MS,
    };
    const endpoint = (name: Endpoint): AskedArchive => ({
      ...common,
      // What another server did says nothing about this one.
      dormancy:
        before !== undefined && archive[name] === before.archive[name]
          ? before.asked[name].dormancy
          : this.#awake(archive, name),
    });
    const known = {
      archive,
      asked: { timemap: endpoint("timemap"), timegate: endpoint("timegate") },
    };
    this.#archives.set(id, known);
    this.counters.set(id, common.counters);
    return known;
  }

  /** All processes together may ask so much at once. */
  #wholeConcurrencyOf({ concurrency }: Archive): number {
    return concurrency ?? this.#options.concurrency ?? DEFAULT_CONCURRENCY;
  }

  #concurrencyOf(archive: Archive): number {
    const all = this.#wholeConcurrencyOf(archive);
    const isDivided = this.#turnsOf(archive) === undefined;
    return isDivided ? Math.max(1, Math.floor(all * (this.#options.share ?? 1))) : all;
  }

  /** Where limits are too small to be divided, the processes take turns. */
  #turnsOf(archive: Archive): TurnSource | undefined {
    const { bus, share = 1, rate: common } = this.#options;
    const concurrency = this.#wholeConcurrencyOf(archive);
    const rate = archive.rate ?? common;
    const isDivided = rate === undefined && concurrency * share >= LEAST_DIVIDED;
    if (bus === undefined || share === 1 || isDivided) return undefined;
    return new TurnSource(archive.id, { concurrency, rate }, bus);
  }

  #awake(archive: Archive, endpoint: Endpoint): Dormancy {
    const { tolerance, dormantMs, longestDormantMs, bus } = this.#options;
    const address = archive[endpoint] ?? "";
    const dormancy = new Dormancy({
      tolerance: tolerance ?? 5,
      dormantMs: dormantMs ?? 60_000,
      longestMs: longestDormantMs ?? DEFAULT_LONGEST_DORMANT_MS,
      now: this.#now,
      onChange: () => this.#tell(archive, endpoint),
      share:
        bus === undefined
          ? undefined
          : (news) => bus.publish(HEALTH_TOPIC, { address, news } satisfies HealthMessage, address),
    });
    const heard = this.#heard.get(address);
    if (heard !== undefined) dormancy.apply(heard);
    return dormancy;
  }

  #grant({ archive }: TurnGrant): void {
    this.#archives.get(archive)?.asked.timemap.limits.grant();
  }

  #hear({ address, news }: HealthMessage): void {
    this.#heard.set(address, news);
    for (const { archive, asked } of this.#archives.values()) {
      if (archive.timemap === address) asked.timemap.dormancy.apply(news);
      if (archive.timegate === address) asked.timegate.dormancy.apply(news);
    }
  }

  /** Listeners are called in the middle of a request, which must not fail with them. */
  #tell(archive: Archive, endpoint: Endpoint): void {
    try {
      const { endpoints } = this.stateOf(archive);
      this.#options.onChange?.(archive, endpoints[endpoint] ?? AWAKE, endpoint);
    } catch {
      // Listeners handle their own errors.
    }
  }

  #forgetGone(): void {
    for (const [id, { asked }] of this.#archives) {
      const { underWay, waiting } = asked.timemap.limits;
      if (this.#listed?.has(id) !== false || underWay + waiting > 0) continue;
      this.#archives.delete(id);
      this.counters.delete(id);
    }
    const known = Array.from(this.#archives.values(), ({ archive }) => archive);
    this.#pools.trustOnly(known.flatMap(addressesOf));
  }

  /** How far the system's clock is ahead of that of dormancy: it may have been set since. */
  #aheadMs(): number {
    return this.#options.now === undefined ? Date.now() - steadyClock() : 0;
  }
}

const AWAKE: EndpointState = {
  health: "awake",
  consecutiveFailures: 0,
  dormantUntil: undefined,
  lastFailure: undefined,
};

/** The state of the endpoint that is worse off. */
function worseOf(
  timemap: EndpointState | undefined,
  timegate: EndpointState | undefined,
): EndpointState {
  if (timemap === undefined || timegate === undefined) return timemap ?? timegate ?? AWAKE;
  if (timemap.health === "awake" && timegate.health === "awake") {
    return timegate.consecutiveFailures > timemap.consecutiveFailures ? timegate : timemap;
  }
  return (timegate.dormantUntil ?? 0) > (timemap.dormantUntil ?? 0) ? timegate : timemap;
}

function addressesOf({ timemap, timegate }: Archive): string[] {
  return [timemap, timegate].filter((address) => address !== undefined);
}

function limitsOf(before: Limits | undefined, options: LimitsOptions): Limits {
  if (before === undefined) return new Limits(options);
  before.change(options);
  return before;
}
