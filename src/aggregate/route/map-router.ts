import type { Archive } from "./archive.ts";
import {
  type ArchiveRates,
  compareDecisions,
  type Decision,
  HitRates,
  isSample,
  MapDecision,
  type Router,
  type RouteReason,
  type RouteRequest,
} from "./decision.ts";
import {
  areApart,
  Estimate,
  knowsAbsence,
  knowsNothingOf,
  mayHoldYearOf,
  type RoutedMap,
} from "./routed-map.ts";
import { RoutedMaps } from "./routed-maps.ts";
import { uriKey } from "../../surt/key.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { MemoryIndex } from "../../map/lookup/memory-index.ts";
import type { Learner } from "../learn/learner.ts";
import { takeLearntMap } from "../learn/learnt-prior.ts";

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

const encoder = new TextEncoder();

/** The share of archives holding a page that also hold parts of it missing from their map. */
const LIKELIHOOD_BY_REFERER = 0.5;

/** The share of hits in three years of MemGator's requests to 14 archives (the paper's table). */
const LIKELIHOOD_WITHOUT_MAP = 0.0544;

/**
 * Decides by the maps of archives which of them are asked.
 *
 * One lookup answers for all maps in text; packed maps are asked one by one. A decision goes by the first that holds: the request leaves the
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
  #maps = RoutedMaps.none();
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
    const routed = await RoutedMaps.build(ordered, pause);
    if (replacement !== this.#replacements) return;
    this.#archives = archives;
    this.#rates = archives.map((archive) => this.#hitRates.of(archive));
    this.#maps = routed;
    for (const { id } of archives) this.#options.learner?.maps.use(id, versionOf(maps.get(id)));
    await this.learnFromMaps(pause);
  }

  /** Has the learner begin with what others learnt, where maps tell that. */
  async learnFromMaps(pause: () => Promise<void>): Promise<void> {
    const { learner } = this.#options;
    if (learner === undefined) return;
    const maps = this.#maps;
    for (const [number, { id, mementomap: source = "" }] of this.#archives.entries()) {
      const index = maps.of(number)?.index;
      if (index instanceof MemoryIndex) await takeLearntMap(learner, id, index, { source, pause });
    }
  }

  /**
   * What came of a decision to ask for a URI: whether the archive had mementos.
   *
   * Decisions of other routers are as good, if they are of archives that this one knows.
   */
  learn(decision: Decision, uri: string, isHit: boolean, mementos: number = isHit ? 1 : 0): void {
    if (decision instanceof MapDecision) {
      decision.learn(isHit);
      this.#teach(decision, uri, isHit ? Math.max(1, mementos) : 0);
    }
    if (isHit && !looksLikePageRequisite(uri)) this.#answered.note(uri, decision.archive.id);
  }

  /** What an archive answered for reasons that the learner did not decide says as much of it. */
  #teach(decision: MapDecision, uri: string, mementos: number): void {
    const { archive, learnt, reason, map, lookup = { surt: undefined } } = decision;
    const { learner, sampleShare = 0.01 } = this.#options;
    if (learner === undefined) return;
    const decided =
      learnt ??
      (reason === "broadcast"
        ? { isOutside: true }
        : { isAside: true, propensity: reason === "sampled" ? sampleShare : 1 });
    // All archives of a lookup answer for the same URI.
    lookup.surt ??= surt(uri);
    const { id } = archive;
    learner.observe({ archive: id, surt: lookup.surt, mementos, ...decided, ...(map && { map }) });
  }

  route(request: RouteRequest): readonly Decision[] {
    const isBroadcasting = this.#options.isBroadcasting ?? false;
    if (!isBroadcasting) {
      this.#maps.lookUp(request.uri);
      this.#options.learner?.look(this.#maps.surt);
      if (request.isPreview !== true) this.#options.learner?.begin();
    }
    const decisions = this.#archives.map((archive, number) => {
      if (isLeftOut(archive, request)) return new MapDecision(archive, "not-selected");
      if (this.#options.isDormant?.(archive, request) === true) {
        return new MapDecision(archive, "dormant");
      }
      if (areApart(archive, request)) return new MapDecision(archive, "out-of-range");
      return isBroadcasting
        ? this.#decideToBroadcast(archive, number)
        : this.#decideByMap(archive, number, request);
    });
    if (!isBroadcasting) this.#askMore(decisions, request);
    if (this.#options.learner !== undefined) {
      const lookup = { surt: undefined };
      for (const decision of decisions) decision.lookup = lookup;
    }
    return narrowed(decisions, request);
  }

  #decideToBroadcast(archive: Archive, number: number): MapDecision {
    const decision = this.#askWithoutMap(new MapDecision(archive, "broadcast"), number);
    decision.reason = "broadcast";
    // As MemGator ranks them: those without a probability last.
    decision.usefulness = archive.probability ?? 0;
    return decision;
  }

  #decideByMap(archive: Archive, number: number, request: RouteRequest): MapDecision {
    const maps = this.#maps;
    const map = maps.of(number);
    if (map === undefined) {
      return this.#decideWithoutMap(new MapDecision(archive, "no-map"), number, request);
    }
    if (this.#options.learner?.maps.staleOf(archive.id) !== undefined) {
      const decision = new MapDecision(archive, "old-map");
      return this.#decideWithoutMap(decision, number, request, "old-map");
    }
    const isPresent = maps.ask(number, map);
    const { isStated, distance, isOwnKey } = maps;
    const decision = new MapDecision(archive, "not-in-map");
    if (isStated) decision.decidedBy(maps.deciding(number, map));
    if (!isPresent) {
      if (this.#isTooOld(map)) return this.#decideWithoutMap(decision, number, request, "old-map");
      if (!knowsAbsence(map, isStated) || this.#isPrior(archive, map)) {
        return this.#decideWithoutMap(decision, number, request);
      }
      decision.map = "absent";
      return decision;
    }
    // A packed map may be mistaken, so it lists nothing for certain.
    const isListed = isOwnKey && map.index instanceof MemoryIndex;
    if (!this.#isTooOld(map)) decision.map = isListed ? "listed" : "covered";
    const estimate = this.#estimate;
    maps.estimate(map, estimate);
    if (knowsNothingOf(map, maps.surt, request)) {
      decision.reason = "out-of-range";
      return decision;
    }
    const { likelihood, mementos } = estimate;
    const rates = this.#rates[number];
    // A wildcard, or a page with any query, covers what is not held, too: what was learnt knows better.
    if (!isOwnKey && this.#decideByLearnt(decision, request, likelihood)) {
      decision.mementos = mementos;
      if (decision.reason === "likely") decision.reason = "in-map";
      return decision;
    }
    decision.ask("in-map", likelihood, distance === 0 ? rates.byKey : rates.byWildcard(likelihood));
    decision.mementos = mementos;
    const { datetime } = request;
    if (datetime !== undefined && !mayHoldYearOf(datetime, archive, map, maps.surt)) {
      // The closest memento may be of another year; it is only less likely to be this one.
      decision.usefulness /= 2;
    }
    return decision;
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
    request: RouteRequest,
    reason: "no-map" | "old-map" = "no-map",
  ): MapDecision {
    if (this.#decideByLearnt(decision, request)) return decision;
    return this.#askWithoutMap(decision, number, reason);
  }

  /** Whether what was learnt decides; nothing is learnt of an archive that the learner does not know. */
  #decideByLearnt(
    decision: MapDecision,
    { uri, isPreview }: RouteRequest,
    mapLikelihood?: number,
  ): boolean {
    const { learner } = this.#options;
    const number = learner?.numberOf(decision.archive.id) ?? -1;
    if (learner === undefined || number < 0) return false;
    const learnt =
      isPreview === true
        ? learner.preview(number, mapLikelihood)
        : learner.decide(number, mapLikelihood);
    const why = (): string => {
      // The list may have changed since.
      const at = learner.numberOf(decision.archive.id);
      if (at < 0) return "the archive is not in the list any more";
      learner.look(encoder.encode(surt(uri)));
      return learner.explain(at).reason;
    };
    const chance = 1 / (1 + Math.exp(-learnt.logit));
    decision.decideByLearnt({ decision: { ...learnt, mapLikelihood }, why }, chance);
    return true;
  }

  #askWithoutMap(
    decision: MapDecision,
    number: number,
    reason: "no-map" | "old-map" = "no-map",
  ): MapDecision {
    const { probability = LIKELIHOOD_WITHOUT_MAP } = decision.archive;
    return decision.ask(reason, probability, this.#rates[number].withoutMap);
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
      const isInMap = map !== undefined && this.#maps.ask(number, map);
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
  decisions.sort(compareDecisions);
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

const DEFAULT_SIZE = 10_000;
/** Longer ones are not remembered, so that nobody can make this large. */
const MAX_KEY_LENGTH = 1024;

/** Remembers which archives answered for pages, those asked for last; a few hundred bytes a page. */
class AnsweredPages {
  readonly #size: number;
  /** In order of use: a `Map` keeps the order of insertion. */
  readonly #archives = new Map<string, readonly string[]>();

  constructor(size: number = DEFAULT_SIZE) {
    this.#size = size;
  }

  /** An archive had mementos of a page. */
  note(page: string, archiveId: string): void {
    const key = uriKey(page);
    if (key.length > MAX_KEY_LENGTH) return;
    const known = this.#archives.get(key) ?? [];
    this.#archives.delete(key);
    this.#archives.set(key, known.includes(archiveId) ? known : [...known, archiveId]);
    if (this.#archives.size <= this.#size) return;
    const [oldest] = this.#archives.keys();
    if (oldest !== undefined) this.#archives.delete(oldest);
  }

  /** The ids of the archives that had mementos of a page, as far as is remembered. */
  archivesOf(page: string): readonly string[] {
    return this.#archives.get(uriKey(page)) ?? [];
  }
}

/**
 * The page that a `Referer` header names, as the original URI that archives know it by.
 *
 * Aggregators and archives write the original behind a prefix of theirs; the innermost counts:
 *
 *     http://localhost:1208/memento/20150101000000/http://x.example/   http://x.example/
 *     https://archive.example/web/20150101000000id_/x.example/a?b      http://x.example/a?b
 *     https://x.example/a                                              https://x.example/a
 *
 * Undefined for anything but a web address.
 */
export function pageOfReferer(referer: string): string | undefined {
  if (!/^https?:\/\//i.test(referer)) return undefined;
  const queryStart = referer.search(/[?#]/);
  const path = queryStart < 0 ? referer : referer.slice(0, queryStart);
  const inner = Math.max(path.lastIndexOf("/http://"), path.lastIndexOf("/https://"));
  if (inner > 0) return referer.slice(inner + 1);
  const replayed = REPLAYED_WITHOUT_SCHEME.exec(path);
  return replayed === null ? referer : `http://${referer.slice(replayed[0].length)}`;
}

const REPLAYED_WITHOUT_SCHEME = /^.*?\/\d{14}(?:[a-z]{2}_)?\/(?=[^/]+\.)/;

/**
 * Whether a URI looks like something that pages are made of, and not like a page.
 *
 * Goes by the ending of its path. What has none, or one of a page, is not meant: maps of pages know
 * about pages.
 */
export function looksLikePageRequisite(uri: string): boolean {
  const ending = PATH_ENDING.exec(uri);
  return ending !== null && REQUISITES.has(ending[1].toLowerCase());
}

const PATH_ENDING = /^(?:https?:\/\/|(?!https?:))[^/?#]*\/[^?#]*\.([a-z0-9]{2,5})(?:$|[?#])/i;

const REQUISITES: ReadonlySet<string> = new Set(
  (
    "css js mjs map json xml " +
    "png jpg jpeg jpe gif svg webp avif bmp ico cur tif tiff apng " +
    "woff woff2 ttf otf eot " +
    "mp3 mp4 m4a m4v ogg oga ogv webm wav mov avi flv swf vtt"
  ).split(" "),
);
