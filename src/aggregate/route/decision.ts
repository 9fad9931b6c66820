import type { Archive } from "./archive.ts";

/** Why an archive is queried or skipped. Stable words: clients and logs use them. */
export type RouteReason =
  /** Its map has the URI. */
  | "in-map"
  /** There is no usable map. */
  | "no-map"
  /** Its map does not have the URI, but is too old to be trusted. */
  | "old-map"
  /** It holds the page that embeds this resource, or answered for it. */
  | "referer"
  /** Its map does not have the URI; it is queried anyway, to measure how often maps are wrong. */
  | "sampled"
  /** Likely to have it, according to earlier answers. */
  | "likely"
  /** It is queried to learn about a host or folder with many lookups. */
  | "to-learn"
  /** Unlikely to have it; queried to measure how many hits are missed. */
  | "explored"
  /** Routing is off. */
  | "broadcast"
  /** Its map does not have the URI. */
  | "not-in-map"
  /** Unlikely to have it, according to earlier answers. */
  | "unlikely"
  /** It holds nothing from the requested time. */
  | "out-of-range"
  /** Enough likelier archives are queried. */
  | "beyond-top-k"
  /** Below the minimum likelihood of the request. */
  | "improbable"
  /** The request selected other archives. */
  | "not-selected"
  /** Its circuit breaker is open. */
  | "dormant";

/** The decision about one archive for one request. */
export interface Decision {
  readonly archive: Archive;
  readonly isAsked: boolean;
  readonly reason: RouteReason;
  /**
   * The probability, from 0 to 1, that the archive has a memento; archives are ranked by it. If a
   * datetime was requested, it counts half for archives without mementos of that year.
   */
  readonly likelihood: number;
  /** The key of its map that decided, if any. */
  readonly key?: string | undefined;
  /** Captures of that key, as the map writes them. */
  readonly frequency?: string | undefined;
  /** The learnt reason, if it decided: `0 of 312 lookups under org,example found anything`. */
  readonly why?: string | undefined;
}

/** Whether an archive is queried only to measure or explore; responses to clients do not wait for it. */
export function isSample({ reason }: Decision): boolean {
  return reason === "sampled" || reason === "explored";
}

/** A request to a router. */
export interface RouteRequest {
  /** The original URI, as sent. */
  readonly uri: string;
  /** The datetime requested from a TimeGate, fourteen digits as a number. */
  readonly datetime?: number | undefined;
  /** The period of the requested mementos, fourteen digits as numbers; both ends included. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Query at most this many archives. */
  readonly topK?: number | undefined;
  /** Query only archives with at least this likelihood, from 0 to 1. */
  readonly minLikelihood?: number | undefined;
  /** Ids of archives to query, or to leave out; default all. */
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** Whether to query every archive regardless of maps; default false. */
  readonly isBroadcast?: boolean | undefined;
  /** The page that embeds this resource, from the `Referer` header, as sent. */
  readonly referer?: string | undefined;
  /** Whether only the decisions are requested, without queries to archives; default false. */
  readonly isPreview?: boolean | undefined;
  /** Network of the client, to bound what it can teach; undefined for the operator's own. */
  readonly network?: string | undefined;
  /** Whether the client forces requests to archives, from which nothing is learnt; default false. */
  readonly isForced?: boolean | undefined;
}

/** Decides which archives are queried. Synchronous: every request passes through it. */
export interface Router {
  readonly archives: readonly Archive[];
  /** One decision per archive: queried ones first, the most useful first. */
  route(request: RouteRequest): readonly Decision[];
}

/** A decision as JSON: unknown values are null, likelihoods have four digits. */
export function decisionJson(decision: Decision): Readonly<Record<string, unknown>> {
  const { archive, isAsked, reason, likelihood, key = null, frequency = null, why } = decision;
  return {
    id: archive.id,
    name: archive.name,
    asked: isAsked,
    reason,
    likelihood: Math.round(likelihood * 1e4) / 1e4,
    key,
    frequency,
    // Only if earlier answers decided.
    ...(why === undefined ? {} : { why }),
  };
}
