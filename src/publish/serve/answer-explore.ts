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
import type { SliceOptions } from "../../map/explore/map-slice.ts";
import type { MapVersion } from "./map-version.ts";
import type { Exchange } from "./site.ts";

const PARAMETERS = ["prefix", "search", "sort", "limit", "depth", "from", "map"] as const;

/** `GET /explore?prefix=com,example,`: a part of a map and its children, as JSON. */
export async function explore(exchange: Exchange): Promise<Reply> {
  exchange.route = "explore";
  const { site } = exchange;
  const query = new URLSearchParams(exchange.query);
  const id = query.get("map");
  const map = id === null ? site.maps[0] : site.map(id);
  if (map === undefined) return problemReply(notFound("there is no map of this name"));
  const unknown = [...query.keys()].find((name) => !PARAMETERS.some((known) => known === name));
  if (unknown !== undefined) {
    return problemReply(badRequest(`/explore takes ${PARAMETERS.join(", ")}`));
  }
  return map.with(async (version) => {
    const about = {
      ETag: etagOf(`${version.version}-slice`),
      "Last-Modified": version.whole.lastModified.toUTCString(),
      "Cache-Control": exchange.cacheControl,
    };
    const found = { ...version.whole, etag: about.ETag };
    const outcome = judgeConditions(exchange.request.headers, found);
    if (outcome === "not-modified") return { status: 304, headers: about };
    if (outcome === "precondition-failed") {
      const detail = "the map has changed; ask without a condition";
      return problemReply({ status: 412, title: "Precondition failed", detail });
    }
    try {
      return await sliceReply(version, { query, map: map.id, about });
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_USAGE") throw error;
      return problemReply(badRequest(error.message));
    }
  });
}

async function sliceReply(
  version: MapVersion,
  request: {
    readonly query: URLSearchParams;
    readonly map: string;
    readonly about: Record<string, string>;
  },
): Promise<Reply> {
  const { query, map, about } = request;
  const slice = await version.explore(sliceOptions(query));
  if (slice.form === "packed") {
    return textReply("application/json", `${JSON.stringify({ map, ...slice })}\n`, about);
  }
  if (slice.rows === 0 && slice.prefix !== "") {
    return problemReply(notFound("no key of the map begins with this prefix"));
  }
  const next = slice.next === null ? null : nextLink(query, slice.next);
  return textReply("application/json", `${JSON.stringify({ map, ...slice, next })}\n`, about);
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
