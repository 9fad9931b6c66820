import { isMementoMapError } from "../../errors.ts";
import type { Answer } from "../../map/lookup/lookup.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import type { Exchange } from "./exchange.ts";
import type { HostedMap } from "./hosted-map.ts";
import { badRequest, notFound, type Problem, sendProblem } from "../../http/problem.ts";
import { archiveOf } from "./site.ts";
import { type LookupQuery, lookupQuery } from "../../http/target.ts";

const CACHE_CONTROL = "public, max-age=60";

/** `GET /lookup?url=URI`: what the maps say about one URI, as JSON. */
export function lookup(exchange: Exchange): void | Promise<void> {
  exchange.route = "lookup";
  const { site, metrics, response, isHead } = exchange;
  const query = lookupQuery(exchange.query);
  const problem = faultOf(query, exchange);
  if (problem !== undefined) {
    sendProblem(response, problem, isHead);
    return;
  }
  const url = query.url ?? "";
  const maps = query.map === undefined ? site.maps : site.maps.filter(({ id }) => id === query.map);
  metrics.lookups.inc();
  const [map] = maps;
  if (maps.length === 1 && map.current.index !== undefined) {
    sendAnswers(exchange, url, [{ map, answer: askIndex(map, url, query) }]);
    return;
  }
  return askAll(maps, url, query).then((answers) => {
    sendAnswers(exchange, url, answers);
  });
}

/** What is wrong with the query of a lookup or a batch; the URI is looked at for lookups only. */
export function faultOf(query: LookupQuery, exchange: Exchange): Problem | undefined {
  if (query.url === undefined && exchange.request.method !== "POST") {
    return badRequest("name the URI to look up: /lookup?url=https://example.org/");
  }
  if (query.map !== undefined && exchange.site.map(query.map) === undefined) {
    return notFound("there is no map of this name");
  }
  if (query.at !== undefined && !isTime(query.at)) {
    return badRequest("at= takes 4 to 14 digits of YYYYMMDDhhmmss");
  }
  return undefined;
}

function isTime(text: string): boolean {
  try {
    return parseDatetimeKey(text).from === text;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}

interface MapAnswer {
  readonly map: HostedMap;
  readonly answer: Answer;
}

function askIndex({ current }: HostedMap, url: string, { at, isSurt }: LookupQuery): Answer {
  const { index } = current;
  const answer = isSurt ? index?.lookupSurtSync(url, { at }) : index?.lookupSync(url, { at });
  return answer ?? { present: false };
}

function askAll(
  maps: readonly HostedMap[],
  url: string,
  { at, isSurt }: LookupQuery,
): Promise<MapAnswer[]> {
  return Promise.all(
    maps.map((map) =>
      map.with(async ({ lookup: asked }) => ({
        map,
        answer: await (isSurt ? asked.lookupSurt(url, { at }) : asked.lookup(url, { at })),
      })),
    ),
  );
}

function sendAnswers(exchange: Exchange, url: string, answers: readonly MapAnswer[]): void {
  const { present, key = null, frequency = null, distance = null } = deciding(answers);
  const body = {
    input: url,
    present,
    key,
    frequency,
    distance,
    ...(exchange.site.maps.length === 1 ? {} : { answers: answers.map(described) }),
  };
  const text = `${JSON.stringify(body)}\n`;
  exchange.response.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": CACHE_CONTROL,
  });
  exchange.response.end(exchange.isHead ? undefined : text);
}

/** Of several answers that which says most: present before absent, near before far. */
function deciding(answers: readonly MapAnswer[]): Answer {
  return answers
    .map(({ answer }) => answer)
    .reduce((best, next) => (saysMore(next, best) ? next : best));
}

function saysMore(a: Answer, b: Answer): boolean {
  if (a.present !== b.present) return a.present;
  return (a.distance ?? Infinity) < (b.distance ?? Infinity);
}

function described({ map, answer }: MapAnswer): Record<string, unknown> {
  const { present, key = null, frequency = null, distance = null } = answer;
  return { map: map.id, archive: archiveOf(map) ?? null, present, key, frequency, distance };
}
