import { MementoMapError } from "../../errors.ts";
import { privateHost } from "../../http/private-address.ts";
import type { Archive } from "../route/archive.ts";
import { Breaker } from "./breaker.ts";
import { type HostLimits, Limits } from "./limits.ts";
import type { Endpoint, EndpointState, UpstreamState } from "./state.ts";

/** How much archives are asked, and when they are left out. Every member may be left out. */
export interface EndpointOptions {
  /** The part of the limits of hosts that this process has: 1/4 where four ask the same archives. Default 1. */
  readonly share?: number | undefined;
  /** Failures in a row after which an endpoint is left out; default 5, Infinity for never. */
  readonly tolerance?: number | undefined;
  /** How long it is left out at most: a minute at first, doubled each time. Default 15 min. */
  readonly longestDormantMs?: number | undefined;
  /** Told when an endpoint of an archive is left out, is probed, or is back. Must not throw. */
  readonly onChange?:
    | ((archive: Archive, state: EndpointState, endpoint: Endpoint) => void)
    | undefined;
  /** Milliseconds that only go up, for the circuit breaker; default a clock that nobody can set. */
  readonly now?: (() => number) | undefined;
}

/** One endpoint of an archive: whether it works, and how much its host is asked. */
export interface AskedEndpoint {
  readonly breaker: Breaker;
  /** Endpoints of one host share them. */
  readonly limits: Limits;
  readonly origin: string;
}

/** Requests at once to a host of the Internet: some firewalls object to 20 connections. */
const PUBLIC_HOST = 16;
/** And to one of this network, which is the operator's own. */
const OWN_HOST = 256;
const ENDPOINTS = ["timemap", "timegate"] as const satisfies readonly Endpoint[];

/** Where an archive is asked; all mementos come from a CDX server where it has no TimeMap. */
export function addressOf(archive: Archive, endpoint: Endpoint): string | undefined {
  return endpoint === "timegate" ? archive.timegate : (archive.timemap ?? archive.cdx);
}

/** The endpoints of archives by their addresses, and the limits of their hosts. */
export class Endpoints {
  readonly #options: EndpointOptions;
  #endpoints = new Map<string, AskedEndpoint>();
  /** By host and port. */
  #hosts = new Map<string, Limits>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  of(archive: Archive, endpoint: Endpoint): AskedEndpoint {
    const known = this.#endpoints.get(addressOf(archive, endpoint) ?? "");
    return known ?? this.#add(archive, endpoint);
  }

  /** Whether an origin is one of an archive, which the operator named. */
  isListed(origin: string): boolean {
    for (const endpoint of this.#endpoints.values()) if (endpoint.origin === origin) return true;
    return false;
  }

  isDormant(archive: Archive, endpoint: Endpoint): boolean {
    return this.#endpoints.get(addressOf(archive, endpoint) ?? "")?.breaker.isOpen === true;
  }

  stateOf(archive: Archive): UpstreamState {
    const asked = endpointsOf(archive).map((endpoint) => this.of(archive, endpoint));
    const [{ limits }] = asked;
    return {
      ...asked.map(({ breaker }) => breaker.state).reduce(worseOf),
      requestsUnderWay: limits.inFlight,
      requestsWaiting: limits.waiting,
    };
  }

  /** Goes by another list of archives: what is known of an endpoint, and of a host, goes by its address. */
  replaceArchives(archives: readonly Archive[]): void {
    const before = this.#endpoints;
    const asked = archives.flatMap((archive) =>
      endpointsOf(archive).map((endpoint) => ({ archive, endpoint })),
    );
    // Of entries with the same host the lowest limits hold.
    const allowed = new Map<string, HostLimits>();
    for (const { archive, endpoint } of asked) {
      const { host } = urlOf(archive, endpoint);
      const [a, b] = [this.#allowed(archive, endpoint), allowed.get(host)];
      const { concurrency, rate } = b ?? a;
      allowed.set(host, {
        concurrency: Math.min(a.concurrency, concurrency),
        rate: Math.min(a.rate, rate),
      });
    }
    const hosts = [...allowed].map(([host, limits]): [string, Limits] => {
      const known = this.#hosts.get(host) ?? new Limits(limits);
      known.change(limits);
      return [host, known];
    });
    this.#hosts = new Map(hosts);
    this.#endpoints = new Map();
    for (const { archive, endpoint } of asked) {
      this.#add(archive, endpoint, before.get(addressOf(archive, endpoint) ?? "")?.breaker);
    }
  }

  /** Refuses what waits. */
  refuseAll(error: MementoMapError): void {
    for (const limits of this.#hosts.values()) limits.refuseAll(error);
  }

  #add(archive: Archive, endpoint: Endpoint, breaker?: Breaker): AskedEndpoint {
    const { host, origin } = urlOf(archive, endpoint);
    const limits = this.#hosts.get(host) ?? new Limits(this.#allowed(archive, endpoint));
    this.#hosts.set(host, limits);
    const asked = { limits, origin, breaker: breaker ?? this.#newBreaker(archive, endpoint) };
    this.#endpoints.set(addressOf(archive, endpoint) ?? "", asked);
    return asked;
  }

  #newBreaker(archive: Archive, endpoint: Endpoint): Breaker {
    const { tolerance = 5, longestDormantMs = 15 * 60_000, now, onChange } = this.#options;
    return new Breaker({
      tolerance,
      longestMs: longestDormantMs,
      now: now ?? (() => performance.now()),
      onChange: (state) => onChange?.(archive, state, endpoint),
    });
  }

  #allowed(archive: Archive, endpoint: Endpoint): HostLimits {
    const { share = 1 } = this.#options;
    const { hostname } = urlOf(archive, endpoint);
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
