import { type Exchange, linkValue, sendText, type Site, WELL_KNOWN_PATH } from "./site.ts";
import { type HostedMap, pageLinks } from "./hosted-map.ts";
import { badRequest, notFound, sendProblem, sendRepresentation } from "../../http/send.ts";
import { pageNumber } from "../../http/target.ts";
import type { ReadMetric } from "../../http/metrics.ts";
import type { Answer } from "../../map/lookup/lookup.ts";
import { lookupKeys } from "../../surt/key.ts";
import { surt as surtOf } from "../../surt/surt.ts";
import { PAGE_SECURITY_POLICY } from "./html.ts";
import { homePage, mapView, type Question } from "./home-page.ts";

/** The map of this host's archive. */
export async function wellKnown(exchange: Exchange): Promise<void> {
  const map = exchange.site.ownMap(exchange.client.host);
  if (map === undefined) {
    const detail = "this site publishes maps of other archives only; see the links";
    sendProblem(exchange.response, notFound(detail), exchange.isHead);
    return;
  }
  await sendMap(exchange, map);
}

/** A map by its name. */
export async function mapById(exchange: Exchange, id: string): Promise<void> {
  const map = exchange.site.map(id);
  if (map === undefined) {
    sendProblem(exchange.response, notFound("there is no map of this name"), exchange.isHead);
    return;
  }
  await sendMap(exchange, map);
}

/** All maps as a set of links (RFC 9264), however many there are. */
export function mapList(exchange: Exchange): void {
  exchange.route = "maps";
  const links = exchange.site.links(exchange.client);
  const lines = links.flatMap((link) => linkValue(link) ?? []);
  sendText(exchange, "application/linkset", `${lines.join(",\n")}\n`, {
    "Cache-Control": exchange.cacheControl,
  });
}

async function sendMap(exchange: Exchange, map: HostedMap): Promise<void> {
  const number = pageNumber(exchange.query);
  await map.with(async (version) => {
    const { request, response, isHead } = exchange;
    const accepted = singleHeader(request.headers["accept-encoding"]);
    const headers = { "Cache-Control": exchange.cacheControl };
    if (number === undefined) {
      exchange.route = "map";
      const found = version.chosen(accepted);
      const digest =
        found.encoding === undefined
          ? { "Repr-Digest": `sha-256=:${Buffer.from(version.digest, "hex").toString("base64")}:` }
          : {};
      await sendRepresentation(request, response, found, { ...headers, ...digest });
      return;
    }
    exchange.route = "page";
    const of = version.survey.plan.pages.length;
    if (Number.isNaN(number)) {
      sendProblem(response, badRequest(`pages are numbered from 1 to ${of}`), isHead);
      return;
    }
    const page = await version.page(number, accepted);
    if (page === undefined) {
      sendProblem(response, notFound(`pages are numbered from 1 to ${of}`), isHead);
      return;
    }
    const links = Object.entries(pageLinks(number, of)).map(
      ([rel, href]) => `<${publicPath(exchange)}${href}>; rel="${rel}"`,
    );
    const about = response.getHeader("Link");
    await sendRepresentation(request, response, page, {
      ...headers,
      Link: [about, ...links].filter(Boolean).join(", "),
    });
  });
}

/** The path as the client asked for it, before a proxy took its prefix off. */
function publicPath({ path, client, site }: Exchange): string {
  if (path === WELL_KNOWN_PATH) return path;
  const inner = path.startsWith(`${site.prefix}/`) ? path.slice(site.prefix.length) : path;
  return `${client.prefix}${inner}`;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

/** `GET /health`: the maps that are served, in which version. */
export function health(exchange: Exchange): void {
  exchange.route = "health";
  const maps = exchange.site.maps.map(({ id, current, reloads, refusals, fault }) => ({
    id,
    records: current.survey.records,
    bytes: current.whole.body.size,
    pages: current.survey.plan.pages.length,
    version: current.version,
    modified: current.whole.lastModified.toISOString(),
    inMemory: current.index !== undefined,
    reloads,
    refusals,
    refused: fault,
  }));
  // It serves what it has: a refused version is for the operator to look at, not for a balancer.
  const status = maps.every(({ refused }) => refused === undefined) ? "ok" : "degraded";
  const text = `${JSON.stringify({ status, maps })}\n`;
  sendText(exchange, "application/json", text, { "Cache-Control": "no-store" });
}

/** `GET /metrics`, for Prometheus. */
export async function metrics(exchange: Exchange): Promise<void> {
  exchange.route = "metrics";
  const text = await exchange.metrics.text();
  sendText(exchange, exchange.metrics.contentType, text, { "Cache-Control": "no-store" });
}

/** What there is to know about the maps of a site. */
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
      ({ current }) => current.whole.lastModified.getTime() / 1000,
    ),
    metric("gauge", "map_age_seconds", "Time since a map was made.", (map) => ageOf(map) / 1000),
    metric("counter", "reloads_total", "New versions taken.", ({ reloads }) => reloads),
    metric("counter", "refusals_total", "New versions refused.", ({ refusals }) => refusals),
  ];
}

/** Since the map says it was made; since its file was written where it does not say. */
function ageOf({ current }: HostedMap): number {
  const { updated_at: stated } = current.survey.plan.headers.meta;
  const madeAt = typeof stated === "string" ? Date.parse(stated) : Number.NaN;
  const { lastModified } = current.whole;
  return Math.max(0, Date.now() - (Number.isNaN(madeAt) ? lastModified.getTime() : madeAt));
}

/** `GET /`: a page for people. It looks a URI up with a plain form and needs no JavaScript. */
export async function home(exchange: Exchange): Promise<void> {
  exchange.route = "home";
  const { site, client, query } = exchange;
  const url = new URLSearchParams(query).get("url")?.trim().slice(0, 8192) ?? "";
  const links = site.links(client);
  const own = site.ownMap(client.host);
  const maps = links.map(({ map, href, anchor }) => ({
    ...mapView(map.current.survey, {
      archive: anchor,
      href,
      modified: map.current.whole.lastModified,
      bytes: map.current.whole.body.size,
      pageHref: (number) => `${href}?page=${number}`,
    }),
    replay: (map === own ? site.replay : undefined) ?? replayOf(map),
  }));
  let question: Question | undefined;
  if (url !== "") {
    exchange.metrics.lookups.inc();
    const surt = surtOf(url);
    question = {
      url,
      surt,
      keys: lookupKeys(surt).map(({ key }) => key),
      answers: await Promise.all(links.map(({ map }) => ask(map, url))),
    };
  }
  const origin = site.origin(client);
  const text = homePage({
    maps,
    question,
    action: `${client.prefix}/`,
    lookupUrl: `${origin}${client.prefix}/lookup`,
    mapUrl: new URL(links[0].href, origin).href,
    openApiPath: `${client.prefix}/openapi.json`,
  });
  sendText(exchange, "text/html; charset=utf-8", text, {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": PAGE_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
  });
}

function ask(map: HostedMap, url: string): Promise<Answer> {
  return map.with(async (version) => version.answer(url, { at: undefined, isSurt: false }));
}

/** As the map says itself, if it is a web address. */
function replayOf({ current }: HostedMap): string | undefined {
  const { replay } = current.survey.plan.headers.meta;
  return typeof replay === "string" && /^https?:\/\//i.test(replay) ? replay : undefined;
}
