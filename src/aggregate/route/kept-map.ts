import { formatBytes } from "../../format.ts";
import { updatedAtOf } from "../../ukvs/head.ts";
import { readFile, rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { ioError, isMementoMapError, MementoMapError } from "../../errors.ts";
import { isPacked, recognizeCompression } from "../../bytes/bytes.ts";
import type { Archive } from "./archive.ts";
import type { StaleMap } from "../learn/map-trust.ts";
import type { RoutedMap } from "./routed-map.ts";
import { webAddress } from "../../publish/fetch/discover.ts";
import { type FileStamp, readJson, stampIfThere, stampOf } from "../../files/shared-files.ts";
import { Reloading } from "../../files/reloading.ts";
import { type FetchState, statePath } from "../../publish/fetch/download.ts";
import { FreshMap, type FreshMapOptions } from "../../publish/fetch/fresh-map.ts";
import {
  extentOf,
  type MapExtent,
  type MapGuardOptions,
  packedExtent,
  refuseShrunk,
} from "../../maps/map-guard.ts";
import { MAX_INDEX_BYTES, MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { validateMap } from "../../maps/validate-map.ts";
import { decompressed } from "../../files/decompress.ts";

/** Where a map comes from, and the file it is in. */
export interface MapPlace {
  readonly path: string;
  /** Where it is fetched from; undefined for a file that others write. */
  readonly address?: string | undefined;
  readonly isDirect?: FreshMapOptions["isDirect"];
}

/** How the map of an archive is, for those who look after the service. */
export interface MapState {
  readonly archive: Archive;
  /**
   * `failed`: there is no map to go by. `stale`: too old to be believed where it says absent, or
   * {@link contradicted}.
   */
  readonly status: "loading" | "ready" | "stale" | "failed";
  /** Of the map in use; 0 when there is none. */
  readonly keys: number;
  readonly bytes: number;
  /** Whether the map in use is packed. */
  readonly isPacked?: boolean | undefined;
  /** When the map says it was made, in milliseconds since 1970. */
  readonly updatedAt: number | undefined;
  /** When its file was written, in milliseconds since 1970. */
  readonly fetchedAt: number | undefined;
  /** What went wrong last, until something goes well; an older map may be in use. */
  readonly error: string | undefined;
  /** Times a new map could not be fetched or was refused. */
  readonly failures: number;
  /** That answers contradict the map, since when and where; what was learnt decides then. */
  readonly contradicted?: StaleMap | undefined;
}

/** How maps are kept. */
export interface KeptMapOptions extends MapGuardOptions {
  /** Older maps are not believed where they say absent; default that age does not matter. */
  readonly maxMapAgeMs?: number | undefined;
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
}

/**
 * Keeps the map of one archive in memory, in whatever version its file has.
 *
 * A new version is read beside the old one, and takes its place only if nothing is wrong with it.
 */
export class KeptMap {
  /** As the list has it now. */
  archive: Archive;
  readonly place: MapPlace;
  readonly #options: KeptMapOptions;
  /** How many bytes the map may have, decompressed. */
  readonly #room: () => number;
  readonly #fresh: FreshMap | undefined;
  readonly #reloading: Reloading<FileStamp>;
  #map: RoutedMap | undefined;
  /** What the map in use holds. */
  #extent: MapExtent | undefined;
  #fetchedAt: number | undefined;
  #failures = 0;
  /** When the archive last gave the map, or said that it is unchanged. */
  #confirmedAt = 0;

  /** @param onChange called when another map is in use. */
  constructor(
    archive: Archive,
    place: MapPlace,
    options: KeptMapOptions,
    {
      room = () => MAX_INDEX_BYTES,
      onChange,
    }: { readonly room?: () => number; readonly onChange: () => void },
  ) {
    this.archive = archive;
    this.place = place;
    this.#options = options;
    this.#room = room;
    this.#reloading = new Reloading({
      source: place.path,
      // A map that was not fetched yet is not a fault.
      stamp: () => (place.address === undefined ? stampOf(place.path) : this.#fetchedStamp()),
      take: async (stamp) => {
        await this.#take(stamp);
        onChange();
      },
      onFailure: (error, isNews) => {
        this.#failures += 1;
        if (isNews) options.onFailure?.(this.archive, error);
      },
    });
    if (place.address === undefined || options.isFetching === false) return;
    this.#fresh = new FreshMap(place.address, place.path, {
      maxShrink: options.maxShrink,
      ...options.fetch,
      isDirect: place.isDirect,
      onAnswered: ({ status }) => {
        this.#confirmedAt = (options.now ?? Date.now)();
        // A new version clears the error when it is in use.
        if (status !== "fetched") this.#reloading.confirm();
      },
      onFailure: (error) => this.#reloading.fail(error),
    });
  }

  /** Whether the map is one that is fetched. */
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

  /**
   * Asks for a new version now, where the map is one to be fetched, and from then on whenever it is due; and
   * looks at the file.
   */
  async refresh(): Promise<void> {
    await this.#fresh?.refresh();
    await this.check();
  }

  /** Takes the map of the file if it is another than before. What is wrong with it is in `state`. */
  check(): Promise<void> {
    return this.#reloading.check();
  }

  /** Fetches no more; waits until the file is no longer written to. */
  async stop(): Promise<void> {
    await this.#fresh?.stop();
  }

  #status(): MapState["status"] {
    if (this.#map === undefined) return this.#reloading.error === undefined ? "loading" : "failed";
    const { now = Date.now } = this.#options;
    const { staleAt } = this.#map;
    return staleAt !== undefined && now() >= staleAt ? "stale" : "ready";
  }

  /** Undefined also for a file that was fetched from elsewhere: it may be another archive's map. */
  async #fetchedStamp(): Promise<FileStamp | undefined> {
    const { path, address = "" } = this.place;
    const state = await readJson<FetchState>(statePath(path));
    // Another process fetches it, and writes this file whenever the archive has confirmed the map.
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
      if (index.isEmpty) throw noRecords(path);
      this.#map = this.#routedMap(index, mtimeMs);
      this.#extent = extent;
      this.#fetchedAt = mtimeMs;
    } catch (error) {
      // A fetched map with faults is of no use: without it, it is fetched again. One that is too large is not.
      const isFaulty =
        isMementoMapError(error) && error.code !== "MM_IO" && error.code !== "MM_LIMIT";
      if (isFaulty && this.#fresh !== undefined) await this.#remove();
      throw error;
    }
  }

  #routedMap(index: RoutedMap["index"], mtimeMs: number): RoutedMap {
    const { maxMapAgeMs = Infinity } = this.#options;
    const updatedAt = updatedAtOf(index.headers);
    const madeAt = updatedAt ?? mtimeMs;
    const confirmedAt = (): number => this.#confirmedAt;
    return {
      index,
      updatedAt,
      get staleAt() {
        return Math.max(madeAt, confirmedAt()) + maxMapAgeMs;
      },
    };
  }

  async #remove(): Promise<void> {
    const { path } = this.place;
    // A file that was not fetched belongs to somebody else; it does not keep a map from being fetched.
    if ((await readJson<FetchState>(statePath(path))) === undefined) return;
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#reloading.fail(ioError(error, path)),
    );
  }
}

/** Without a record, nothing is known: the archive is asked as one that has no map. */
function noRecords(path: string): MementoMapError {
  return new MementoMapError("MM_EMPTY", "the map has no records, so nothing is known from it", {
    position: { source: path },
  });
}

/** Little enough to be checked in a few milliseconds. */
const SLICE_BYTES = 64 * 1024;

/** Lets others have their turn. */
export async function pause(): Promise<void> {
  await setImmediate();
}

/**
 * Reads a map, checks every line of it, and indexes it, without ever standing in the way for longer
 * than a few milliseconds.
 *
 * Holds the map and its index; of a packed map, its bytes.
 *
 * @throws MM_IO; MM_BAD_INPUT with the first fault; MM_CUT; MM_LIMIT for maps that are larger.
 */
export async function readMap(
  path: string,
  maxBytes: number = MAX_INDEX_BYTES,
): Promise<RoutedMap["index"]> {
  const bytes = await plainBytes(path, Math.min(MAX_INDEX_BYTES, maxBytes));
  if (isPacked(bytes)) return PackedLookup.ofInSlices(bytes, { source: path, pause });
  await check(bytes, path);
  return MemoryIndex.buildInSlices(bytes, { source: path, pause });
}

async function check(bytes: Uint8Array, path: string): Promise<void> {
  for await (const { line, message } of validateMap(slices(bytes), { isOnlyErrors: true })) {
    throw new MementoMapError("MM_BAD_INPUT", `the map has a fault: ${message}`, {
      position: { source: path, line },
    });
  }
}

async function plainBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  if (((await stampIfThere(path))?.size ?? 0) > maxBytes) throw tooLarge(path, maxBytes);
  const stored = await readFile(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (recognizeCompression(stored) === undefined) return stored;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of decompressed(slices(stored), { source: path })) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(path, maxBytes);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

function tooLarge(path: string, maxBytes: number): MementoMapError {
  return new MementoMapError(
    "MM_LIMIT",
    `the map is larger than the ${formatBytes(maxBytes)} that are left for it; see the setting map-memory`,
    { position: { source: path } },
  );
}

/** Bytes in parts, with a pause behind each. */
async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await pause();
  }
}
