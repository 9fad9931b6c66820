import type { Archive } from "../route/archive.ts";
import type { ArchiveAnswer } from "./answer.ts";

/** What an archive has of RFC 7089. Each may work while the other does not. */
export type Endpoint = "timemap" | "timegate";

/** Whether an endpoint can be asked now. */
export interface EndpointState {
  /** `probing`: was left out, and one request finds out whether it is back. */
  readonly health: "awake" | "dormant" | "probing";
  readonly consecutiveFailures: number;
  /** When it will be asked again, in milliseconds since 1970. */
  readonly dormantUntil: number | undefined;
  readonly lastFailure: string | undefined;
}

/** Whether an archive can be asked now: its state is that of the endpoint that is worse off. */
export interface UpstreamState extends EndpointState {
  readonly requestsUnderWay: number;
  readonly requestsWaiting: number;
}

/**
 * How to ask. `refresh`: not from the cache, unless the archive was asked within a minute. `only-cached`: not the
 * archive.
 */
export type HowToAsk = "cached" | "refresh" | "only-cached";

/** Asks archives. Answers are given at once where they are known; promises never reject. */
export interface Upstream {
  /** All mementos that an archive has of an original. */
  ask(archive: Archive, uri: string, how?: HowToAsk): ArchiveAnswer | Promise<ArchiveAnswer>;
  /** Those around a moment, fourteen digits as a number; or all. */
  askClosest(
    archive: Archive,
    uri: string,
    datetime: number,
    how?: HowToAsk,
  ): ArchiveAnswer | Promise<ArchiveAnswer>;
  stateOf(archive: Archive): UpstreamState;
  /** Whether an endpoint that the archive has is left out; not when it is time to probe it. */
  isDormant(archive: Archive, endpoint: Endpoint): boolean;
}
