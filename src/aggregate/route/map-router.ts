import { LRUCache } from "lru-cache";
import type { Archive } from "./archive.ts";
import {
  type Decision,
  isSample,
  type Router,
  type RouteReason,
  type RouteRequest,
} from "./decision.ts";
import {
  answerOf,
  areApart,
  type Estimate,
  estimate,
  knowsAbsence,
  knowsNothingOf,
  mayHoldYearOf,
  type RoutedMap,
} from "./routed-map.ts";
import { looksLikePageRequisite, pageOfReferer } from "./referer.ts";
import type { Answer } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { hasQuery, uriKey } from "../../surt/key.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { chanceOf } from "../learn/model.ts";
import type { LearntDecision, Learner } from "../learn/learner.ts";
import type { MapWord } from "../learn/map-trust.ts";

export interface MapRouterOptions {
  /** Whether to query every selected archive regardless of maps; default false. */
  readonly isBroadcasting?: boolean | undefined;
  /** Whether an archive is dormant; default: none is. */
  readonly isDormant?: ((archive: Archive, request: RouteRequest) => boolean) | undefined;
  /**
   * The fraction of archives, from 0 to 1, that are queried although their map does not have the URI, to
   * measure how often maps are wrong; default 0.01.
   */
  readonly sampleShare?: number | undefined;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Decides by earlier answers where maps cannot; default: every such archive is queried. */
  readonly learner?: Learner | undefined;
}

/** The fraction of archives holding a page that also hold its requisites missing from their map. */
const LIKELIHOOD_BY_REFERER = 0.5;

/** The hit rate in three years of MemGator's requests to 14 archives (the paper's table). */
const LIKELIHOOD_WITHOUT_MAP = 0.0544;

/** Number of pages for which the archives that answered are remembered; a few hundred bytes each. */
const REMEMBERED_PAGES = 10_000;
/** Longer keys are not remembered, so that clients cannot fill the memory. */
const MAX_PAGE_LENGTH = 1024;

/** State shared by the decisions of one lookup. */
interface RoutedLookup {
  readonly request: RouteRequest;
  /** The SURT of the URI, with its query. */
  readonly surt: string;
  readonly isBroadcast: boolean;
  /** Whether answers teach about more than this original. */
  readonly isTeaching: boolean;
  readonly learner: Learner | undefined;
}

/** A decision that the router still updates; at first, to skip the archive. */
class MapDecision implements Decision {
  readonly archive: Archive;
  readonly lookup: RoutedLookup;
  isAsked = false;
  reason: RouteReason = "not-selected";
  likelihood = 0;
  key: string | undefined;
  frequency: string | undefined;
  /** Rank of the archive: the likelihood, and for a requested datetime, nearness in time. */
  usefulness = 0;
  /** Expected number of mementos. */
  mementos = 0;
  /** The learner's decision, if it decided. */
  learnt: LearntDecision | undefined;
  /** The verdict of the archive's map, if it is trusted. */
  map: MapWord | undefined;

  constructor(archive: Archive, lookup: RoutedLookup) {
    this.archive = archive;
    this.lookup = lookup;
  }

  /** Formatted on demand. */
  get why(): string | undefined {
    if (this.learnt === undefined) return undefined;
    const { learner, surt: original } = this.lookup;
    const number = learner?.numberOf(this.archive.id) ?? -1;
    if (learner === undefined || number < 0) return "the archive is no longer listed";
    learner.look(original);
    return learner.explain(number);
  }

  ask(reason: RouteReason, likelihood: number): void {
    this.isAsked = true;
    this.reason = reason;
    this.likelihood = likelihood;
    this.usefulness = likelihood;
  }

  skip(reason: RouteReason): void {
    this.isAsked = false;
    this.reason = reason;
  }

  toJSON(): Decision {
    const { archive, isAsked, reason, likelihood, key, frequency, why } = this;
    return { archive, isAsked, reason, likelihood, key, frequency, why };
  }
}

/**
 * Selects archives by their maps.
 *
 * The first match decides: the request excludes the archive; it is dormant; it holds nothing from the
 * requested time; its map has the URI or lacks it; it has no map. If the map lacks the URI, the archive
 * is still queried if it has the page that embeds it, or as a random sample. Finally the least likely
 * archives are dropped if the request limits them.
 *
 * Holds the maps, and what was learnt about archives and pages.
 */
export class MapRouter implements Router {
  readonly #options: MapRouterOptions;
  #archives: readonly Archive[];
  /** Archives that answered for a page, by its key. */
  readonly #answered = new LRUCache<string, readonly string[]>({ max: REMEMBERED_PAGES });
  #maps: ReadonlyMap<string, RoutedMap> = new Map();

  constructor(archives: readonly Archive[], options: MapRouterOptions = {}) {
    this.#archives = archives;
    this.#options = options;
  }

  /** Changes with `replaceMaps`; learnt data of an archive is kept by its id. */
  get archives(): readonly Archive[] {
    return this.#archives;
  }

  /** Replaces all maps, by the ids of archives; optionally also the list of archives. */
  replaceMaps(
    maps: ReadonlyMap<string, RoutedMap>,
    archives: readonly Archive[] = this.#archives,
  ): void {
    this.#archives = archives;
    this.#maps = maps;
    for (const { id } of archives) this.#options.learner?.maps.use(id, versionOf(maps.get(id)));
  }

  /**
   * Reports the result of a query: whether the archive had mementos.
   *
   * Also accepts decisions of other routers, for archives that this one knows.
   */
  learn(decision: Decision, uri: string, isHit: boolean, mementos: number = isHit ? 1 : 0): void {
    if (decision instanceof MapDecision) this.#teach(decision, isHit ? Math.max(1, mementos) : 0);
    if (!isHit || looksLikePageRequisite(uri)) return;
    const page = uriKey(uri);
    if (page.length > MAX_PAGE_LENGTH) return;
    const known = this.#answered.get(page) ?? [];
    const { id } = decision.archive;
    this.#answered.set(page, known.includes(id) ? known : [...known, id]);
  }

  /** Also learns from queries that were made for other reasons. */
  #teach({ archive, learnt, reason, map, lookup }: MapDecision, mementos: number): void {
    const { learner, sampleShare = 0.01 } = this.#options;
    // With a learner, only a client's request makes a broadcast.
    if (learner === undefined || reason === "broadcast") return;
    const { surt: original, isTeaching } = lookup;
    const told = { archive: archive.id, surt: original, mementos, isTeaching, map };
    const propensity = reason === "sampled" ? sampleShare : 1;
    learner.observe({ propensity, isAside: true, ...learnt, ...told });
  }

  route(request: RouteRequest): readonly Decision[] {
    const lookup = this.#lookup(request);
    const decisions = this.#archives.map((archive) => {
      const decision = new MapDecision(archive, lookup);
      this.#decide(decision);
      return decision;
    });
    if (!lookup.isBroadcast) this.#askMore(decisions, request);
    return applyLimits(decisions, request);
  }

  #lookup(request: RouteRequest): RoutedLookup {
    const { isBroadcasting, learner } = this.#options;
    const isBroadcast = isBroadcasting === true || request.isBroadcast === true;
    const lookup = { request, surt: surt(request.uri), isBroadcast, isTeaching: true, learner };
    if (isBroadcast || learner === undefined) return lookup;
    learner.look(lookup.surt);
    const mayTeach = request.isPreview !== true && request.isForced !== true;
    return { ...lookup, isTeaching: mayTeach && learner.begin(request.network) };
  }

  #decide(decision: MapDecision): void {
    const { archive, lookup } = decision;
    const { isDormant } = this.#options;
    const { request, isBroadcast } = lookup;
    if (isLeftOut(archive, request)) return;
    if (isDormant?.(archive, request) === true) {
      decision.reason = "dormant";
    } else if (areApart(archive, request)) {
      decision.reason = "out-of-range";
    } else if (isBroadcast) {
      askWithoutMap(decision, "broadcast");
      // As in MemGator, archives without a probability rank last.
      decision.usefulness = archive.probability ?? 0;
    } else {
      const map = this.#maps.get(archive.id);
      const isContradicted = this.#options.learner?.maps.staleOf(archive.id) !== undefined;
      if (map === undefined) this.#decideWithoutMap(decision, "no-map");
      else if (isContradicted) this.#decideWithoutMap(decision, "old-map");
      else this.#decideByMap(decision, map);
    }
  }

  #decideByMap(decision: MapDecision, map: RoutedMap): void {
    const answer = answerOf(map, decision.lookup.surt);
    const { key, frequency, present } = answer;
    const isStated = key !== undefined;
    decision.key = key;
    decision.frequency = frequency;
    decision.reason = "not-in-map";
    if (present) this.#decideByKey(decision, map, answer);
    else if (this.#isTooOld(map)) this.#decideWithoutMap(decision, "old-map");
    else if (!knowsAbsence(map, isStated)) this.#decideWithoutMap(decision, "no-map");
    else decision.map = "absent";
  }

  #decideByKey(decision: MapDecision, map: RoutedMap, answer: Answer): void {
    const { archive, lookup } = decision;
    const { datetime } = lookup.request;
    const isText = map.index instanceof MemoryIndex;
    const isOwnKey = answer.distance === 0 && (!hasQuery(lookup.surt) || map.index.hasQueries);
    // Packed maps have false positives, so no key counts as listed.
    if (!this.#isTooOld(map)) decision.map = isOwnKey && isText ? "listed" : "covered";
    if (knowsNothingOf(map, lookup.surt, lookup.request)) {
      decision.reason = "out-of-range";
      return;
    }
    const { likelihood, mementos } = estimateOf(answer, isText);
    decision.mementos = mementos;
    // A wildcard, or a page with any query, also covers URIs that are not held: earlier answers are more accurate.
    if (!isOwnKey && this.#decideByLearnt(decision, likelihood)) {
      if (decision.reason === "likely") decision.reason = "in-map";
      return;
    }
    decision.ask("in-map", likelihood);
    if (datetime !== undefined && !mayHoldYearOf(datetime, archive, map, lookup.surt)) {
      // The closest memento may be from another year; it is only less likely to be the closest of all.
      decision.usefulness /= 2;
    }
  }

  #decideWithoutMap(decision: MapDecision, reason: "no-map" | "old-map"): void {
    if (!this.#decideByLearnt(decision)) askWithoutMap(decision, reason);
  }

  /** Whether the learner decides; it does not for archives that it does not know. */
  #decideByLearnt(decision: MapDecision, mapLikelihood?: number): boolean {
    const { learner } = this.#options;
    const number = learner?.numberOf(decision.archive.id) ?? -1;
    if (learner === undefined || number < 0) return false;
    const learnt = decision.lookup.isTeaching
      ? learner.decide(number, mapLikelihood)
      : learner.preview(number, mapLikelihood);
    const { isAsked, isAside, propensity, logit } = learnt;
    const reason = isAside ? "to-learn" : propensity < 1 ? "explored" : "likely";
    decision.learnt = learnt;
    decision.ask(reason, chanceOf(logit));
    if (!isAsked) decision.skip("unlikely");
    return true;
  }

  /** Whether a map is too old to be trusted about absence. */
  #isTooOld({ staleAt }: RoutedMap): boolean {
    return staleAt !== undefined && (this.#options.now ?? Date.now)() >= staleAt;
  }

  /** Queries archives whose map lacks the URI: because they have the page that embeds it, or as a sample. */
  #askMore(decisions: readonly MapDecision[], { uri, referer }: RouteRequest): void {
    if (referer !== undefined && looksLikePageRequisite(uri)) {
      const page = pageOfReferer(referer);
      if (page !== undefined) this.#askHoldersOf(page, decisions);
    }
    const { sampleShare = 0.01, random = Math.random } = this.#options;
    for (const decision of decisions) {
      if (decision.reason === "not-in-map" && random() < sampleShare) decision.ask("sampled", 0);
    }
  }

  #askHoldersOf(page: string, decisions: readonly MapDecision[]): void {
    const original = surt(page);
    const answered = this.#answered.get(uriKey(page)) ?? [];
    for (const decision of decisions) {
      if (decision.reason !== "not-in-map") continue;
      const { id } = decision.archive;
      const map = this.#maps.get(id);
      const isInMap = map !== undefined && answerOf(map, original).present;
      if (isInMap || answered.includes(id)) decision.ask("referer", LIKELIHOOD_BY_REFERER);
    }
  }
}

function askWithoutMap(decision: MapDecision, reason: RouteReason): void {
  decision.ask(reason, decision.archive.probability ?? LIKELIHOOD_WITHOUT_MAP);
}

/** Packed maps do not state frequencies. */
function estimateOf({ frequency = "", distance = 0 }: Answer, isText: boolean): Estimate {
  return estimate(isText ? frequency : distance === 0 ? PACKED_FREQUENCY : "", distance);
}

/** The average of a page, where the map does not state it. */
const PACKED_FREQUENCY = "3";

/** Identifies a version of a map, also after a restart. */
function versionOf(map: RoutedMap | undefined): string | undefined {
  if (map === undefined) return undefined;
  const { updatedAt = 0, index } = map;
  return `${updatedAt} ${index.size} ${index.keyCount}`;
}

function isLeftOut({ id }: Archive, { only, except }: RouteRequest): boolean {
  return (only !== undefined && !only.includes(id)) || except?.includes(id) === true;
}

/** Drops archives below the minimum likelihood and beyond the top k; sorts by usefulness. */
function applyLimits(decisions: MapDecision[], request: RouteRequest): MapDecision[] {
  const { minLikelihood = 0, topK = Number.POSITIVE_INFINITY } = request;
  for (const decision of decisions) {
    if (decision.isAsked && decision.likelihood < minLikelihood) leaveOut(decision, "improbable");
  }
  decisions.sort(
    (a, b) =>
      Number(b.isAsked) - Number(a.isAsked) ||
      b.usefulness - a.usefulness ||
      b.mementos - a.mementos,
  );
  for (const [place, decision] of decisions.entries()) {
    if (decision.isAsked && place >= topK) leaveOut(decision, "beyond-top-k");
  }
  return decisions;
}

/** A sampled archive gets back the reason it had before. */
function leaveOut(decision: MapDecision, reason: RouteReason): void {
  const spared = { sampled: "not-in-map", explored: "unlikely" } as const;
  decision.skip(isSample(decision) ? spared[decision.reason as keyof typeof spared] : reason);
}
