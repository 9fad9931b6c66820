import { sourceChunks } from "../../bytes/byte-source.ts";
import { isMementoMapError } from "../../errors.ts";
import {
  badRequest,
  etagOf,
  judgeConditions,
  notFound,
  type Problem,
  problemReply,
  type Reply,
  textReply,
} from "../../http/reply.ts";
import { compareMaps, MAX_LIMIT } from "../../maps/compare/compare-maps.ts";
import type { MapComparison } from "../../maps/compare/comparison.ts";
import { MAX_COMPARED } from "../../maps/compare/overlap.ts";
import {
  type ExploredMap,
  exploredMap,
  type HoldingsRequest,
  holdingsRequest,
} from "./answer-explore.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { Exchange } from "./site.ts";

/** What `/compare` can be asked. */
export const COMPARE_QUERY: Readonly<Record<string, string>> = {
  map: "A map to compare, 2 to 8 times; all by default",
  limit: "Domains of each list; 100 by default, 1,000 at most",
};

const DEFAULT_LIMIT = 100;
/** Comparisons that are kept, and those that may be pending. */
const MAX_KEPT = 8;
const MAX_PENDING = 4;

/**
 * `GET /compare?map=a&map=b`: what maps have in common, and what only one holds, as JSON. All maps of the server
 * by default.
 */
export async function compare(exchange: Exchange): Promise<Reply> {
  const { site } = exchange;
  const request = holdingsRequest(exchange);
  const chosen = chooseMaps(
    site.maps.map((map) => ({ ...exploredMap(map, map.current), map })),
    request.query,
  );
  if (chosen === undefined) return problemReply(notFound("there is no map of this name"));
  const maps = chosen.map(({ map }) => map);
  return withAll(maps, [], (explored) => compareReply(site, explored, request));
}

/** The maps that a request names, or by default all in text; undefined where one is none of these. */
export function chooseMaps<Map extends ExploredMap>(
  maps: readonly Map[],
  query: URLSearchParams,
): readonly Map[] | undefined {
  const ids = [...new Set(query.getAll("map"))];
  if (ids.length === 0) return maps.filter(({ text }) => text !== undefined).slice(0, MAX_COMPARED);
  const asked = ids.flatMap((id) => maps.find((map) => map.id === id) ?? []);
  return asked.length === ids.length ? asked : undefined;
}

/** Runs `use` with the current versions of maps, which stay open until it returns. */
function withAll(
  maps: readonly HostedMap[],
  explored: readonly ExploredMap[],
  use: (explored: readonly ExploredMap[]) => Promise<Reply>,
): Promise<Reply> {
  const next = maps[explored.length];
  if (next === undefined) return use(explored);
  return next.with((version) => withAll(maps, [...explored, exploredMap(next, version)], use));
}

/**
 * What maps have in common, and what only one holds, as JSON.
 *
 * @param owner whose maps they are: answers are kept for it, and made one after the other.
 */
export async function compareReply(
  owner: object,
  maps: readonly ExploredMap[],
  { headers, query, cacheControl }: HoldingsRequest,
): Promise<Reply> {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(COMPARE_QUERY, name));
  if (unknown !== undefined) return problemReply(badRequest("/compare takes map and limit"));
  const packed = maps.find(({ text }) => text === undefined);
  if (packed !== undefined) {
    const detail = `${packed.id} is a packed map, whose names are hashed; compare the maps they were made from`;
    return problemReply(badRequest(detail));
  }
  const limit = Number(query.get("limit") ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    return problemReply(badRequest(`limit takes 1 to ${MAX_LIMIT}`));
  }
  const name = maps.map(({ id, version }) => `${id}.${version}`).join("-");
  const etag = etagOf(`${name}-compared`);
  const lastModified = new Date(Math.max(0, ...maps.map((map) => map.lastModified.getTime())));
  const about = {
    ETag: etag,
    "Last-Modified": lastModified.toUTCString(),
    "Cache-Control": cacheControl,
  };
  const outcome = maps.length === 0 ? "send" : judgeConditions(headers, { etag, lastModified });
  if (outcome === "not-modified") return { status: 304, headers: about };
  if (outcome === "precondition-failed") {
    const detail = "a map has changed; ask without a condition";
    return problemReply({ status: 412, title: "Precondition failed", detail });
  }
  const comparison = kept(owner, name, () =>
    compareMaps(
      maps.flatMap(({ id, text: map }) =>
        map === undefined ? [] : { id, name: map.name, chunks: sourceChunks(map) },
      ),
      { limit: MAX_LIMIT },
    ),
  );
  if (comparison === undefined) return problemReply(TOO_MANY);
  try {
    const found = await comparison;
    const answer = {
      ...found,
      tlds: found.tlds.slice(0, limit),
      largest: found.largest.slice(0, limit),
      differing: found.differing.slice(0, limit),
      only: found.only.map(({ map, domains }) => ({ map, domains: domains.slice(0, limit) })),
    };
    return textReply("application/json", `${JSON.stringify(answer)}\n`, about);
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_USAGE") throw error;
    return problemReply(badRequest(error.message));
  }
}

const TOO_MANY: Problem = {
  status: 503,
  title: "Too busy",
  detail: "too many other comparisons are to be made; try again in a minute",
  headers: { "Retry-After": "60" },
};

interface Kept {
  readonly comparisons: Map<string, Promise<MapComparison>>;
  /** Comparisons read whole maps: one at a time. */
  last: Promise<unknown>;
  pending: number;
}

const KEPT = new WeakMap<object, Kept>();

/** A comparison that is made once, for all who ask for the same; undefined if too many are pending. */
function kept(
  owner: object,
  name: string,
  compareNow: () => Promise<MapComparison>,
): Promise<MapComparison> | undefined {
  const store = KEPT.get(owner) ?? { comparisons: new Map(), last: Promise.resolve(), pending: 0 };
  KEPT.set(owner, store);
  const { comparisons } = store;
  const known = comparisons.get(name);
  if (known !== undefined) return known;
  if (store.pending >= MAX_PENDING) return undefined;
  store.pending += 1;
  const made = store.last.then(compareNow).finally(() => (store.pending -= 1));
  store.last = made.catch(() => comparisons.delete(name));
  comparisons.set(name, made);
  for (const oldest of comparisons.keys()) {
    if (comparisons.size <= MAX_KEPT) break;
    comparisons.delete(oldest);
  }
  return made;
}
