import { updatedAtOf } from "../../ukvs/head.ts";
import { type Exchange, linkValues, type Site, WELL_KNOWN_PATH } from "./site.ts";
import type { ExploredMap, HoldingsView } from "./holdings.ts";
import type { HostedMap } from "./hosted-map.ts";
import { type MapVersion, pageLinks } from "./map-version.ts";
import {
  badRequest,
  notFound,
  problemReply,
  prefersPacked,
  type Reply,
  type ReplyHeaders,
  representationReply,
  textReply,
} from "../../http/reply.ts";
import { pageNumber } from "../../http/target.ts";
import type { ReadMetric } from "../../http/metrics.ts";

/** The map of this host's archive. */
export function wellKnown(exchange: Exchange): Reply | Promise<Reply> {
  const map = exchange.site.ownMap(exchange.client.host);
  if (map !== undefined) return mapReply(exchange, map);
  return problemReply(notFound("this site publishes maps of other archives only; see the links"));
}

export function mapById(exchange: Exchange, id: string): Reply | Promise<Reply> {
  const map = exchange.site.map(id);
  return map === undefined
    ? problemReply(notFound("there is no map of this name"))
    : mapReply(exchange, map);
}

/** All maps as a set of links (RFC 9264), however many there are. */
export function mapList(exchange: Exchange): Reply {
  const links = exchange.site.links(exchange.client);
  // A map that names no archive is listed all the same.
  const lines = links.flatMap((link) => {
    const values = linkValues(link);
    return values.length === 0 ? [`<${link.href}>; rel="item"`] : values;
  });
  return textReply("application/linkset", `${lines.join(",\n")}\n`, {
    "Cache-Control": exchange.cacheControl,
  });
}

/** The map or a page of it. The version stays open until it is sent. */
async function mapReply(exchange: Exchange, map: HostedMap): Promise<Reply> {
  const number = pageNumber(exchange.query);
  const isPackedWanted = number === undefined && prefersPacked(exchange.request.headers.accept);
  const form = isPackedWanted ? (map.packed ?? map.current) : map.current;
  const version = form.retain();
  const release = (): Promise<void> => version.release();
  let isSent = false;
  try {
    const reply =
      number === undefined
        ? wholeReply(exchange, version, map.packed === undefined ? {} : VARY_BY_FORM)
        : await pageReply(exchange, version, number);
    isSent = typeof reply.body === "object";
    return isSent ? { ...reply, release } : reply;
  } finally {
    if (!isSent) await release();
  }
}

/** For maps with two forms. */
const VARY_BY_FORM = { Vary: "Accept, Accept-Encoding" };

function wholeReply(exchange: Exchange, version: MapVersion, more: ReplyHeaders): Reply {
  const { request, cacheControl } = exchange;
  const found = version.chosen(acceptedEncodings(exchange));
  const digest = Buffer.from(version.digest, "hex").toString("base64");
  return representationReply(request, found, {
    "Cache-Control": cacheControl,
    ...more,
    ...(found.encoding === undefined ? { "Repr-Digest": `sha-256=:${digest}:` } : {}),
  });
}

async function pageReply(exchange: Exchange, version: MapVersion, number: number): Promise<Reply> {
  exchange.route = "page";
  const { request, client, site, cacheControl } = exchange;
  if (version.isPacked) return problemReply(notFound("a packed map has no pages"));
  const of = version.survey.plan.pages.length;
  const detail = `pages are numbered from 1 to ${of}`;
  if (Number.isNaN(number)) return problemReply(badRequest(detail));
  const page = await version.page(number, acceptedEncodings(exchange));
  if (page === undefined) return problemReply(notFound(detail));
  const links = Object.entries(pageLinks(number, of)).map(
    ([rel, href]) => `<${publicPath(exchange)}${href}>; rel="${rel}"`,
  );
  return representationReply(request, page, {
    "Cache-Control": cacheControl,
    Link: [site.linkHeader(client), ...links].join(", "),
  });
}

function acceptedEncodings({ request }: Exchange): string | undefined {
  return request.headers["accept-encoding"]?.toString();
}

/** The path of the client's request, before a proxy stripped its prefix. */
function publicPath({ path, client, site }: Exchange): string {
  if (path === WELL_KNOWN_PATH) return path;
  const inner = path.startsWith(`${site.prefix}/`) ? path.slice(site.prefix.length) : path;
  return `${client.prefix}${inner}`;
}

/** `GET /explore` and `GET /compare`; the versions of the maps stay open until the response is sent. */
export async function holdings(exchange: Exchange, view: HoldingsView): Promise<Reply> {
  const { site, request, query, cacheControl } = exchange;
  const maps = site.maps.map(({ id, current }) => ({ id, version: current.retain() }));
  try {
    return await site.holdings.reply(maps.map(explored), {
      view,
      headers: request.headers,
      query: new URLSearchParams(query),
      cacheControl,
    });
  } finally {
    for (const { version } of maps) await version.release();
  }
}

function explored({ id, version }: { id: string; version: MapVersion }): ExploredMap {
  return {
    id,
    version: version.version,
    lastModified: version.whole.lastModified,
    text: version.isPacked ? undefined : version.whole.body,
    explore: (options) => version.explore(options),
  };
}

/** `GET /health`: the maps served, and their versions. */
export function health(exchange: Exchange): Reply {
  const maps = exchange.site.maps.map(
    ({ id, current, packed, isPair, reloads, refusals, fault }) => ({
      id,
      records: current.survey.records,
      pages: current.survey.plan.pages.length,
      ...versionHealth(current),
      inMemory: current.isInMemory,
      isPacked: current.isPacked ? true : undefined,
      packed: packed && { ...versionHealth(packed), isPair, reloads, refusals },
      reloads,
      refusals,
      refused: fault,
    }),
  );
  // The service works: a rejected version concerns the operator, not a load balancer.
  const status = maps.every(({ refused }) => refused === undefined) ? "ok" : "degraded";
  const text = `${JSON.stringify({ status, maps })}\n`;
  return textReply("application/json", text, { "Cache-Control": "no-store" });
}

function versionHealth({ version, whole: { body, lastModified } }: MapVersion): object {
  return { bytes: body.size, version, modified: lastModified.toISOString() };
}

/** `GET /metrics`, for Prometheus. */
export async function metrics(exchange: Exchange): Promise<Reply> {
  const text = await exchange.metrics.text();
  return textReply(exchange.metrics.contentType, text, { "Cache-Control": "no-store" });
}

/** Metrics of the maps of a site. */
export function mapMetrics(site: Site): ReadMetric[] {
  const metric = (
    type: ReadMetric["type"],
    name: string,
    help: string,
    value: (map: HostedMap) => number,
  ): ReadMetric => ({
    name: `mementomap_${name}`,
    help,
    type,
    labels: ["map"],
    acrossProcesses: "max",
    read: () => site.maps.map((map) => ({ labels: { map: map.id }, value: value(map) })),
  });
  return [
    metric("gauge", "records", "Records of a map.", ({ current }) => current.survey.records),
    metric("gauge", "bytes", "Size of a map.", ({ current }) => current.whole.body.size),
    metric(
      "gauge",
      "modified_seconds",
      "When the file of a map was last modified, as Unix time.",
      ({ current: { whole } }) => whole.lastModified.getTime() / 1000,
    ),
    metric("gauge", "map_age_seconds", "Time since a map was created.", (map) => ageOf(map) / 1000),
    metric("counter", "reloads_total", "New versions loaded.", ({ reloads }) => reloads),
    metric("counter", "refusals_total", "New versions rejected.", ({ refusals }) => refusals),
  ];
}

/** Time since the map states it was made; since its file was modified if it states none. */
function ageOf({ current }: HostedMap): number {
  const madeAt = updatedAtOf(current.survey.plan.headers) ?? current.whole.lastModified.getTime();
  return Math.max(0, Date.now() - madeAt);
}
