import { MementoMapError } from "../../errors.ts";
import { privateHost } from "../../http/private-address.ts";
import type { Archive } from "../route/archive.ts";
import { Breaker } from "./breaker.ts";
import { type HostLimits, Limits } from "./limits.ts";
import type { Endpoint, EndpointState, UpstreamState } from "./state.ts";

/** Limits of requests and of circuit breakers. All members are optional. */
export interface EndpointOptions {
  /** This process's share of the limits of hosts: 1/4 if four processes query the same archives. Default 1. */
  readonly share?: number | undefined;
  /** Consecutive failures that open the circuit breaker; default 5, Infinity for never. */
  readonly tolerance?: number | undefined;
  /** Longest pause: a minute at first, doubled each time. Default 15 min. */
  readonly longestDormantMs?: number | undefined;
  /** Called when the circuit of an endpoint opens, is probed, or closes. Must not throw. */
  readonly onChange?:
    | ((archive: Archive, state: EndpointState, endpoint: Endpoint) => void)
    | undefined;
  /** Monotonic clock in milliseconds for circuit breakers; default `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/** An endpoint of an archive: its circuit breaker and the limits of its host. */
export interface AskedEndpoint {
  readonly breaker: Breaker;
  /** Shared by all endpoints of a host. */
  readonly limits: Limits;
  readonly origin: string;
}

/** Whether an endpoint answers for a URI. Must not reject. */
type HasAnswer = (archive: Archive, endpoint: Endpoint, uri: string) => Promise<boolean>;

/** Maximum requests in flight to a public host: some firewalls object to 20 connections. */
const PUBLIC_HOST = 16;
/** The same for a host of this network, which is the operator's own. */
const OWN_HOST = 256;
const ENDPOINTS = ["timemap", "timegate"] as const satisfies readonly Endpoint[];

/** The URL of an endpoint; an archive without a TimeMap is queried at its CDX server. */
export function addressOf(archive: Archive, endpoint: Endpoint): string | undefined {
  return endpoint === "timegate" ? archive.timegate : (archive.timemap ?? archive.cdx);
}

/** The endpoints of archives by their addresses, and the limits of their hosts. */
export class Endpoints {
  readonly #options: EndpointOptions;
  readonly #hasAnswer: HasAnswer;
  #endpoints = new Map<string, AskedEndpoint>();
  /** By host and port. */
  #hosts = new Map<string, Limits>();

  constructor(options: EndpointOptions, hasAnswer: HasAnswer) {
    this.#options = options;
    this.#hasAnswer = hasAnswer;
  }

  of(archive: Archive, name: Endpoint): AskedEndpoint {
    const { href, host, origin } = urlOf(archive, name);
    const known = this.#endpoints.get(href);
    if (known !== undefined) return known;
    const limits = this.#hosts.get(host) ?? new Limits(this.#allowed(archive, name));
    const endpoint = { limits, origin, breaker: this.#newBreaker(archive, name) };
    this.#hosts.set(host, limits);
    this.#endpoints.set(href, endpoint);
    return endpoint;
  }

  /** Whether an origin belongs to a listed archive. */
  isListed(origin: string): boolean {
    return [...this.#endpoints.values()].some((endpoint) => endpoint.origin === origin);
  }

  isDormant(archive: Archive, name: Endpoint): boolean {
    if (addressOf(archive, name) === undefined) return false;
    return this.of(archive, name).breaker.isOpen;
  }

  stateOf(archive: Archive): UpstreamState {
    const endpoints = endpointsOf(archive).map((name) => this.of(archive, name));
    const [{ limits }] = endpoints;
    return {
      ...endpoints.map(({ breaker }) => breaker.state).reduce(worseOf),
      requestsUnderWay: limits.inFlight,
      requestsWaiting: limits.waiting,
    };
  }

  /** Replaces the list of archives. Endpoints and hosts keep their state by address. */
  replaceArchives(archives: readonly Archive[]): void {
    const [endpoints, hosts] = [this.#endpoints, this.#hosts];
    this.#endpoints = new Map();
    this.#hosts = new Map();
    /** Entries with the same host get the lowest of their limits. */
    const lowest = new Map<string, HostLimits>();
    for (const archive of archives) {
      for (const name of endpointsOf(archive)) {
        const { href, host } = urlOf(archive, name);
        const [a, b] = [this.#allowed(archive, name), lowest.get(host)];
        const concurrency = Math.min(a.concurrency, b?.concurrency ?? Infinity);
        const rate = Math.min(a.rate, b?.rate ?? Infinity);
        lowest.set(host, { concurrency, rate });
        this.#hosts.set(host, hosts.get(host) ?? this.#hosts.get(host) ?? new Limits(a));
        const { breaker } = endpoints.get(href) ?? this.of(archive, name);
        this.#endpoints.set(href, { ...this.of(archive, name), breaker });
      }
    }
    for (const [host, limits] of lowest) this.#hosts.get(host)?.change(limits);
  }

  /** Rejects queued requests. */
  refuseAll(error: MementoMapError): void {
    for (const limits of this.#hosts.values()) limits.refuseAll(error);
  }

  #newBreaker(archive: Archive, name: Endpoint): Breaker {
    const { tolerance = 5, longestDormantMs = 15 * 60_000, now, onChange } = this.#options;
    return new Breaker({
      tolerance,
      longestMs: longestDormantMs,
      now: now ?? (() => performance.now()),
      confirm: (uri) => this.#hasAnswer(archive, name, uri),
      onChange: (state) => onChange?.(archive, state, name),
    });
  }

  #allowed(archive: Archive, name: Endpoint): HostLimits {
    const { share = 1 } = this.#options;
    const { hostname } = urlOf(archive, name);
    const isOwn = privateHost(hostname) !== undefined || hostname === "localhost";
    const { concurrency = isOwn ? OWN_HOST : PUBLIC_HOST, rate = Infinity } = archive;
    return { concurrency: Math.max(1, Math.floor(concurrency * share)), rate: rate * share };
  }
}

function urlOf(archive: Archive, endpoint: Endpoint): URL {
  return new URL(addressOf(archive, endpoint) ?? "");
}

function endpointsOf(archive: Archive): Endpoint[] {
  return ENDPOINTS.filter((endpoint) => addressOf(archive, endpoint) !== undefined);
}

function worseOf(a: EndpointState, b: EndpointState): EndpointState {
  if (a.health === "awake" && b.health === "awake") {
    return b.consecutiveFailures > a.consecutiveFailures ? b : a;
  }
  return (b.dormantUntil ?? 0) > (a.dormantUntil ?? 0) ? b : a;
}
