import { packageVersion } from "../../files/package-file.ts";
import { notFound } from "../../http/reply.ts";
import { appPage, appSecurityPolicy, openSearchDescription } from "../../page/app-page.ts";
import { type Html, html } from "../../page/html.ts";
import { pageAsset } from "../../page/page-assets.ts";
import type { MapInfo, PageData, ViewName } from "../../page/page-data.ts";
import { verdictBadge } from "../../page/verdict-badge.ts";
import { verdictOfRoute } from "../../page/verdict.ts";
import { yearWords } from "../../page/year-words.ts";
import { homeOf } from "../route/archive.ts";
import type { Decision } from "../route/decision.ts";
import type { MapState } from "../route/kept-map.ts";
import {
  addMapLinks,
  type AggregatorExchange,
  commonHeaders,
  type HeaderList,
  sendBody,
  sendRefusal,
} from "./aggregator-exchange.ts";
import { ABOUT_STYLE } from "./about-page.ts";
import type { StatusView } from "./service-status.ts";

/** What the server renders of a view. */
interface ViewContent {
  readonly title: string;
  readonly main: Html;
  readonly head?: Html | undefined;
  readonly footer?: Html | undefined;
}

/** The views share a document, in which the application shows one after the other. */
const SECURITY_POLICY = appSecurityPolicy("aggregator", ABOUT_STYLE);

const AGGREGATOR_NAME = "Memento aggregator";

/** Whether a client asks for a page by name, as browsers do. */
export function wantsPage({ request }: AggregatorExchange): boolean {
  return request.headers.accept?.includes("text/html") === true;
}

/** Sends a view of the application, whole without script. */
export function sendView(
  exchange: AggregatorExchange,
  view: ViewName,
  { status, content }: { readonly status: StatusView; readonly content: ViewContent },
  { headers = pageHeaders(exchange), code = 200 }: { headers?: HeaderList; code?: number } = {},
): void {
  const data = pageData(exchange, status);
  headers.push(
    "Content-Security-Policy",
    SECURITY_POLICY,
    "Referrer-Policy",
    "no-referrer",
    "X-Content-Type-Options",
    "nosniff",
  );
  sendBody(exchange, code, headers, HTML, appPage({ view, data, style: ABOUT_STYLE, ...content }));
}

const HTML = "text/html; charset=utf-8";

function pageHeaders(exchange: AggregatorExchange): HeaderList {
  const headers = commonHeaders(exchange);
  headers.push("Vary", "Accept", "Cache-Control", "no-cache");
  addMapLinks(headers, exchange);
  return headers;
}

function pageData({ base }: AggregatorExchange, status: StatusView): PageData {
  const archives = status.archives();
  return {
    service: "aggregator",
    base: new URL(base).pathname.replace(/\/$/, ""),
    name: AGGREGATOR_NAME,
    version: packageVersion(),
    maps: archives.flatMap(({ map }) => mapInfo(map) ?? []),
    archives: archives.map(({ archive, map }) => ({
      id: archive.id,
      name: archive.name,
      timemap: archive.timemap ?? null,
      hasMap: map !== undefined && map.keys > 0,
    })),
  };
}

/** A map to explore and compare; what it holds is asked for when somebody looks. */
function mapInfo(map: MapState | undefined): MapInfo | undefined {
  if (map === undefined || map.keys === 0) return undefined;
  const { archive, updatedAt, fetchedAt = 0 } = map;
  return {
    id: archive.id,
    name: archive.name,
    archive: homeOf(archive),
    href: "",
    updatedAt: new Date(updatedAt ?? fetchedAt).toISOString(),
    bytes: map.bytes,
    records: map.keys,
    total: null,
    isPacked: map.isPacked === true,
    domainCount: 0,
    topDomains: [],
    pages: 0,
    replay: null,
  };
}

/** The URI that a form sent, or undefined where none was. */
export function askedUrl({ request }: AggregatorExchange): string | undefined {
  const { url = "" } = request;
  const mark = url.indexOf("?");
  const text =
    mark === -1 ? "" : (new URLSearchParams(url.slice(mark + 1)).get("url") ?? "").trim();
  // What is typed may have blanks, which no URI has.
  return text === "" ? undefined : text.slice(0, 8192).replaceAll(/\s/g, encodeURIComponent);
}

/** Find: which archives may hold a page, by their maps. */
export function findContent(
  exchange: AggregatorExchange,
  status: StatusView,
  decisions: readonly Decision[] | undefined,
): ViewContent {
  const base = new URL(exchange.base).pathname.replace(/\/$/, "");
  const url = askedUrl(exchange);
  const archives = status.archives();
  const main = html`<h1>Which archives hold it?</h1>
    <section class="card" aria-label="Find">
      ${urlForm(`${base}/`, "The address of a page", url, "Find")}
      ${
        decisions === undefined || url === undefined
          ? html`<p class="hint">Answered at once from the maps of what archives hold.</p>`
          : html`${routeList(decisions, url)}
              <p><a href="${base}/timemap/link/${url}">List its mementos</a></p>`
      }
    </section>
    <section class="card">
      <h2>Archives</h2>
      <ul class="files">
        ${archives.map(({ archive }) => html`<li>${archive.name} <small>${archive.id}</small></li> `)}
      </ul>
    </section>`;
  return { title: `Find · ${AGGREGATOR_NAME}`, main };
}

/** Time: a form; the mementos of a page come from its TimeMap. */
export function timeContent(exchange: AggregatorExchange): ViewContent {
  const base = new URL(exchange.base).pathname.replace(/\/$/, "");
  const url = askedUrl(exchange);
  const list = url === undefined ? undefined : `${base}/timemap/link/${url}`;
  const main = html`<h1>Mementos over time</h1>
    <section class="card" aria-label="Time">
      ${urlForm(`${base}/time`, "The address of a page", url, "Show mementos")}
      ${list === undefined ? undefined : html`<p><a href="${list}">List its mementos</a></p>`}
    </section>`;
  // Without script, the list itself is what is left to show.
  const head =
    list === undefined
      ? undefined
      : html`<noscript><meta http-equiv="refresh" content="0; url=${list}" /></noscript>`;
  return { title: `Time · ${AGGREGATOR_NAME}`, main, head };
}

/** A view that needs the application. */
export function scriptedContent(view: "explore" | "compare"): ViewContent {
  const title = view === "explore" ? "Explore" : "Compare";
  const main = html`<h1>${title}</h1>
    <p class="lede">This view needs JavaScript.</p>`;
  return { title: `${title} · ${AGGREGATOR_NAME}`, main };
}

export function urlForm(
  action: string,
  label: string,
  url: string | undefined,
  button: string,
): Html {
  return html`<form action="${action}" method="get" role="search">
    <label for="url">${label}</label>
    <input
      id="url"
      name="url"
      type="text"
      inputmode="url"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      maxlength="8192"
      required
      placeholder="https://example.org/news"
      value="${url}"
    />
    <button type="submit">${button}</button>
  </form>`;
}

function routeList(decisions: readonly Decision[], url: string): Html {
  return html`<ul class="files">
    ${decisions.map(({ archive, reason, key, frequency, years, why }) => {
      const decided = [key, frequency, yearWords(years)].filter((word) => word !== undefined);
      return html`<li>
        ${verdictBadge(verdictOfRoute({ reason, key, why }))} <strong>${archive.name}</strong>
        ${archive.timemap === undefined ? undefined : html`<a href="${archive.timemap}${url}" rel="nofollow">TimeMap</a>`}
        <small>${reason} ${key === undefined ? "" : `decided by ${decided.join(" ")}`}</small>
      </li> `;
    })}
  </ul>`;
}

/** A file of the application. */
export function answerAsset(exchange: AggregatorExchange, name: string): void {
  exchange.route = "about";
  const accepted = exchange.request.headers["accept-encoding"]?.toString();
  const found = pageAsset(name, accepted);
  if (found === undefined) {
    sendRefusal(exchange, notFound("the page has no file of this name"));
    return;
  }
  const headers = [...commonHeaders(exchange), ...Object.entries(found.headers).flat()];
  exchange.response.writeHead(200, headers);
  exchange.response.end(exchange.isHead ? undefined : found.body);
}

/** Offers the search to browsers. */
export function answerOpenSearch(exchange: AggregatorExchange): void {
  const text = openSearchDescription(AGGREGATOR_NAME, exchange.base);
  const headers = commonHeaders(exchange);
  headers.push("Cache-Control", "public, max-age=86400");
  sendBody(exchange, 200, headers, "application/opensearchdescription+xml", text);
}
