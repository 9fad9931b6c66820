import type { IncomingHttpHeaders } from "node:http";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { isMementoMapError } from "../../errors.ts";
import {
  badRequest,
  etagOf,
  judgeConditions,
  notFound,
  problemReply,
  type Reply,
  textReply,
} from "../../http/reply.ts";
import type { MapSlice, SliceOptions } from "../../maps/explore/map-slice.ts";
import type { PackedHoldings } from "../../maps/explore/packed-holdings.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { MapVersion } from "./map-version.ts";
import type { Exchange } from "./site.ts";

/** A map, as it is now, that people explore and compare with others. */
export interface ExploredMap {
  readonly id: string;
  /** Of the content: another map has another. */
  readonly version: string;
  readonly lastModified: Date;
  /** Its bytes; undefined for a packed map, whose names are hashed. */
  readonly text: ByteSource | undefined;
  explore(options: SliceOptions): Promise<MapSlice | PackedHoldings>;
}

/** What is asked of maps that are explored or compared. */
export interface HoldingsRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly cacheControl: string;
}

export function exploredMap({ id }: HostedMap, version: MapVersion): ExploredMap {
  return {
    id,
    version: version.version,
    lastModified: version.whole.lastModified,
    text: version.isPacked ? undefined : version.whole.body,
    explore: (options) => version.explore(options),
  };
}

export function holdingsRequest({ request, query, cacheControl }: Exchange): HoldingsRequest {
  return { headers: request.headers, query: new URLSearchParams(query), cacheControl };
}

/** What `/explore` can be asked. */
export const EXPLORE_QUERY: Readonly<Record<string, string>> = {
  prefix: "What keys begin with: com, or com,example, or com,example)/a/",
  search: "List the parts below whose names have this text",
  sort: "captures (default) or key",
  limit: "Children at most; 200 by default, 1,000 at most",
  depth: "Levels of children, 1 (default) to 3",
  from: "Where to continue, as next has it",
  map: "The map to explore; the first by default",
};

/** `GET /explore?prefix=com,example,`: a part of a map and its children, as JSON. */
export async function explore(exchange: Exchange): Promise<Reply> {
  const { site } = exchange;
  const request = holdingsRequest(exchange);
  const id = request.query.get("map");
  const map = id === null ? site.maps[0] : site.map(id);
  if (map === undefined) return problemReply(notFound("there is no map of this name"));
  return map.with((version) => exploreReply(exploredMap(map, version), request));
}

/** A part of a map and its children, as JSON. */
export async function exploreReply(
  map: ExploredMap,
  { headers, query, cacheControl }: HoldingsRequest,
): Promise<Reply> {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(EXPLORE_QUERY, name));
  if (unknown !== undefined) {
    return problemReply(badRequest(`/explore takes ${Object.keys(EXPLORE_QUERY).join(", ")}`));
  }
  const etag = etagOf(`${map.version}-slice`);
  const about = {
    ETag: etag,
    "Last-Modified": map.lastModified.toUTCString(),
    "Cache-Control": cacheControl,
  };
  const outcome = judgeConditions(headers, { etag, lastModified: map.lastModified });
  if (outcome === "not-modified") return { status: 304, headers: about };
  if (outcome === "precondition-failed") {
    const detail = "the map has changed; ask without a condition";
    return problemReply({ status: 412, title: "Precondition failed", detail });
  }
  try {
    return await sliceReply(map, query, about);
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_USAGE") throw error;
    return problemReply(badRequest(error.message));
  }
}

async function sliceReply(
  map: ExploredMap,
  query: URLSearchParams,
  about: Record<string, string>,
): Promise<Reply> {
  const slice = await map.explore(sliceOptions(query));
  if (slice.form === "packed") {
    return textReply("application/json", `${JSON.stringify({ map: map.id, ...slice })}\n`, about);
  }
  if (slice.rows === 0 && slice.prefix !== "") {
    return problemReply(notFound("no key of the map begins with this prefix"));
  }
  const next = slice.next === null ? null : nextLink(query, slice.next);
  const body = { map: map.id, ...slice, next };
  return textReply("application/json", `${JSON.stringify(body)}\n`, about);
}

function sliceOptions(query: URLSearchParams): SliceOptions {
  const sort = query.get("sort");
  return {
    prefix: query.get("prefix") ?? undefined,
    // What is not a number or an order is refused where slices are made.
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

/** Where the next children are, relative to the address of these. */
function nextLink(query: URLSearchParams, from: string): string {
  const next = new URLSearchParams(query);
  next.set("from", from);
  return `?${next.toString()}`;
}
