import type { Archive } from "../route/archive.ts";
import type { ArchiveAnswer } from "./answer.ts";

/** Endpoints of RFC 7089. Each may work while the other does not. */
export type Endpoint = "timemap" | "timegate";

/** State of the circuit breaker of an endpoint. */
export interface EndpointState {
  /** `probing`: after a pause, one request tests whether the endpoint is back. */
  readonly health: "awake" | "dormant" | "probing";
  readonly consecutiveFailures: number;
  /** When it will be queried again, in milliseconds since 1970. */
  readonly dormantUntil: number | undefined;
  readonly lastFailure: string | undefined;
}

/** State of an archive: that of its worse endpoint. */
export interface UpstreamState extends EndpointState {
  readonly requestsUnderWay: number;
  readonly requestsWaiting: number;
}

/** `refresh`: bypass the cache, unless the archive was queried within a minute. `only-cached`: do not query it. */
export type HowToAsk = "cached" | "refresh" | "only-cached";

/** Queries archives. Cached answers are returned synchronously; promises never reject. */
export interface Upstream {
  /** All mementos that an archive has of an original. */
  ask(archive: Archive, uri: string, how?: HowToAsk): ArchiveAnswer | Promise<ArchiveAnswer>;
  /** The mementos around a datetime, fourteen digits as a number; or all. */
  askClosest(
    archive: Archive,
    uri: string,
    datetime: number,
    how?: HowToAsk,
  ): ArchiveAnswer | Promise<ArchiveAnswer>;
  stateOf(archive: Archive): UpstreamState;
  /** Whether an existing endpoint is dormant; false if a probe is due. */
  isDormant(archive: Archive, endpoint: Endpoint): boolean;
}
