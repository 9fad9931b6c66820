import { Learner, type LearningReport } from "../aggregate/learn/learner.ts";
import { restoreSnapshot, snapshotOf } from "../aggregate/learn/snapshot.ts";
import { updatedAtOf } from "../ukvs/head.ts";
import type { Archive } from "../aggregate/route/archive.ts";
import type { Decision, RouteRequest, Router } from "../aggregate/route/decision.ts";
import { MapRouter, type MapRouterOptions } from "../aggregate/route/map-router.ts";
import type { RoutedMap } from "../aggregate/route/routed-map.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { SignalOption } from "../interruption.ts";
import { isPacked } from "../bytes/bytes.ts";
import { MemoryIndex } from "../lookup/memory-index.ts";
import { PackedLookup } from "../lookup/packed-lookup.ts";
import { bytesOf, nameOf, type Platform, type Source } from "./source.ts";

/** The maps of archives by their ids; `undefined` takes the map of one away. */
export type MapsById = Readonly<Record<string, Source | undefined>>;

/** How a router decides. */
export interface RouterOptions extends Pick<
  MapRouterOptions,
  "isBroadcasting" | "isDormant" | "random" | "sampleShare"
> {
  readonly maps?: MapsById | undefined;
  /**
   * Learns from what `learn` is told which archives have what, and spares the others: the share of
   * answers with mementos, and of mementos, to keep. Default nothing is learnt. Holds up to 60 MiB.
   */
  readonly recall?: number | undefined;
  /** What a router learnt before, as `learnt` of it gives it; for `recall`. */
  readonly learnt?: Uint8Array | undefined;
  /** Ends reading the maps with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Decides which archives may have a URI, by their maps and by what was learnt. Without `recall`, archives
 * that have no map are always asked.
 */
export interface ArchiveRouter extends Router {
  /** One decision for every archive: those to ask first, the most useful of them first. */
  route(request: RouteRequest): readonly Decision[];
  /** Takes new maps of some archives; the others keep theirs. Requests are routed meanwhile. */
  useMaps(maps: MapsById, options?: SignalOption): Promise<void>;
  /**
   * Notes whether an archive that was asked had mementos, and how many: who has a page is asked for its
   * images and styles, and with `recall` it is learnt from. Leave out archives that failed.
   */
  learn(decision: Decision, uri: string, isHit: boolean, mementos?: number): void;
  /** What was learnt, to go on with later; undefined without `recall`. */
  learnt(): Uint8Array | undefined;
  /** What is promised, measured and spared; undefined without `recall`. */
  learning(): LearningReport | undefined;
}

/** See `createRouter` of the entries. */
export async function createRouterOn(
  platform: Platform,
  archives: readonly Archive[],
  { maps, signal, recall, learnt, ...options }: RouterOptions = {},
): Promise<ArchiveRouter> {
  const learner =
    recall === undefined ? undefined : new Learner(archives, { recall, random: options.random });
  if (learner !== undefined && learnt !== undefined) restoreSnapshot(learner, learnt, "learnt");
  const router = new LibraryRouter(platform, archives, { ...options, learner });
  if (maps !== undefined) await router.useMaps(maps, { signal });
  return router;
}

class LibraryRouter extends MapRouter implements ArchiveRouter {
  readonly #platform: Platform;
  readonly #learner: Learner | undefined;
  #maps: ReadonlyMap<string, RoutedMap> = new Map();

  constructor(platform: Platform, archives: readonly Archive[], options: MapRouterOptions) {
    super(archives, options);
    this.#platform = platform;
    this.#learner = options.learner;
  }

  learnt(): Uint8Array | undefined {
    return this.#learner && snapshotOf(this.#learner);
  }

  learning(): LearningReport | undefined {
    return this.#learner && this.#learner.report();
  }

  async useMaps(maps: MapsById, { signal }: SignalOption = {}): Promise<void> {
    const read = new Map<string, RoutedMap | undefined>();
    for (const [id, source] of Object.entries(maps)) {
      if (!this.archives.some((archive) => archive.id === id)) {
        throw new MementoMapError("MM_USAGE", `there is no archive ${quote(id)} in the list`);
      }
      read.set(id, source === undefined ? undefined : await this.#read(source, signal));
    }
    const all = new Map(this.#maps);
    for (const [id, map] of read) {
      if (map === undefined) all.delete(id);
      else all.set(id, map);
    }
    this.#maps = all;
    this.replaceMaps(all);
  }

  async #read(source: Source, signal: AbortSignal | undefined): Promise<RoutedMap> {
    const bytes = await bytesOf(this.#platform, source, signal);
    const options = { source: nameOf(this.#platform, source), pause: pauses() };
    const index = isPacked(bytes)
      ? await PackedLookup.ofInSlices(bytes, options)
      : await MemoryIndex.buildInSlices(bytes, options);
    return { index, updatedAt: updatedAtOf(index.headers) };
  }
}

/** Work is interrupted for others after this time. */
const TURN_MS = 10;

/** Lets others have their turn, now and then. */
function pauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    since = performance.now();
  };
}
