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
import type { HostedMap } from "./hosted-map.ts";
import type { MapVersion } from "./map-version.ts";
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
  const query = new URLSearchParams(exchange.query);
  const unknown = [...query.keys()].find((name) => name !== "map" && name !== "limit");
  if (unknown !== undefined) return problemReply(badRequest("/compare takes map and limit"));
  const ids = [...new Set(query.getAll("map"))];
  const asked = ids.map((id) => site.map(id));
  const missing = asked.indexOf(undefined);
  if (missing !== -1) return problemReply(notFound("there is no map of this name"));
  const maps =
    ids.length === 0
      ? site.maps.filter(({ current }) => !current.isPacked).slice(0, MAX_COMPARED)
      : asked.filter((map) => map !== undefined);
  const limitText = query.get("limit") ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,6}$/.test(limitText) ? Number(limitText) : Number.NaN;
  return withAll(maps, [], async (versions) => {
    const packed = versions.findIndex(({ isPacked }) => isPacked);
    if (packed !== -1) {
      const detail = `${maps[packed].id} is a packed map, whose names are hashed; compare the maps they were made from`;
      return problemReply(badRequest(detail));
    }
    return answer(exchange, maps, versions, limit);
  });
}

/** Runs `use` with the current versions of maps, which stay open until it returns. */
function withAll(
  maps: readonly HostedMap[],
  versions: readonly MapVersion[],
  use: (versions: readonly MapVersion[]) => Promise<Reply>,
): Promise<Reply> {
  const next = maps[versions.length];
  if (next === undefined) return use(versions);
  return next.with((version) => withAll(maps, [...versions, version], use));
}

async function answer(
  exchange: Exchange,
  maps: readonly HostedMap[],
  versions: readonly MapVersion[],
  limit: number,
): Promise<Reply> {
  const name = versions.map(({ version }, index) => `${maps[index].id}.${version}`).join("-");
  const modified = Math.max(0, ...versions.map(({ whole }) => whole.lastModified.getTime()));
  const about = {
    ETag: etagOf(`${name}-compared`),
    "Last-Modified": new Date(modified).toUTCString(),
    "Cache-Control": exchange.cacheControl,
  };
  if (versions[0] !== undefined) {
    const found = { ...versions[0].whole, etag: about.ETag, lastModified: new Date(modified) };
    const outcome = judgeConditions(exchange.request.headers, found);
    if (outcome === "not-modified") return { status: 304, headers: about };
    if (outcome === "precondition-failed") {
      const detail = "a map has changed; ask without a condition";
      return problemReply({ status: 412, title: "Precondition failed", detail });
    }
  }
  try {
    const text = await kept(exchange.site, `${name} ${limit}`, async () => {
      const sources = versions.map(({ whole }, index) => ({
        id: maps[index].id,
        name: whole.body.name,
        chunks: sourceChunks(whole.body),
      }));
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

const KEPT = new WeakMap<Exchange["site"], Kept>();

/** Work that is done once, for all who ask for the same. */
function kept(site: Exchange["site"], name: string, work: () => Promise<string>): Promise<string> {
  const store = KEPT.get(site) ?? { answers: new Map(), last: Promise.resolve() };
  KEPT.set(site, store);
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
