import { rm } from "node:fs/promises";
import { ioError, isMementoMapError, MementoMapError } from "../../errors.ts";
import { Reloading } from "../../files/reloading.ts";
import { type FileStamp, readJson, stampIfThere, stampOf } from "../../files/shared-files.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import {
  extentOf,
  type MapExtent,
  type MapGuardOptions,
  packedExtent,
  refuseShrunk,
} from "../../maps/map-guard.ts";
import { webAddress } from "../../publish/fetch/discover.ts";
import { type FetchState, statePath } from "../../publish/fetch/download.ts";
import { FreshMap, type FreshMapOptions } from "../../publish/fetch/fresh-map.ts";
import { updatedAtOf } from "../../ukvs/head.ts";
import type { StaleMap } from "../learn/map-trust.ts";
import type { Archive } from "./archive.ts";
import { readMap, slices } from "./read-map.ts";
import type { RoutedMap } from "./routed-map.ts";

/** Where a map comes from, and its file. */
export interface MapPlace {
  readonly path: string;
  /** URL to fetch it from; undefined for a file that others write. */
  readonly address?: string | undefined;
  readonly isDirect?: FreshMapOptions["isDirect"];
}

/** State of an archive's map, for operators. */
export interface MapState {
  readonly archive: Archive;
  /**
   * `failed`: there is no usable map. `stale`: too old to be trusted about absence, or
   * {@link contradicted}.
   */
  readonly status: "loading" | "ready" | "stale" | "failed";
  /** Of the current map; 0 if there is none. */
  readonly keys: number;
  readonly bytes: number;
  /** Whether the current map is packed. */
  readonly isPacked?: boolean | undefined;
  /** Creation time stated in the map, in milliseconds since 1970. */
  readonly updatedAt: number | undefined;
  /** When its file was written, in milliseconds since 1970. */
  readonly fetchedAt: number | undefined;
  /** The last error, until the next success; an older map may be in use. */
  readonly error: string | undefined;
  /** How often a new map could not be fetched or was rejected. */
  readonly failures: number;
  /** Since when and where answers contradict the map; learnt answers decide then. */
  readonly contradicted?: StaleMap | undefined;
}

/** How maps are loaded and updated. */
export interface KeptMapOptions extends MapGuardOptions {
  /** Older maps are not trusted about absence; default: any age is trusted. */
  readonly maxMapAgeMs?: number | undefined;
  /**
   * Whether this process fetches maps; default true. False if another process fetches them into the same
   * folder: they are then read from there.
   */
  readonly isFetching?: boolean | undefined;
  /** How maps are fetched. */
  readonly fetch?: FreshMapOptions | undefined;
  readonly now?: (() => number) | undefined;
  /** Called for each map that cannot be fetched or read; the older one stays in use. */
  readonly onFailure?: ((archive: Archive, error: MementoMapError) => void) | undefined;
}

/**
 * Keeps the map of one archive in memory, and reloads it when its file changes.
 *
 * A new version is read while the old one is in use, and replaces it only if it is valid.
 */
export class KeptMap {
  /** The archive as currently listed. */
  archive: Archive;
  readonly place: MapPlace;
  readonly #options: KeptMapOptions;
  /** Limit on the decompressed bytes of the map. */
  readonly #room: () => number;
  readonly #fresh: FreshMap | undefined;
  readonly #reloading: Reloading<FileStamp>;
  #map: RoutedMap | undefined;
  /** What the current map covers. */
  #extent: MapExtent | undefined;
  #fetchedAt: number | undefined;
  #failures = 0;
  /** When the archive last served the map, or reported it unchanged. */
  #confirmedAt = 0;

  constructor(archive: Archive, place: MapPlace, options: KeptMapOptions, room: () => number) {
    this.archive = archive;
    this.place = place;
    this.#options = options;
    this.#room = room;
    const { address, path, isDirect } = place;
    this.#reloading = new Reloading({
      source: path,
      // A map that has not been fetched yet is not an error.
      stamp: () => (address === undefined ? stampOf(path) : this.#fetchedStamp(address)),
      take: (stamp) => this.#take(stamp),
      onFailure: (error, isNews) => {
        this.#failures += 1;
        if (isNews) options.onFailure?.(this.archive, error);
      },
    });
    if (address === undefined || options.isFetching === false) return;
    this.#fresh = new FreshMap(address, path, {
      maxShrink: options.maxShrink,
      ...options.fetch,
      isDirect,
      onAnswered: ({ status }) => {
        this.#confirmedAt = (options.now ?? Date.now)();
        // A new version clears the error once it is in use.
        if (status !== "fetched") this.#reloading.confirm();
      },
      onFailure: (error) => this.#reloading.fail(error),
    });
  }

  /** Whether this process fetches the map. */
  get isFetched(): boolean {
    return this.#fresh !== undefined;
  }

  get map(): RoutedMap | undefined {
    return this.#map;
  }

  get state(): MapState {
    const index = this.#map?.index;
    return {
      archive: this.archive,
      status: this.#status(),
      keys: index?.keyCount ?? 0,
      bytes: index?.size ?? 0,
      ...(index instanceof PackedLookup ? { isPacked: true } : {}),
      updatedAt: this.#map?.updatedAt,
      fetchedAt: this.#fetchedAt,
      error: this.#reloading.error?.describe(),
      failures: this.#failures,
    };
  }

  #status(): MapState["status"] {
    if (this.#map === undefined) return this.#reloading.error === undefined ? "loading" : "failed";
    const { staleAt = Infinity } = this.#map;
    return (this.#options.now ?? Date.now)() >= staleAt ? "stale" : "ready";
  }

  /** Fetches a new version now if the map has a URL, and from then on whenever it is due; then checks the file. */
  async refresh(): Promise<void> {
    await this.#fresh?.refresh();
    await this.check();
  }

  /** Reads the file if it changed. Errors are in `state`. */
  check(): Promise<void> {
    return this.#reloading.check();
  }

  /** Stops fetching; waits until pending writes are complete. */
  async stop(): Promise<void> {
    await this.#fresh?.stop();
  }

  /** Undefined also for a file fetched from another URL: it may be another archive's map. */
  async #fetchedStamp(address: string): Promise<FileStamp | undefined> {
    const { path } = this.place;
    const state = await readJson<FetchState>(statePath(path));
    // Another process fetches it, and writes this file each time the archive confirms the map.
    if (this.#fresh === undefined) {
      this.#confirmedAt = (await stampIfThere(statePath(path)))?.mtimeMs ?? 0;
    }
    const isOther = state !== undefined && state.address !== webAddress(address).href;
    return isOther ? undefined : stampIfThere(path);
  }

  async #take({ mtimeMs }: FileStamp): Promise<void> {
    const { path } = this.place;
    try {
      const index = await readMap(path, this.#room());
      const extent =
        index instanceof PackedLookup
          ? packedExtent(index.header)
          : await extentOf(slices(index.bytes));
      if (this.#extent !== undefined && extent !== undefined) {
        refuseShrunk(this.#extent, extent, path, this.#options);
      }
      // An empty map says nothing: the archive is queried as if it had no map.
      if (index.isEmpty) {
        const message = "the map has no records";
        throw new MementoMapError("MM_EMPTY", message, { position: { source: path } });
      }
      this.#map = this.#routedMap(index, mtimeMs);
      this.#extent = extent;
      this.#fetchedAt = mtimeMs;
    } catch (error) {
      // An invalid fetched map is deleted, so that it is fetched again. One that is too large is not.
      const isFaulty =
        isMementoMapError(error) && error.code !== "MM_IO" && error.code !== "MM_LIMIT";
      if (isFaulty && this.isFetched) await this.#remove();
      throw error;
    }
  }

  #routedMap(index: RoutedMap["index"], mtimeMs: number): RoutedMap {
    const { maxMapAgeMs = Infinity } = this.#options;
    const updatedAt = updatedAtOf(index.headers);
    const confirmedAt = (): number => this.#confirmedAt;
    return {
      index,
      updatedAt,
      get staleAt() {
        return Math.max(updatedAt ?? mtimeMs, confirmedAt()) + maxMapAgeMs;
      },
    };
  }

  async #remove(): Promise<void> {
    const { path } = this.place;
    // A file that was not fetched belongs to something else; it must not prevent fetching a map.
    if ((await readJson<FetchState>(statePath(path))) === undefined) return;
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#reloading.fail(ioError(error, path)),
    );
  }
}
