import type { Archive } from "./archive.ts";

/** Why an archive is asked, or is not. Stable words: clients and logs use them. */
export type RouteReason =
  /** Its map has the URI. */
  | "in-map"
  /** Nothing is known about what it holds. */
  | "no-map"
  /** Its map does not have the URI, and is too old to be believed. */
  | "old-map"
  /** It holds, or answered for, the page that embeds this resource. */
  | "referer"
  /** Its map does not have the URI; it is asked all the same, to learn how often maps are wrong. */
  | "sampled"
  /** What it answered before makes it likely enough to have it. */
  | "likely"
  /** It is asked for what its answer teaches about a host or folder that is often asked for. */
  | "to-learn"
  /** It is unlikely to have it, and is queried to measure how many hits are missed. */
  | "explored"
  /** Routing is off. */
  | "broadcast"
  /** Its map does not have the URI. */
  | "not-in-map"
  /** What it answered before makes it unlikely to have it. */
  | "unlikely"
  /** It holds nothing of the time that was asked for. */
  | "out-of-range"
  /** Enough archives that are likelier to have it are asked. */
  | "beyond-top-k"
  /** It is less likely than asked for to have it. */
  | "improbable"
  /** The request named other archives. */
  | "not-selected"
  /** It failed too often: its circuit breaker is open. */
  | "dormant";

/** The decision about one archive, for one request. */
export interface Decision {
  readonly archive: Archive;
  readonly isAsked: boolean;
  readonly reason: RouteReason;
  /**
   * How likely it is, from 0 to 1, that the archive has a memento; what archives are ranked by. Where
   * a moment was asked for, it counts half for those that have nothing of its year.
   */
  readonly likelihood: number;
  /** The key of its map that decided, if one did. */
  readonly key?: string | undefined;
  /** How often that key was captured, as the map writes it. */
  readonly frequency?: string | undefined;
  /** What was learnt that decided: `0 of 312 lookups under org,example found anything`. */
  readonly why?: string | undefined;
}

/** Whether the answer to a client does not wait for an archive: it is asked only to learn. */
export function isSample({ reason }: Decision): boolean {
  return reason === "sampled" || reason === "explored";
}

/** A request to a router. */
export interface RouteRequest {
  /** The original URI, as sent. */
  readonly uri: string;
  /** The moment a TimeGate is asked for, fourteen digits as a number. */
  readonly datetime?: number | undefined;
  /** Only mementos of this time are wanted, fourteen digits as numbers; both ends included. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Ask at most this many archives. */
  readonly topK?: number | undefined;
  /** Ask only archives that are at least so likely to have it, from 0 to 1. */
  readonly minLikelihood?: number | undefined;
  /** Ids of archives to ask, or to leave out; default all. */
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** Whether every archive is to be asked, whatever maps say; default false. */
  readonly isBroadcast?: boolean | undefined;
  /** The page that embeds this resource, from the `Referer` header, as sent. */
  readonly referer?: string | undefined;
  /** No archive will be asked: somebody wants to know which would be. */
  readonly isPreview?: boolean | undefined;
  /** The network of the client, which may teach only so much; undefined for the operator's own. */
  readonly network?: string | undefined;
  /** Whether the client forces requests to archives, from which nothing is learnt; default false. */
  readonly isForced?: boolean | undefined;
}

/** Decides which archives are asked. Synchronous: it stands in the way of every request. */
export interface Router {
  readonly archives: readonly Archive[];
  /** One decision for every archive: those asked first, the most useful first. */
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
    // Only where what was learnt decided.
    ...(why === undefined ? {} : { why }),
  };
}
