import type { Archive } from "./archive.ts";
import {
  type ArchiveRates,
  type Decision,
  HitRates,
  isSample,
  MapDecision,
  type Router,
  type RouteReason,
  type RouteRequest,
  sortDecisions,
} from "./decision.ts";
import {
  areApart,
  Estimate,
  knowsAbsence,
  knowsNothingOf,
  mayHoldYearOf,
  type RoutedMap,
} from "./routed-map.ts";
import { AnsweredPages, looksLikePageRequisite, pageOfReferer } from "./referer.ts";
import { RoutedLookup } from "./routed-lookup.ts";
import { RoutedMaps } from "./routed-maps.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { chanceOf } from "../learn/model.ts";
import type { Learner } from "../learn/learner.ts";
import { takeLearntMap } from "../learn/shared-map.ts";

export interface MapRouterOptions {
  /** Asks every archive that may be asked, whatever maps say; default false. */
  readonly isBroadcasting?: boolean | undefined;
  /** Whether an archive is dormant; default that none is. */
  readonly isDormant?: ((archive: Archive, request: RouteRequest) => boolean) | undefined;
  /**
   * The share of archives that are asked although their map does not have the URI, from 0 to 1, to
   * learn how often maps are wrong; default 0.01.
   */
  readonly sampleShare?: number | undefined;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** How often archives had what they were asked for; default nothing is known. */
  readonly hitRates?: HitRates | undefined;
  /** Decides where maps do not, by what archives answered; default every such archive is asked. */
  readonly learner?: Learner | undefined;
}

/** The share of archives holding a page that also hold parts of it missing from their map. */
const LIKELIHOOD_BY_REFERER = 0.5;

/** The share of hits in three years of MemGator's requests to 14 archives (the paper's table). */
const LIKELIHOOD_WITHOUT_MAP = 0.0544;

/**
 * Decides by the maps of archives which of them are asked.
 *
 * The key of a URI is made once, and maps are asked one by one. A decision goes by the first that holds: the request leaves the
 * archive out; it is dormant; it holds nothing of the time asked for; its map has the URI or has it
 * not; it has no map. Where the map does not have the URI, the archive is asked all the same if it
 * has the page that embeds it, or by chance, to learn. Of those to be asked the least likely are
 * left out if the request says so.
 *
 * Holds the maps, and what was learnt of archives and pages.
 */
export class MapRouter implements Router {
  readonly #options: MapRouterOptions;
  readonly #hitRates: HitRates;
  #archives: readonly Archive[];
  #rates: readonly ArchiveRates[];
  readonly #answered = new AnsweredPages();
  readonly #estimate = new Estimate();
  #maps = new RoutedMaps();
  /** Counts replacements, so that one which was overtaken does nothing. */
  #replacements = 0;

  constructor(archives: readonly Archive[], options: MapRouterOptions = {}) {
    this.#archives = archives;
    this.#options = options;
    this.#hitRates = options.hitRates ?? new HitRates();
    this.#rates = archives.map((archive) => this.#hitRates.of(archive));
  }

  /** Another list after `replaceMaps` was given one; what is learnt of an archive goes by its id. */
  get archives(): readonly Archive[] {
    return this.#archives;
  }

  /**
   * Takes the maps of archives by their ids, in place of those before; and the archives themselves,
   * where others are given.
   *
   * Requests are routed by the old maps and archives until the new index is ready; `pause` is awaited
   * every few milliseconds of work. Of calls that overlap the last one holds.
   */
  async replaceMaps(
    maps: ReadonlyMap<string, RoutedMap>,
    pause: () => Promise<void>,
    archives: readonly Archive[] = this.#archives,
  ): Promise<void> {
    this.#replacements += 1;
    const replacement = this.#replacements;
    const ordered = archives.map(({ id }) => maps.get(id));
    const routed = new RoutedMaps(ordered);
    await pause();
    if (replacement !== this.#replacements) return;
    this.#archives = archives;
    this.#rates = archives.map((archive) => this.#hitRates.of(archive));
    this.#maps = routed;
    for (const { id } of archives) this.#options.learner?.maps.use(id, versionOf(maps.get(id)));
    this.learnFromMaps();
  }

  /** Has the learner begin with what others learnt, where maps tell that. */
  learnFromMaps(): void {
    const { learner } = this.#options;
    if (learner === undefined) return;
    for (const [number, { id, mementomap: source = "" }] of this.#archives.entries()) {
      const index = this.#maps.of(number)?.index;
      if (index instanceof MemoryIndex) takeLearntMap(learner, id, index, source);
    }
  }

  /**
   * What came of a decision to ask for a URI: whether the archive had mementos.
   *
   * Decisions of other routers are as good, if they are of archives that this one knows.
   */
  learn(decision: Decision, uri: string, isHit: boolean, mementos: number = isHit ? 1 : 0): void {
    const isRouted = decision instanceof MapDecision;
    if (isRouted) {
      decision.learn(isHit);
      this.#teach(decision, isHit ? Math.max(1, mementos) : 0);
    }
    if (!isHit) return;
    const { page } = isRouted ? decision.lookup : new RoutedLookup(uri);
    if (page !== undefined) this.#answered.note(page, decision.archive.id);
  }

  /** What an archive answered for reasons that the learner did not decide says as much of it. */
  #teach({ archive, learnt, reason, map, lookup }: MapDecision, mementos: number): void {
    const { learner, sampleShare = 0.01 } = this.#options;
    // Only a client has every archive queried where there is a learner.
    if (learner === undefined || reason === "broadcast") return;
    const { isTeaching, network } = lookup;
    const propensity = reason === "sampled" ? sampleShare : 1;
    learner.observe({
      archive: archive.id,
      surt: lookup.surt,
      mementos,
      logit: learnt?.logit,
      propensity: learnt?.propensity ?? propensity,
      isAside: learnt?.isAside ?? true,
      isTeaching,
      network,
      mapLikelihood: learnt?.mapLikelihood,
      map,
    });
  }

  route(request: RouteRequest): readonly Decision[] {
    return this.#route(request);
  }

  #route(request: RouteRequest): readonly MapDecision[] {
    const { isBroadcasting = false, learner } = this.#options;
    const { uri, network } = request;
    const lookup = new RoutedLookup(uri, learner, network);
    if (!isBroadcasting) {
      this.#maps.lookUp(uri);
      learner?.look(lookup.surt);
      const mayTeach = request.isPreview !== true && request.isForced !== true;
      lookup.isTeaching = mayTeach && learner?.begin(network) === true;
    }
    const decisions: MapDecision[] = [];
    for (let number = 0; number < this.#archives.length; number++) {
      const decision = new MapDecision(this.#archives[number], "not-selected", lookup);
      this.#decide(decision, number, request);
      decisions.push(decision);
    }
    if (!isBroadcasting) this.#askMore(decisions, request);
    return narrowed(decisions, request);
  }

  #decide(decision: MapDecision, number: number, request: RouteRequest): void {
    const { archive } = decision;
    const { isDormant, isBroadcasting } = this.#options;
    if (isLeftOut(archive, request)) return;
    if (isDormant?.(archive, request) === true) decision.reason = "dormant";
    else if (areApart(archive, request)) decision.reason = "out-of-range";
    else if (isBroadcasting === true) this.#decideToBroadcast(decision, number);
    else this.#decideByMap(decision, number, request);
  }

  #decideToBroadcast(decision: MapDecision, number: number): void {
    this.#askWithoutMap(decision, number);
    decision.reason = "broadcast";
    // As MemGator ranks them: those without a probability last.
    decision.usefulness = decision.archive.probability ?? 0;
  }

  #decideByMap(decision: MapDecision, number: number, request: RouteRequest): void {
    const { archive } = decision;
    const maps = this.#maps;
    const map = maps.of(number);
    if (map === undefined) {
      this.#decideWithoutMap(decision, number);
      return;
    }
    if (this.#options.learner?.maps.staleOf(archive.id) !== undefined) {
      this.#decideWithoutMap(decision, number, "old-map");
      return;
    }
    const isPresent = maps.ask(map);
    const { isStated, distance, isOwnKey } = maps;
    decision.skip("not-in-map");
    if (isStated) decision.decidedBy(maps.deciding(map));
    if (!isPresent) {
      if (this.#isTooOld(map)) this.#decideWithoutMap(decision, number, "old-map");
      else if (!knowsAbsence(map, isStated) || this.#isPrior(archive, map)) {
        this.#decideWithoutMap(decision, number);
      } else decision.map = "absent";
      return;
    }
    // A packed map may be mistaken, so it lists nothing for certain.
    const isListed = isOwnKey && map.index instanceof MemoryIndex;
    if (!this.#isTooOld(map)) decision.map = isListed ? "listed" : "covered";
    const estimate = this.#estimate;
    maps.estimate(map, estimate);
    if (knowsNothingOf(map, maps.surt, request)) {
      decision.reason = "out-of-range";
      return;
    }
    const { likelihood, mementos } = estimate;
    const rates = this.#rates[number];
    decision.mementos = mementos;
    // A wildcard, or a page with any query, covers what is not held, too: what was learnt knows better.
    if (!isOwnKey && this.#decideByLearnt(decision, likelihood)) {
      if (decision.reason === "likely") decision.reason = "in-map";
      return;
    }
    decision.ask("in-map", likelihood, distance === 0 ? rates.byKey : rates.byWildcard(likelihood));
    const { datetime } = request;
    if (datetime !== undefined && !mayHoldYearOf(datetime, archive, map, maps.surt)) {
      // The closest memento may be of another year; it is only less likely to be this one.
      decision.usefulness /= 2;
    }
  }

  /** Whether a map is only where learning begins: a sample silences no archive for good. */
  #isPrior({ id }: Archive, { index }: RoutedMap): boolean {
    const { learner } = this.#options;
    return (
      learner !== undefined && learner.numberOf(id) >= 0 && index.headers.meta["sample"] === true
    );
  }

  #decideWithoutMap(
    decision: MapDecision,
    number: number,
    reason: "no-map" | "old-map" = "no-map",
  ): void {
    if (!this.#decideByLearnt(decision)) this.#askWithoutMap(decision, number, reason);
  }

  /** Whether what was learnt decides; nothing is learnt of an archive that the learner does not know. */
  #decideByLearnt(decision: MapDecision, mapLikelihood?: number): boolean {
    const { learner } = this.#options;
    const number = learner?.numberOf(decision.archive.id) ?? -1;
    if (learner === undefined || number < 0) return false;
    const learnt = decision.lookup.isTeaching
      ? learner.decide(number, mapLikelihood)
      : learner.preview(number, mapLikelihood);
    decision.decideByLearnt(learnt, chanceOf(learnt.logit));
    return true;
  }

  #askWithoutMap(
    decision: MapDecision,
    number: number,
    reason: "no-map" | "old-map" = "no-map",
  ): void {
    const { probability = LIKELIHOOD_WITHOUT_MAP } = decision.archive;
    decision.ask(reason, probability, this.#rates[number].withoutMap);
  }

  /** Whether a map is too old to be believed where it says absent. */
  #isTooOld({ staleAt }: RoutedMap): boolean {
    return staleAt !== undefined && (this.#options.now ?? Date.now)() >= staleAt;
  }

  /** Asks archives whose map does not have the URI: for the page that embeds it, or to learn. */
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
    this.#maps.lookUp(page);
    const answered = this.#answered.archivesOf(page);
    for (const [number, decision] of decisions.entries()) {
      if (decision.reason !== "not-in-map") continue;
      const map = this.#maps.of(number);
      const isInMap = map !== undefined && this.#maps.ask(map);
      if (isInMap || answered.includes(decision.archive.id)) {
        decision.ask("referer", LIKELIHOOD_BY_REFERER, this.#rates[number].byReferer);
      }
    }
  }
}

/** What tells versions of a map apart, also after a restart. */
function versionOf(map: RoutedMap | undefined): string | undefined {
  if (map === undefined) return undefined;
  const { updatedAt = 0, index } = map;
  return `${updatedAt} ${index.size} ${index.keyCount}`;
}

function isLeftOut({ id }: Archive, { only, except }: RouteRequest): boolean {
  return (only !== undefined && !only.includes(id)) || except?.includes(id) === true;
}

/** Leaves out the unlikely and those beyond the first k; the most useful come first. */
function narrowed(decisions: MapDecision[], request: RouteRequest): MapDecision[] {
  const { minLikelihood = 0, topK = Number.POSITIVE_INFINITY } = request;
  for (const decision of decisions) {
    if (decision.isAsked && decision.likelihood < minLikelihood) leaveOut(decision, "improbable");
  }
  sortDecisions(decisions);
  for (const [place, decision] of decisions.entries()) {
    if (!decision.isAsked) break;
    if (place >= topK) leaveOut(decision, "beyond-top-k");
  }
  return decisions;
}

/** A map that was to be tested is not, and its word holds. */
function leaveOut(decision: MapDecision, reason: RouteReason): void {
  const spared = { sampled: "not-in-map", explored: "unlikely" } as const;
  decision.skip(isSample(decision) ? spared[decision.reason as keyof typeof spared] : reason);
}
