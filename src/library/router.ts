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

/** Maps by archive id; `undefined` removes the map of an archive. */
export type MapsById = Readonly<Record<string, Source | undefined>>;

/** Options of a router. */
export interface RouterOptions extends Pick<
  MapRouterOptions,
  "isBroadcasting" | "isDormant" | "random" | "sampleShare"
> {
  readonly maps?: MapsById | undefined;
  /**
   * Learns from calls of `learn` which archives hold what, and skips the others. The value is the minimum
   * fraction of responses with mementos, and of mementos, that must still be found. By default nothing is
   * learnt. Holds up to 60 MiB.
   */
  readonly recall?: number | undefined;
  /** State learnt earlier, as returned by `learnt`; requires `recall`. */
  readonly learnt?: Uint8Array | undefined;
  /** When aborted, reading the maps fails with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Decides which archives may have a URI, by their maps and learnt state. Without `recall`, archives
 * without a map are always queried.
 */
export interface ArchiveRouter extends Router {
  /** One decision per archive: archives to query come first, the most useful of them first. */
  route(request: RouteRequest): readonly Decision[];
  /** Replaces the maps of some archives; the others keep theirs. Routing continues meanwhile. */
  useMaps(maps: MapsById, options?: SignalOption): Promise<void>;
  /**
   * Records whether a queried archive had mementos, and how many. Archives that have a page are queried
   * for its images and styles; with `recall`, the router learns from it. Do not record failed requests.
   */
  learn(decision: Decision, uri: string, isHit: boolean, mementos?: number): void;
  /** The learnt state, to be restored later; undefined without `recall`. */
  learnt(): Uint8Array | undefined;
  /** Recall targets, measurements and requests saved; undefined without `recall`. */
  learning(): LearningReport | undefined;
}

/** See `createRouter` in `index.ts`. */
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

/** Work yields to the event loop after this time. */
const SLICE_MS = 10;

/** Returns a function that yields to the event loop when a slice is over. */
function pauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    since = performance.now();
  };
}
