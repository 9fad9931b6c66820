import type { IncomingHttpHeaders } from "node:http";
import { type ByteSource, MemorySource } from "../../bytes/byte-source.ts";
import { FileSource } from "../../files/input-file.ts";
import type { Reply } from "../../http/reply.ts";
import { MapExplorer } from "../../maps/explore/map-explorer.ts";
import { packedHoldings } from "../../maps/explore/packed-holdings.ts";
import type { MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { type ExploredMap, Holdings, type HoldingsView } from "../../publish/serve/holdings.ts";
import { pause } from "../route/read-map.ts";
import type { HeldMap, MapKeeper } from "../route/map-keeper.ts";

/** Maps change at most as often as the keeper checks for new ones. */
const CACHE_CONTROL = "no-cache";

/** Explores and compares the loaded maps. Holds about 1 % of each map that was explored. */
export class HeldMaps {
  readonly #keeper: MapKeeper;
  readonly #holdings = new Holdings();
  readonly #explorers = new WeakMap<MemoryIndex, Promise<MapExplorer>>();

  constructor(keeper: MapKeeper) {
    this.#keeper = keeper;
  }

  /** A part of a map and its children, or the overlap of maps, as JSON. */
  answer(view: HoldingsView, headers: IncomingHttpHeaders, query: URLSearchParams): Promise<Reply> {
    const maps = this.#keeper.held().map((held) => this.#explored(held));
    return this.#holdings.reply(maps, { view, headers, query, cacheControl: CACHE_CONTROL });
  }

  #explored({ archive: { id }, map, state, place: { path } }: HeldMap): ExploredMap {
    const { index } = map;
    const { fetchedAt = 0, bytes, keys } = state;
    const about = {
      id,
      version: `${fetchedAt.toString(36)}-${bytes.toString(36)}-${keys.toString(36)}`,
      lastModified: new Date(fetchedAt),
    };
    if (index instanceof PackedLookup) {
      return { ...about, text: undefined, explore: () => holdingsOf(path) };
    }
    const text = withPauses(new MemorySource(index.bytes, id));
    return {
      ...about,
      text,
      explore: async (options) => (await this.#explorerOf(index, text)).slice(options),
    };
  }

  #explorerOf(index: MemoryIndex, source: ByteSource): Promise<MapExplorer> {
    let opening = this.#explorers.get(index);
    if (opening === undefined) {
      opening = MapExplorer.open(source);
      this.#explorers.set(index, opening);
      opening.catch(() => this.#explorers.delete(index));
    }
    return opening;
  }
}

/** The holdings of a packed map, from the headers of its file. */
async function holdingsOf(path: string): ReturnType<typeof packedHoldings> {
  const source = await FileSource.open(path);
  try {
    return await packedHoldings(source);
  } finally {
    await source.close();
  }
}

/** Reads from memory never wait; the pauses let lookups run in between. */
function withPauses(source: ByteSource): ByteSource {
  return {
    name: source.name,
    size: source.size,
    async read(offset, length, signal) {
      await pause();
      return source.read(offset, length, signal);
    },
  };
}
