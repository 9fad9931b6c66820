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
  /** Routing is off. */
  | "broadcast"
  /** Its map does not have the URI. */
  | "not-in-map"
  /** It holds nothing of the time that was asked for. */
  | "out-of-range"
  /** Enough archives that are likelier to have it are asked. */
  | "beyond-top-k"
  /** It is less likely than asked for to have it. */
  | "improbable"
  /** The request named other archives. */
  | "not-selected"
  /** It failed too often and is left alone for a while. */
  | "dormant";

/** What is decided about one archive, for one request. */
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
}

/** What is asked of a router. */
export interface RouteRequest {
  /** The original URI, as sent. */
  readonly uri: string;
  /** The moment a TimeGate is asked for, fourteen digits as a number. */
  readonly datetime?: number | undefined;
  /** Only mementos of this time are wanted, fourteen digits as numbers; both ends included. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Ask at most so many archives. */
  readonly topK?: number | undefined;
  /** Ask only archives that are at least so likely to have it, from 0 to 1. */
  readonly minLikelihood?: number | undefined;
  /** Ids of archives to ask, or to leave out; default all. */
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** The page that embeds this resource, from the `Referer` header, as sent. */
  readonly referer?: string | undefined;
}

/** Decides which archives are asked. Synchronous: it stands in the way of every request. */
export interface Router {
  readonly archives: readonly Archive[];
  /** One decision for every archive: those asked first, the most useful first. */
  route(request: RouteRequest): readonly Decision[];
}
