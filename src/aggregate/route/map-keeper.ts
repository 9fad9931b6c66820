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

/** The map of an archive that is in use. */
export type HeldMap = KeptMap & { readonly map: RoutedMap };

export interface MapKeeperOptions extends KeptMapOptions {
  /** Where maps are kept that are fetched; made when it is not there. Default `mapFolder`. */
  readonly folder?: string | undefined;
  /** Bytes of all maps in memory; default 1 GiB. Of it, a map that is fetched may have a quarter. */
  readonly maxMemoryBytes?: number | undefined;
  /** How often to look whether files changed; default 10 s. */
  readonly checkEveryMs?: number | undefined;
  /** Called for unexpected errors in the background; the maps in use stay. */
  readonly onFault?: ((error: MementoMapError) => void) | undefined;
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
    this.#fetchAll(this.#kept.values());
    this.#timer = setInterval(() => {
      this.check().catch((error: unknown) => this.#report(error));
    }, checkEveryMs).unref();
  }

  /**
   * Replaces the list of archives, in the router too, together with its maps.
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
  async refresh(all: Iterable<KeptMap> = this.#kept.values()): Promise<void> {
    await Promise.all(
      Array.from(all, async (kept) => {
        await kept.refresh();
        this.#publish();
      }),
    );
  }

  /** How the map of an archive is; undefined if none is named for it. */
  stateOf({ id }: Pick<Archive, "id">): MapState | undefined {
    return this.#kept.get(id)?.state;
  }

  /** The maps in use, in the order of the archives. */
  held(): HeldMap[] {
    return [...this.#kept.values()].filter((kept): kept is HeldMap => kept.map !== undefined);
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

  /** Makes the folder for maps that are fetched; none of them may replace a map that others write. */
  async #prepareFolder(kept: ReadonlyMap<string, KeptMap>): Promise<void> {
    const maps = [...kept.values()];
    const fetched = maps.filter(({ isFetched }) => isFetched);
    if (fetched.length === 0) return;
    await makeFolder(this.#folder);
    const inputs = maps.filter(({ isFetched }) => !isFetched).map(({ place }) => place.path);
    const outputs = fetched.map(({ place }) => ({ path: place.path, kind: "map" as const }));
    // What else is in the folder was fetched before: a damaged map is replaced.
    await guardOutputs(outputs, { inputs, force: true });
  }

  /** Begins to fetch maps; `#fetching` is over when all have been fetched once. */
  #fetchAll(kept: Iterable<KeptMap>): void {
    this.#fetching = Promise.all([this.#fetching, this.refresh(kept)]).then(
      () => undefined,
      (error: unknown) => this.#report(error),
    );
  }

  /** Errors in the background are reported, as they would otherwise end the process. */
  #report(error: unknown): void {
    this.#options.onFault?.(internalFault(error, "MM_IO"));
  }

  #publish(): void {
    const maps = new Map(this.held().map(({ archive, map }) => [archive.id, map]));
    this.#router.replaceMaps(maps, this.#archives);
  }
}

/** The default folder for maps: the cache folder of the user. */
export function mapFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const caches = env["XDG_CACHE_HOME"] ?? env["LOCALAPPDATA"] ?? join(homedir(), ".cache");
  return join(caches, "mementomap", "maps");
}

/** File systems take 255 bytes, which a suffix and temporary names need some of. */
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

/** The files of all maps that are files. */
export function mapFilesOf(archives: readonly Archive[]): string[] {
  const places = archives.flatMap((archive) => placeOf(archive, "") ?? []);
  return places.filter(({ address }) => address === undefined).map(({ path }) => path);
}
