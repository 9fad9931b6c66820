import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import { type ByteSource, sourceChunks } from "../../bytes/byte-source.ts";
import {
  badRequest,
  etagOf,
  evaluateConditions,
  notFound,
  type Problem,
  problemReply,
  type Reply,
  textReply,
} from "../../http/reply.ts";
import { requestFault } from "../../http/service.ts";
import { compareMaps } from "../../maps/compare/compare-maps.ts";
import type { MapComparison } from "../../maps/compare/comparison.ts";
import { MAX_COMPARED } from "../../maps/compare/overlap.ts";
import type { MapSlice, SliceOptions } from "../../maps/explore/map-slice.ts";
import type { PackedHoldings } from "../../maps/explore/packed-holdings.ts";

/** The current version of a map, to explore and compare. */
export interface ExploredMap {
  readonly id: string;
  /** Identifies the content. */
  readonly version: string;
  readonly lastModified: Date;
  /** Its bytes; undefined for a packed map, whose names are hashed. */
  readonly text: ByteSource | undefined;
  explore(options: SliceOptions): Promise<MapSlice | PackedHoldings>;
}

export type HoldingsView = "explore" | "compare";

/** The parameters of each view. */
export const HOLDINGS_QUERY: Readonly<Record<HoldingsView, Readonly<Record<string, string>>>> = {
  explore: {
    prefix: "Key prefix: com, or com,example, or com,example)/a/",
    search: "List the parts below whose names contain this text",
    sort: "captures (default) or key",
    limit: "Maximum number of children; default 200, at most 1,000",
    depth: "Levels of children, 1 (default) to 3",
    from: "Where to continue: the value from next",
    map: "The map to explore; the first by default",
  },
  compare: {
    map: "A map to compare, 2 to 8 times; all by default",
  },
};

export interface HoldingsRequest {
  readonly view: HoldingsView;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly cacheControl: string;
}

/** Maps to explore and compare, with a cache of recent comparisons. */
export class Holdings {
  readonly #comparisons = new Comparisons();

  /** A part of a map and its children, or the overlap of maps, as JSON. */
  async reply(maps: readonly ExploredMap[], request: HoldingsRequest): Promise<Reply> {
    const { view, query } = request;
    const names = Object.keys(HOLDINGS_QUERY[view]);
    if (![...query.keys()].every((name) => names.includes(name))) {
      return problemReply(badRequest(`/${view} takes ${names.join(", ")}`));
    }
    const ids = [...new Set(query.getAll("map"))];
    const named = ids.flatMap((id) => maps.find((map) => map.id === id) ?? []);
    const texts = maps.filter(({ text }) => text !== undefined);
    const all = view === "explore" ? maps.slice(0, 1) : texts.slice(0, MAX_COMPARED);
    const chosen = ids.length === 0 ? all : named;
    if (named.length < ids.length || (view === "explore" && chosen.length === 0)) {
      return problemReply(notFound("there is no map of this name"));
    }
    return view === "explore"
      ? exploreReply(chosen[0], request)
      : this.#compareReply(chosen, request);
  }

  async #compareReply(maps: readonly ExploredMap[], request: HoldingsRequest): Promise<Reply> {
    const packed = maps.find(({ text }) => text === undefined);
    if (packed !== undefined) {
      const detail = `${packed.id} is a packed map, whose names are hashed; compare its source map instead`;
      return problemReply(badRequest(detail));
    }
    return jsonReply(maps, request, async (reply) => {
      const found = await this.#comparisons.of(maps);
      return found === undefined ? problemReply(TOO_MANY) : reply(found);
    });
  }
}

/** Limits on cached and pending comparisons. */
const MAX_CACHED = 8;
const MAX_PENDING = 4;

const TOO_MANY: Problem = {
  status: 503,
  title: "Too busy",
  detail: "too many comparisons are pending; retry in a minute",
  headers: { "Retry-After": "60" },
};

/** Comparisons read whole maps: identical requests share one, and only one runs at a time. */
class Comparisons {
  readonly #cache = new LRUCache<string, Promise<MapComparison>>({ max: MAX_CACHED });
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Undefined if too many are pending. */
  of(maps: readonly ExploredMap[]): Promise<MapComparison> | undefined {
    const name = versionsOf(maps);
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    if (this.#pending >= MAX_PENDING) return undefined;
    this.#pending += 1;
    const texts = maps.flatMap(({ id, text }) =>
      text === undefined ? [] : { id, name: text.name, chunks: sourceChunks(text) },
    );
    const made = this.#last.then(() => compareMaps(texts)).finally(() => (this.#pending -= 1));
    this.#last = made.catch(() => this.#cache.delete(name));
    this.#cache.set(name, made);
    return made;
  }
}

function exploreReply(map: ExploredMap, request: HoldingsRequest): Promise<Reply> {
  const { query } = request;
  return jsonReply([map], request, async (reply) => {
    const slice = await map.explore(sliceOptions(query));
    if (slice.form === "packed") return reply({ map: map.id, ...slice });
    if (slice.rows === 0 && slice.prefix !== "") {
      return problemReply(notFound("no key of the map begins with this prefix"));
    }
    const next = slice.next === null ? null : nextLink(query, slice.next);
    return reply({ map: map.id, ...slice, next });
  });
}

function sliceOptions(query: URLSearchParams): SliceOptions {
  const sort = query.get("sort");
  return {
    prefix: query.get("prefix") ?? undefined,
    // Invalid numbers and orders are rejected by `slice`.
    sort: sort === null ? undefined : (sort as SliceOptions["sort"]),
    limit: numberOf(query.get("limit")),
    depth: numberOf(query.get("depth")),
    search: query.get("search") ?? undefined,
    from: query.get("from") ?? undefined,
  };
}

function numberOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  return /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
}

/** The link to the next children, relative to the current address. */
function nextLink(query: URLSearchParams, from: string): string {
  const next = new URLSearchParams(query);
  next.set("from", from);
  return `?${next.toString()}`;
}

/** Answers a conditional request about the current versions of maps. */
async function jsonReply(
  maps: readonly ExploredMap[],
  { view, headers, cacheControl }: HoldingsRequest,
  answer: (reply: (value: object) => Reply) => Promise<Reply>,
): Promise<Reply> {
  const found = {
    etag: etagOf(`${versionsOf(maps)}-${view}`),
    lastModified: new Date(Math.max(0, ...maps.map((map) => map.lastModified.getTime()))),
  };
  const about = {
    ETag: found.etag,
    "Last-Modified": found.lastModified.toUTCString(),
    "Cache-Control": cacheControl,
  };
  const outcome = maps.length === 0 ? "send" : evaluateConditions(headers, found);
  if (outcome === "not-modified") return { status: 304, headers: about };
  if (outcome === "precondition-failed") {
    const detail = "a map has changed; repeat the request without conditions";
    return problemReply({ status: 412, title: "Precondition failed", detail });
  }
  try {
    return await answer((value) =>
      textReply("application/json", `${JSON.stringify(value)}\n`, about),
    );
  } catch (error) {
    return requestFault(error, "MM_USAGE");
  }
}

function versionsOf(maps: readonly ExploredMap[]): string {
  return maps.map(({ id, version }) => `${id}.${version}`).join("-");
}
