import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { internalFault, type MementoMapError } from "../../errors.ts";
import { type Archive, homeOf, isWebAddress } from "./archive.ts";
import type { MapRouter } from "./map-router.ts";
import type { RoutedMap } from "./routed-map.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { guardOutputs } from "../../maps/output-guard.ts";
import { KeptMap, type KeptMapOptions, type MapPlace, type MapState } from "./kept-map.ts";
import { DISCOVERED } from "./archive-list.ts";

/** An archive's map that is loaded. */
export type HeldMap = KeptMap & { readonly map: RoutedMap };

export interface MapKeeperOptions extends KeptMapOptions {
  /** Folder for fetched maps; created if missing. Default `mapFolder`. */
  readonly folder?: string | undefined;
  /** Limit on the memory of all maps; default 1 GiB. A fetched map may use a quarter of it. */
  readonly maxMemoryBytes?: number | undefined;
  /** How often files are checked for changes; default 10 s. */
  readonly checkEveryMs?: number | undefined;
  /** Called for unexpected errors in the background; the current maps stay in use. */
  readonly onFault?: ((error: MementoMapError) => void) | undefined;
}

const DEFAULT_MEMORY = 2 ** 30;
/** The fraction of the memory for maps that a fetched map may use. */
const FETCHED_SHARE = 0.25;

/**
 * Supplies a router with the maps of its archives, and keeps them up to date.
 *
 * An archive's `mementomap` is a file, which is reloaded when it changes; the URL of a map or of an
 * archive, from which the map is fetched whenever it is due; or `auto`: the map is discovered at the
 * archive's TimeGate. Errors of maps and servers are never thrown: the current map stays in use, and
 * without one the archive is treated as having no map. Timers do not keep the process alive.
 */
export class MapKeeper {
  readonly #router: MapRouter;
  readonly #options: MapKeeperOptions;
  readonly #folder: string;
  #archives: readonly Archive[];
  /** By the ids of archives. */
  #kept: ReadonlyMap<string, KeptMap>;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #fetching: Promise<void> = Promise.resolve();

  constructor(router: MapRouter, options: MapKeeperOptions = {}) {
    this.#router = router;
    this.#options = options;
    this.#folder = options.folder ?? mapFolder();
    this.#archives = router.archives;
    this.#kept = this.#keptOf(router.archives, new Map());
  }

  /**
   * Loads all local maps into the router; fetched ones follow later.
   *
   * @throws MM_IO when the folder for maps cannot be created; MM_USAGE when a fetched map would replace
   *   the file of another.
   */
  async start(): Promise<void> {
    const { checkEveryMs = 10_000 } = this.#options;
    await this.#prepareFolder(this.#kept);
    await this.check();
    if (this.#isStopped) return;
    this.#fetchAll(this.#kept.values());
    this.#timer = setInterval(() => {
      this.check().catch((error: unknown) => this.#report(error));
    }, checkEveryMs).unref();
  }

  /**
   * Replaces the list of archives together with its maps, in the router too.
   *
   * Maps with an unchanged location stay in use. Others are loaded first, while requests use the old list;
   * fetched ones follow later. Call it after `start`, and not concurrently.
   *
   * @throws MM_IO, MM_USAGE as `start`; the old list stays in use.
   */
  async replaceArchives(archives: readonly Archive[]): Promise<void> {
    const before = this.#kept;
    const kept = this.#keptOf(archives, before);
    await this.#prepareFolder(kept);
    const added = [...kept.values()].filter((map) => before.get(map.archive.id) !== map);
    await Promise.all(added.map((map) => map.check()));
    if (this.#isStopped) return;
    this.#archives = archives;
    this.#kept = kept;
    for (const archive of archives) {
      const map = kept.get(archive.id);
      if (map !== undefined) map.archive = archive;
    }
    const dropped = [...before].filter(([id, map]) => kept.get(id) !== map);
    const stopping = Promise.all(dropped.map(([, map]) => map.stop()));
    this.#publish();
    // A map fetched from another URL now goes into the same file.
    await stopping;
    this.#fetchAll(added);
  }

  /** Waits until every remote map was fetched once or has failed. */
  async fetched(): Promise<void> {
    await this.#fetching;
  }

  /** Checks now whether files changed, and updates the router. */
  async check(): Promise<void> {
    await Promise.all(Array.from(this.#kept.values(), (kept) => kept.check()));
    this.#publish();
  }

  /** Reloads all maps now, fetching remote ones; updates the router. */
  async refresh(all: Iterable<KeptMap> = this.#kept.values()): Promise<void> {
    await Promise.all(
      Array.from(all, async (kept) => {
        await kept.refresh();
        this.#publish();
      }),
    );
  }

  /** State of an archive's map; undefined if its entry names none. */
  stateOf({ id }: Pick<Archive, "id">): MapState | undefined {
    return this.#kept.get(id)?.state;
  }

  /** The loaded maps, in the order of the archives. */
  held(): HeldMap[] {
    return [...this.#kept.values()].filter((kept): kept is HeldMap => kept.map !== undefined);
  }

  /** Stops updating maps; the router keeps its current ones. Waits until pending writes are complete. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#kept.values(), (kept) => kept.stop()));
  }

  /** The maps that entries name; those of `before` with the same location are reused. */
  #keptOf(
    archives: readonly Archive[],
    before: ReadonlyMap<string, KeptMap>,
  ): ReadonlyMap<string, KeptMap> {
    const kept = new Map<string, KeptMap>();
    for (const archive of archives) {
      const place = placeOf(archive, this.#folder);
      if (place === undefined) continue;
      const known = before.get(archive.id);
      const isKnown = known !== undefined && isDeepStrictEqual(known.place, place);
      kept.set(archive.id, isKnown ? known : this.#newMap(archive, place));
    }
    return kept;
  }

  #newMap(archive: Archive, place: MapPlace): KeptMap {
    const { maxMemoryBytes = DEFAULT_MEMORY, fetch } = this.#options;
    const maxBytes = maxMemoryBytes * (place.address === undefined ? 1 : FETCHED_SHARE);
    const options = { ...this.#options, fetch: { maxBytes, ...fetch } };
    const map: KeptMap = new KeptMap(archive, place, options, () => {
      const others = this.held().filter((kept) => kept !== map);
      const used = others.reduce((sum, { state }) => sum + state.bytes, 0);
      return Math.max(0, Math.min(maxMemoryBytes - used, maxBytes));
    });
    return map;
  }

  /** Creates the folder for fetched maps; none of them may replace a map that others write. */
  async #prepareFolder(kept: ReadonlyMap<string, KeptMap>): Promise<void> {
    const maps = [...kept.values()];
    const fetched = maps.filter(({ isFetched }) => isFetched);
    if (fetched.length === 0) return;
    await makeFolder(this.#folder);
    const inputs = maps.filter(({ isFetched }) => !isFetched).map(({ place }) => place.path);
    const outputs = fetched.map(({ place }) => ({ path: place.path, kind: "map" as const }));
    // Other files in the folder were fetched earlier: a damaged map is replaced.
    await guardOutputs(outputs, { inputs, force: true });
  }

  /** Starts fetching maps; `#fetching` settles when all have been fetched once. */
  #fetchAll(kept: Iterable<KeptMap>): void {
    this.#fetching = Promise.all([this.#fetching, this.refresh(kept)]).then(
      () => undefined,
      (error: unknown) => this.#report(error),
    );
  }

  /** Reports errors in the background, which would otherwise end the process. */
  #report(error: unknown): void {
    this.#options.onFault?.(internalFault(error, "MM_IO"));
  }

  #publish(): void {
    const maps = new Map(this.held().map(({ archive, map }) => [archive.id, map]));
    this.#router.replaceMaps(maps, this.#archives);
  }
}

/** The default folder for maps: in the user's cache folder. */
export function mapFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const caches = env["XDG_CACHE_HOME"] ?? env["LOCALAPPDATA"] ?? join(homedir(), ".cache");
  return join(caches, "mementomap", "maps");
}

/** File systems limit names to 255 bytes, including a suffix and temporary names. */
function fileNameOf(id: string): string {
  const name = encodeURIComponent(id);
  if (name.length <= 200) return name;
  return `${name.slice(0, 150)}-${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

function placeOf(archive: Archive, folder: string): MapPlace | undefined {
  const { id, mementomap } = archive;
  if (mementomap === undefined) return undefined;
  const path = join(folder, `${fileNameOf(id)}.ukvs`);
  if (mementomap === DISCOVERED) {
    return { path, address: homeOf(archive), isDirect: false };
  }
  return isWebAddress(mementomap)
    ? { path, address: mementomap, isDirect: "if-map" }
    : { path: mementomap };
}

/** The local files of all maps. */
export function mapFilesOf(archives: readonly Archive[]): string[] {
  const places = archives.flatMap((archive) => placeOf(archive, "") ?? []);
  return places.filter(({ address }) => address === undefined).map(({ path }) => path);
}
