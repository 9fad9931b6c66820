import { sourceChunks } from "../../bytes/byte-source.ts";
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
import { compareMaps } from "../../map/compare/compare-maps.ts";
import { MAX_COMPARED } from "../../map/compare/overlap.ts";
import {
  type ExploredMap,
  exploredMap,
  type HoldingsRequest,
  holdingsRequest,
} from "./answer-explore.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { Exchange } from "./site.ts";

const DEFAULT_LIMIT = 100;
/** Answers kept: of the maps of one server there are but a few. */
const MOST_KEPT = 16;

/**
 * `GET /compare?map=a&map=b`: what maps have in common, and what only one holds, as JSON. All maps of the server
 * by default.
 */
export async function compare(exchange: Exchange): Promise<Reply> {
  exchange.route = "compare";
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
  const unknown = [...query.keys()].find((name) => name !== "map" && name !== "limit");
  if (unknown !== undefined) return problemReply(badRequest("/compare takes map and limit"));
  const packed = maps.find(({ text }) => text === undefined);
  if (packed !== undefined) {
    const detail = `${packed.id} is a packed map, whose names are hashed; compare the maps they were made from`;
    return problemReply(badRequest(detail));
  }
  const limitText = query.get("limit") ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,6}$/.test(limitText) ? Number(limitText) : Number.NaN;
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
  try {
    const text = await kept(owner, `${name} ${limit}`, async () => {
      const sources = maps.flatMap(({ id, text: map }) =>
        map === undefined ? [] : { id, name: map.name, chunks: sourceChunks(map) },
      );
      return `${JSON.stringify(await compareMaps(sources, { limit }))}\n`;
    });
    return textReply("application/json", text, about);
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_USAGE") throw error;
    return problemReply(badRequest(error.message));
  }
}

interface Kept {
  readonly answers: Map<string, Promise<string>>;
  /** Comparisons read whole maps: one at a time. */
  last: Promise<unknown>;
}

const KEPT = new WeakMap<object, Kept>();

/** Work that is done once, for all who ask for the same. */
function kept(owner: object, name: string, work: () => Promise<string>): Promise<string> {
  const store = KEPT.get(owner) ?? { answers: new Map(), last: Promise.resolve() };
  KEPT.set(owner, store);
  const known = store.answers.get(name);
  if (known !== undefined) return known;
  const made = store.last.then(work);
  store.last = made.catch(() => undefined);
  store.answers.set(name, made);
  made.catch(() => store.answers.delete(name));
  for (const oldest of store.answers.keys()) {
    if (store.answers.size <= MOST_KEPT) break;
    store.answers.delete(oldest);
  }
  return made;
}
