import { homedir } from "node:os";
import { join } from "node:path";
import { internalFault, type MementoMapError } from "../../errors.ts";
import { type Archive, homeOf } from "./archive.ts";
import type { MapRouter } from "./map-router.ts";
import type { RoutedMap } from "./routed-map.ts";
import type { FreshMapOptions } from "../../publish/fetch/fresh-map.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { guardOutputs } from "../../maps/output-guard.ts";
import type { MapGuardOptions } from "../../maps/map-guard.ts";
import { KeptMap, type MapPlace, type MapState } from "./kept-map.ts";
import { DISCOVERED, isWebAddress } from "./archive-list.ts";

export type { MapState } from "./kept-map.ts";

/** The map of an archive that is in use. */
export interface HeldMap {
  readonly archive: Archive;
  /** The file it is in. */
  readonly path: string;
  readonly map: RoutedMap;
  readonly state: MapState;
}

export interface MapKeeperOptions extends MapGuardOptions {
  /** Where maps are kept that are fetched; made when it is not there. Default `mapFolder`. */
  readonly folder?: string | undefined;
  /** Older maps are not believed where they say absent; default that age does not matter. */
  readonly maxMapAgeMs?: number | undefined;
  /** Bytes of all maps in memory; default 1 GiB. Of it, a map that is fetched may have a quarter. */
  readonly maxMemoryBytes?: number | undefined;
  /** How often to look whether files changed; default 10 s. */
  readonly checkEveryMs?: number | undefined;
  /**
   * Whether maps are fetched here; default true. False where another process fetches them into the
   * same folder: they are then taken from there.
   */
  readonly isFetching?: boolean | undefined;
  /** How maps are fetched. */
  readonly fetch?: FreshMapOptions | undefined;
  readonly now?: (() => number) | undefined;
  /** Called for each map that cannot be fetched or read; the older one stays in use. */
  readonly onFailure?: ((archive: Archive, error: MementoMapError) => void) | undefined;
  /** Called for what should not have happened while nobody waited; the maps in use stay. */
  readonly onFault?: ((error: MementoMapError) => void) | undefined;
  /** Called when the router goes by other maps than before. */
  readonly onChange?: (() => void) | undefined;
}

const DEFAULT_MEMORY = 2 ** 30;
/** Of the memory for maps, what one of another server may have. */
const FETCHED_SHARE = 0.25;

/**
 * Gives a router the maps of its archives, and keeps them up to date.
 *
 * An archive's `mementomap` is a file, which is read again when it changes; the address of a map or
 * of an archive, from which it is fetched whenever it is due; or `auto`: the map is looked for at
 * the address of the archive's TimeGate. Whatever is wrong with a map or a server, nothing is thrown:
 * the map in use stays, and without one the archive counts as one that has no map. Timers do not
 * keep the process alive.
 */
export class MapKeeper {
  readonly #router: MapRouter;
  readonly #options: MapKeeperOptions;
  #archives: readonly Archive[];
  /** By the ids of archives. */
  #kept: ReadonlyMap<string, KeptMap>;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #fetching: Promise<void> = Promise.resolve();
  /** Whether the router has not yet been given all maps. */
  #hasChanges = false;

  constructor(router: MapRouter, options: MapKeeperOptions = {}) {
    this.#router = router;
    this.#options = options;
    this.#archives = router.archives;
    this.#kept = this.#keptOf(router.archives, new Map());
  }

  /**
   * Reads all maps that are at hand, and gives them to the router; those to be fetched come later.
   *
   * @throws MM_IO when the folder for maps cannot be made; MM_USAGE when a map to be fetched would
   *   replace the file of another.
   */
  async start(): Promise<void> {
    const { checkEveryMs = 10_000 } = this.#options;
    await this.#prepareFolder(this.#kept);
    await this.check();
    if (this.#isStopped) return;
    this.#fetchAll(this.#kept);
    this.#timer = setInterval(() => {
      this.check().catch((error: unknown) => this.#report(error));
    }, checkEveryMs).unref();
  }

  /**
   * Goes by another list of archives, and gives it to the router together with its maps.
   *
   * Maps that are where they were stay in use. Others are read first, while requests go on with the
   * old list; those to be fetched come later. Not before `start`, and one call after the other.
   *
   * @throws MM_IO, MM_USAGE as `start`; the old list stays then.
   */
  async replaceArchives(archives: readonly Archive[]): Promise<void> {
    const before = this.#kept;
    const kept = this.#keptOf(archives, before);
    await this.#prepareFolder(kept);
    const added = new Map(Array.from(kept).filter(([id, map]) => before.get(id) !== map));
    await Promise.all(Array.from(added.values(), (map) => map.check()));
    if (this.#isStopped) return;
    this.#archives = archives;
    this.#kept = kept;
    for (const archive of archives) {
      const map = kept.get(archive.id);
      if (map !== undefined) map.archive = archive;
    }
    const dropped = Array.from(before).filter(([id, map]) => kept.get(id) !== map);
    const stopping = Promise.all(dropped.map(([, map]) => map.stop()));
    this.#hasChanges = true;
    this.#publish();
    // A map that is fetched from elsewhere now goes into the same file.
    await stopping;
    this.#fetchAll(added);
  }

  /** Waits until every map to be fetched has been fetched once, or that has failed. */
  async fetched(): Promise<void> {
    await this.#fetching;
  }

  /** Looks now whether files changed, and gives the router what is new. */
  async check(): Promise<void> {
    await Promise.all(Array.from(this.#kept.values(), (kept) => kept.check()));
    this.#publish();
  }

  /** Asks for new versions of all maps now, those that are fetched too; gives the router what is new. */
  async refresh(): Promise<void> {
    await Promise.all(
      Array.from(this.#kept.values(), async (kept) => {
        await kept.refresh();
        this.#publish();
      }),
    );
  }

  /** How the map of an archive is; undefined if none is named for it. */
  stateOf({ id }: Archive): MapState | undefined {
    return this.#kept.get(id)?.state;
  }

  /** The maps in use, in the order of the archives. */
  held(): HeldMap[] {
    return Array.from(this.#kept.values()).flatMap(({ archive, path, map, state }) =>
      map === undefined ? [] : { archive, path, map, state },
    );
  }

  /** How all maps are, in the order of the archives. */
  states(): MapState[] {
    return Array.from(this.#kept.values(), ({ state }) => state);
  }

  /** Looks after maps no more; the router keeps those it has. Waits until no file is written to. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#kept.values(), (kept) => kept.stop()));
  }

  /** The maps of archives, where there are some; those of `before` that are in the same place. */
  #keptOf(
    archives: readonly Archive[],
    before: ReadonlyMap<string, KeptMap>,
  ): ReadonlyMap<string, KeptMap> {
    const { folder = mapFolder() } = this.#options;
    const kept = new Map<string, KeptMap>();
    for (const archive of archives) {
      const place = placeOf(archive, folder);
      if (place === undefined) continue;
      const known = before.get(archive.id);
      const isKnown = known?.isAt(place) === true;
      kept.set(archive.id, isKnown ? known : this.#newMap(archive, place));
    }
    return kept;
  }

  #newMap(archive: Archive, place: MapPlace): KeptMap {
    const onChange = (): void => {
      this.#hasChanges = true;
    };
    const { maxMemoryBytes = DEFAULT_MEMORY, fetch } = this.#options;
    const isFetched = place.address !== undefined;
    const maxBytes = isFetched ? maxMemoryBytes * FETCHED_SHARE : maxMemoryBytes;
    const room = (): number => {
      let left = maxMemoryBytes;
      for (const kept of this.#kept.values()) if (kept !== map) left -= kept.state.bytes;
      return Math.max(0, Math.min(left, maxBytes));
    };
    const options = { ...this.#options, fetch: { maxBytes, ...fetch }, room, onChange };
    const map: KeptMap = new KeptMap(archive, place, options);
    return map;
  }

  /** Makes the folder for maps that are fetched; none of them may replace a map that others write. */
  async #prepareFolder(kept: ReadonlyMap<string, KeptMap>): Promise<void> {
    const { folder = mapFolder() } = this.#options;
    const maps = Array.from(kept.values());
    const fetched = maps.filter(({ isFetched }) => isFetched);
    if (fetched.length === 0) return;
    await makeFolder(folder);
    const inputs = maps.filter(({ isFetched }) => !isFetched).map(({ path }) => path);
    const outputs = fetched.map(({ path }) => ({ path, kind: "map" as const }));
    // What else is in the folder was fetched before: a damaged map is replaced.
    await guardOutputs(outputs, { inputs, force: true });
  }

  /** Begins to fetch maps; `#fetching` is over when all have been fetched once. */
  #fetchAll(kept: ReadonlyMap<string, KeptMap>): void {
    const fetching = Array.from(kept.values(), async (map) => {
      await map.fetch();
      this.#publish();
    });
    this.#fetching = Promise.all([this.#fetching, ...fetching]).then(
      () => undefined,
      (error: unknown) => this.#report(error),
    );
  }

  /** Nobody awaits this work: what would be thrown would end the process for one map. */
  #report(error: unknown): void {
    this.#options.onFault?.(internalFault(error, "MM_IO"));
  }

  /** Gives the router what changed. */
  #publish(): void {
    if (!this.#hasChanges) return;
    this.#hasChanges = false;
    const maps = new Map<string, RoutedMap>();
    for (const [id, { map }] of this.#kept) if (map !== undefined) maps.set(id, map);
    this.#router.replaceMaps(maps, this.#archives);
    this.#options.onChange?.();
  }
}

/** Where maps are kept if nobody says otherwise: a folder of the user's for what can be had again. */
export function mapFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const caches = env["XDG_CACHE_HOME"] ?? env["LOCALAPPDATA"] ?? join(homedir(), ".cache");
  return join(caches, "mementomap", "maps");
}

/** The files of all maps that are files. */
export function mapFilesOf(archives: readonly Archive[]): string[] {
  return archives.flatMap(({ mementomap }) =>
    mementomap === undefined || mementomap === DISCOVERED || isWebAddress(mementomap)
      ? []
      : [mementomap],
  );
}

function placeOf(archive: Archive, folder: string): MapPlace | undefined {
  const { id, mementomap } = archive;
  if (mementomap === undefined) return undefined;
  const path = join(folder, `${encodeURIComponent(id)}.ukvs`);
  if (mementomap === DISCOVERED) {
    return { path, address: homeOf(archive), isDirect: false };
  }
  return isWebAddress(mementomap)
    ? { path, address: mementomap, isDirect: "if-map" }
    : { path: mementomap };
}
