import { packageVersion } from "../../files/package-file.ts";
import { notFound, problemReply, type Reply, textReply } from "../../http/reply.ts";
import type { Answer } from "../../map/lookup/map-lookup.ts";
import { appPage, appSecurityPolicy, openSearchDescription } from "../../page/app-page.ts";
import { html } from "../../page/html.ts";
import { pageAsset } from "../../page/page-assets.ts";
import type { MapInfo, PageData } from "../../page/page-data.ts";
import { lookupKeys } from "../../surt/key.ts";
import { surt as surtOf } from "../../surt/uri-to-surt.ts";
import type { HostedMap } from "./hosted-map.ts";
import { homePage, type MapView, mapView, type Question } from "./home-page.ts";
import type { Exchange, SiteMap } from "./site.ts";

const SECURITY_POLICY = appSecurityPolicy("publisher");

/** `GET /`: a page for people. It looks a URI up with a plain form where there is no JavaScript. */
export async function home(exchange: Exchange): Promise<Reply> {
  exchange.route = "home";
  const { site, client, query } = exchange;
  const url = new URLSearchParams(query).get("url")?.trim().slice(0, 8192) ?? "";
  const links = site.links(client);
  let question: Question | undefined;
  if (url !== "") {
    exchange.metrics.lookups.inc();
    const surt = surtOf(url);
    const own = site.ownMap(client.host);
    const { fields } = (own ?? links[0].map).current.survey.plan.headers;
    question = {
      url,
      surt,
      keys: lookupKeys(surt, fields).map(({ key }) => key),
      answers: await Promise.all(links.map(({ map }) => ask(map, url))),
    };
  }
  return pageReply(sitePage(exchange, "find", question));
}

/** `GET /about`: the maps that are published here. */
export function about(exchange: Exchange): Reply {
  exchange.route = "home";
  return pageReply(sitePage(exchange, "about"));
}

/** A view that needs the application: `GET /explore` for browsers, `GET /compare`. */
export function scriptedView(view: "explore" | "compare"): (exchange: Exchange) => Reply {
  const [title, hint] = SCRIPTED[view];
  return (exchange) => {
    exchange.route = "home";
    const { data } = viewOf(exchange);
    const main = html`<h1>${title}</h1>
      <p class="lede">${hint}</p>`;
    return pageReply(appPage({ title: `${title} · ${data.name}`, view, data, main }));
  };
}

const SCRIPTED = {
  explore: [
    "Explore",
    "What the maps hold, by domain, host and path. This view needs JavaScript; programs get the same as JSON here.",
  ],
  compare: [
    "Compare",
    "What several maps have in common, and what only one holds. This view needs JavaScript; programs get the same as JSON here.",
  ],
} as const;

function sitePage(exchange: Exchange, view: "find" | "about", question?: Question): string {
  const { site, client } = exchange;
  const { links, maps, data } = viewOf(exchange);
  const origin = site.origin(client);
  return homePage({
    maps,
    question,
    action: view === "find" ? `${client.prefix}/` : undefined,
    lookupUrl: `${origin}${client.prefix}/lookup`,
    mapUrl: new URL(links[0].href, origin).href,
    openApiPath: `${client.prefix}/openapi.json`,
    app: { data, view },
  });
}

function viewOf({ site, client }: Exchange): {
  readonly links: readonly SiteMap[];
  readonly maps: readonly MapView[];
  readonly data: PageData;
} {
  const links = site.links(client);
  const own = site.ownMap(client.host);
  const maps = links.map(({ map, href, anchor }) => ({
    ...mapView(map.current.survey, {
      archive: anchor,
      href,
      modified: map.current.whole.lastModified,
      bytes: map.current.whole.body.size,
      pageHref: (number) => `${href}?page=${number}`,
      isPacked: map.current.isPacked,
    }),
    replay: (map === own ? site.replay : undefined) ?? replayOf(map),
  }));
  const data: PageData = {
    service: "publisher",
    base: client.prefix,
    name: maps[0].name ?? maps[0].archive ?? "MementoMap",
    version: packageVersion(),
    maps: maps.map((map, index) => mapInfo(map, links[index].map.id)),
    archives: [],
  };
  return { links, maps, data };
}

function mapInfo(map: MapView, id: string): MapInfo {
  const { records, total, domainCount, topDomains } = map.survey;
  return {
    id,
    name: map.name ?? null,
    archive: map.archive ?? null,
    href: map.href,
    updatedAt: map.updatedAt,
    bytes: map.bytes,
    records,
    total: total ?? null,
    isPacked: map.isPacked,
    domainCount,
    topDomains,
    pages: map.pages.length,
    replay: map.replay ?? null,
  };
}

function pageReply(text: string): Reply {
  return textReply("text/html; charset=utf-8", text, {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    Vary: "Accept",
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

/** `GET /page/NAME`: a file of the application. */
export function asset(exchange: Exchange, name: string): Reply {
  exchange.route = "home";
  const found = pageAsset(name, exchange.request.headers["accept-encoding"]?.toString());
  if (found === undefined) return problemReply(notFound("the page has no file of this name"));
  return { status: 200, headers: found.headers, body: oneChunk(found.body) };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** `GET /opensearch.xml`: so that browsers offer the site as a search engine. */
export function openSearch(exchange: Exchange): Reply {
  exchange.route = "home";
  const { site, client } = exchange;
  const { data } = viewOf(exchange);
  const text = openSearchDescription(data.name, `${site.origin(client)}${client.prefix}`);
  return textReply("application/opensearchdescription+xml", text, {
    "Cache-Control": "public, max-age=86400",
  });
}
