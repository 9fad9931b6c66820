import { createHash } from "node:crypto";
import { APP_STYLE } from "./app-style.ts";
import { htmlDocument } from "./document.ts";
import { Html, html } from "./html.ts";
import { ASSET_PATH, assetList } from "./page-assets.ts";
import { type PageData, type ViewName, viewPath, viewsOf } from "./page-data.ts";

/** A page of the application as the server sends it: whole without script, taken over where there is one. */
interface AppPage {
  readonly title: string;
  readonly view: ViewName;
  readonly data: PageData;
  /** What goes into `<main>` until the application takes over, and stays without script. */
  readonly main: Html;
  readonly head?: Html | undefined;
  readonly footer?: Html | undefined;
  /** Rules besides those of the application. */
  readonly style?: string | undefined;
}

const NAMES: Readonly<Record<ViewName, string>> = {
  find: "Find",
  time: "Time",
  explore: "Explore",
  compare: "Compare",
  about: "About",
};

/** Writes the document: navigation, content, the data for the application, and its script. */
export function appPage(page: AppPage): string {
  const { title, view, data, main, head, footer, style = "" } = page;
  const { base } = data;
  const body = html`<a class="skip" href="#view">Skip to the content</a>
    <div id="app">
      <header class="bar">
        <div class="frame">
          <a class="brand" href="${base}/">${BRAND_MARK}<span>${data.name}</span></a>
          <nav aria-label="Views">${viewsOf(data.service).map((each) => viewLink(each, page))}</nav>
        </div>
      </header>
      <main id="view" class="frame view-${view}" tabindex="-1">${main}</main>
      <footer class="frame">${footer ?? defaultFooter(data)}</footer>
    </div>
    ${dataBlock(data)}`;
  return htmlDocument(title, html`${head} ${links(page)}`, body, APP_STYLE + style);
}

function viewLink(view: ViewName, { data, view: current }: AppPage): Html {
  const href =
    data.service === "static"
      ? view === "find"
        ? "./"
        : `./?view=${view}`
      : `${data.base}${viewPath(view)}`;
  return view === current
    ? html`<a href="${href}" aria-current="page">${NAMES[view]}</a> `
    : html`<a href="${href}">${NAMES[view]}</a> `;
}

function links({ data, view }: AppPage): Html {
  const { base, name } = data;
  const search =
    data.service === "static"
      ? html``
      : html`<link
          rel="search"
          type="application/opensearchdescription+xml"
          title="${name}"
          href="${base}/opensearch.xml"
        />`;
  const assets = assetList();
  if (assets === undefined) return search;
  const path = `${base}${ASSET_PATH}`;
  const early = (assets.views[view] ?? []).map((file) =>
    file.endsWith(".css")
      ? html`<link rel="stylesheet" href="${path}${file}" />`
      : html`<link rel="modulepreload" href="${path}${file}" />`,
  );
  return html`${search} ${early}
    <script type="module" src="${path}${assets.script}">${SCRIPT_END}`;
}

/** Not in a tagged template: bundlers lower one that has it, with a helper that the package lacks. */
const SCRIPT_END = new Html("</script>");

function defaultFooter({ version }: PageData): Html {
  return html`mementomap ${version}. Nothing you type here leaves this site.`;
}

/** Not a script: data that the application reads. `<` would end the block. */
function dataBlock(data: PageData): Html {
  const text = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return new Html(`<script type="application/json" id="page-data">${text}</script>`);
}

const BRAND_MARK = new Html(
  '<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="3.5"/><path d="M4 4.5h8M4 8h5M4 11.5h7"/></svg>',
);

/**
 * What pages of the application may do: load its own files and talk to its own site, nothing else.
 * Where mementos are shown, archives may be in frames.
 */
export function appSecurityPolicy(service: PageData["service"], style: string = ""): string {
  const digest = createHash("sha256")
    .update(APP_STYLE + style)
    .digest("base64");
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'sha256-${digest}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    ...(service === "aggregator" ? ["frame-src http: https:"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    // Not allowed in a page, which is where a site of files has its policy.
    ...(service === "static" ? [] : ["frame-ancestors 'none'"]),
  ].join("; ");
}

/** Describes the search for browsers (OpenSearch 1.1). */
export function openSearchDescription(name: string, address: string): string {
  const text = html`<?xml version="1.0" encoding="UTF-8"?>
    <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
      <ShortName>${name.slice(0, 16)}</ShortName>
      <Description>Which archives hold a page: ${name.slice(0, 900)}</Description>
      <InputEncoding>UTF-8</InputEncoding>
      <Url type="text/html" template="${address}/?url={searchTerms}" />
    </OpenSearchDescription> `;
  return text.text;
}
