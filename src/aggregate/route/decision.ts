import type { Archive } from "./archive.ts";
import type { Answer } from "../../lookup/map-lookup.ts";
import type { LearntDecision } from "../learn/learner.ts";
import type { MapWord } from "../learn/map-trust.ts";
import type { RoutedLookup } from "./routed-lookup.ts";

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
  /** It is unlikely to have it; it is asked all the same, to measure what is missed. */
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
  /** What was learnt that decided: `0 of 312 lookups under org,example found anything`. */
  readonly why?: string | undefined;
}

/** Whether the answer to a client does not wait for an archive: it is asked only to learn. */
export function isSample({ reason }: Decision): boolean {
  return reason === "sampled" || reason === "explored";
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
  /** Ask at most this many archives. */
  readonly topK?: number | undefined;
  /** Ask only archives that are at least so likely to have it, from 0 to 1. */
  readonly minLikelihood?: number | undefined;
  /** Ids of archives to ask, or to leave out; default all. */
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
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

/** A decision as it is told to programs; what is not known is null. */
interface DecisionJson {
  readonly id: string;
  readonly name: string;
  readonly asked: boolean;
  readonly reason: string;
  /** With four digits behind the point. */
  readonly likelihood: number;
  readonly key: string | null;
  readonly frequency: string | null;
  /** Where what was learnt decided, and only there. */
  readonly why?: string;
}

export function decisionJson({
  archive,
  isAsked,
  reason,
  likelihood,
  key,
  frequency,
  why,
}: Decision): DecisionJson {
  return {
    id: archive.id,
    name: archive.name,
    asked: isAsked,
    reason,
    likelihood: Math.round(likelihood * 1e4) / 1e4,
    key: key ?? null,
    frequency: frequency ?? null,
    ...(why === undefined ? {} : { why }),
  };
}

/** What a map says of the key that decided. */
export type DecidingKey = Pick<Answer, "key" | "frequency">;

/**
 * A decision in the making: the router changes its mind as it learns more.
 *
 * Key and frequency stay in the map until somebody wants to see them.
 */
export class MapDecision implements Decision {
  readonly archive: Archive;
  isAsked = false;
  reason: RouteReason;
  likelihood = 0;
  /** What archives are ranked by: the likelihood, and for a moment asked for, nearness in time. */
  usefulness = 0;
  /** How many mementos the archive will have, on average. */
  mementos = 0;
  /** What was decided by what was learnt. */
  learnt: LearntDecision | undefined;
  /** The lookup that it is a part of. */
  readonly lookup: RoutedLookup;
  #rate: HitRate | undefined;
  #deciding: (() => DecidingKey) | undefined;
  /** What the map of the archive says, where it has one that is believed. */
  map: MapWord | undefined;

  /** Not to ask an archive, at first. */
  constructor(archive: Archive, reason: RouteReason, lookup: RoutedLookup) {
    this.archive = archive;
    this.reason = reason;
    this.lookup = lookup;
  }

  get key(): string | undefined {
    return this.#deciding?.().key;
  }

  get frequency(): string | undefined {
    return this.#deciding?.().frequency;
  }

  get why(): string | undefined {
    return this.learnt === undefined ? undefined : this.lookup.explain(this.archive);
  }

  /** Asks the archive, or does not, by what was learnt. */
  decideByLearnt(learnt: LearntDecision, chance: number): this {
    const { isAsked, isAside, propensity } = learnt;
    this.learnt = learnt;
    this.isAsked = isAsked;
    this.likelihood = chance;
    this.usefulness = chance;
    if (!isAsked) this.reason = "unlikely";
    else this.reason = isAside ? "to-learn" : propensity < 1 ? "explored" : "likely";
    return this;
  }

  /** Names the key that decided, when it is asked for. */
  decidedBy(deciding: () => DecidingKey): void {
    this.#deciding = deciding;
  }

  /** Asks the archive, which is so likely to have it as far as others than its answers tell. */
  ask(reason: RouteReason, estimate: number, rate?: HitRate): this {
    this.isAsked = true;
    this.reason = reason;
    this.likelihood = rate === undefined ? estimate : rate.likelihood(estimate);
    this.usefulness = this.likelihood;
    this.#rate = rate;
    return this;
  }

  skip(reason: RouteReason): void {
    this.isAsked = false;
    this.reason = reason;
  }

  /** The archive was asked, and had mementos or had none. */
  learn(isHit: boolean): void {
    this.#rate?.note(isHit);
  }

  toJSON(): Decision {
    const { archive, isAsked, reason, likelihood, key, frequency, why } = this;
    return {
      archive,
      isAsked,
      reason,
      likelihood,
      key,
      frequency,
      ...(why === undefined ? {} : { why }),
    };
  }
}

/**
 * Sorts decisions: those asked first; the most useful first; where that is the same, as in the list of archives.
 *
 * By insertion: there are a dozen, and `sort` allocates.
 */
export function sortDecisions(decisions: MapDecision[]): void {
  for (let end = 1; end < decisions.length; end++) {
    const decision = decisions[end];
    let place = end;
    for (; place > 0 && compareDecisions(decision, decisions[place - 1]) < 0; place--) {
      decisions[place] = decisions[place - 1];
    }
    decisions[place] = decision;
  }
}

function compareDecisions(a: MapDecision, b: MapDecision): number {
  if (a.isAsked !== b.isAsked) return a.isAsked ? -1 : 1;
  return b.usefulness - a.usefulness || b.mementos - a.mementos;
}

/** As many answers as what was thought before counts for. */
const PRIOR_WEIGHT = 20;

/** After this many answers, older ones begin to count for less: what archives hold changes. */
const MEMORY = 10_000;

/** How often an archive had what it was asked for, for reasons of one kind. */
export class HitRate {
  #asked = 0;
  #hits = 0;

  note(isHit: boolean): void {
    this.#asked += 1;
    if (isHit) this.#hits += 1;
    if (this.#asked < MEMORY) return;
    this.#asked /= 2;
    this.#hits /= 2;
  }

  /** How likely the next request finds something, if `prior` is what one would think without any. */
  likelihood(prior: number): number {
    return (this.#hits + PRIOR_WEIGHT * prior) / (this.#asked + PRIOR_WEIGHT);
  }
}

const ESTIMATE_CLASSES = 8;

/** How often one archive had what it was asked for. */
export class ArchiveRates {
  /** Asked while nothing was known about what it holds. */
  readonly withoutMap: HitRate = new HitRate();
  /** Asked for a part of a page that it holds. */
  readonly byReferer: HitRate = new HitRate();
  /** Asked because its map has the URI itself. */
  readonly byKey: HitRate = new HitRate();
  readonly #byWildcard = Array.from({ length: ESTIMATE_CLASSES }, () => new HitRate());

  /** Asked because its map has a wildcard, with an estimate below 1 of about this size. */
  byWildcard(estimate: number): HitRate {
    return this.#byWildcard[Math.floor(estimate * ESTIMATE_CLASSES)];
  }
}

/**
 * How often each archive had what it was asked for.
 *
 * What maps and lists say about archives is where likelihoods start from; what the archives answer
 * then corrects it. A few numbers an archive.
 */
export class HitRates {
  readonly #rates = new Map<string, ArchiveRates>();

  of({ id }: Archive): ArchiveRates {
    const known = this.#rates.get(id);
    if (known !== undefined) return known;
    const rates = new ArchiveRates();
    this.#rates.set(id, rates);
    return rates;
  }

  /** Forgets all archives but these. */
  keepOnly(archives: readonly Archive[]): void {
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.#rates.keys()) if (!ids.has(id)) this.#rates.delete(id);
  }
}
