import { packageFile } from "../files/package-file.ts";
import { type Reply, textReply } from "../http/reply.ts";
import type { BaseExchange } from "../http/service.ts";
import { htmlDocument } from "./document.ts";
import { Html, html } from "./html.ts";
import { ASSET_PATH, assetList, FOLDER } from "./page-assets.ts";
import { type PageData, type PageServer } from "./page-data.ts";

let server: Promise<PageServer> | undefined;

/** The application, loaded for the first page. */
function pageServer(): Promise<PageServer> {
  server ??= import(String(packageFile(`${FOLDER}server.js`))) as Promise<PageServer>; // our own file
  return server;
}

/** Renders the view at the address of a request, with what the service answers that it needs. */
export async function pageReply(
  { path, query, answerOf }: BaseExchange,
  site: Omit<PageData, "answers">,
  head?: Html,
): Promise<Reply> {
  const { needsOf } = await pageServer();
  const below = path.startsWith(`${site.base}/`) ? path.slice(site.base.length) : path;
  const target = `${site.base}${below}?${query}`;
  const answers: Record<string, unknown> = {};
  for (const need of needsOf({ ...site, answers }, target)) {
    const answer = await answerOf(need);
    if (answer !== undefined) answers[need] = answer;
  }
  const text = await appPage({ ...site, answers }, target, head);
  return textReply("text/html; charset=utf-8", text, {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": appSecurityPolicy(site.service),
    "Referrer-Policy": "no-referrer",
    Vary: "Accept",
  });
}

/** Writes the document: the view, the data for the application, and its script. */
export async function appPage(page: PageData, target: string, head?: Html): Promise<string> {
  const { render } = await pageServer();
  const { title, html: app, view } = render(page, target);
  const assets = assetList();
  const path = `${page.base}${ASSET_PATH}`;
  const links = html`${(assets?.styles ?? []).map((file) => html`<link rel="stylesheet" href="${path}${file}" />`)}
  ${(assets?.views[view] ?? []).map((file) => html`<link rel="modulepreload" href="${path}${file}" />`)}
  ${page.service === "static" ? undefined : searchLink(page)}
  ${new Html(`<script type="module" src="${path}${assets?.script ?? ""}"></script>`)}`;
  const body = html`<div id="app" data-view="${view}">${new Html(app)}</div>
    ${dataBlock(page)}`;
  return htmlDocument(title, html`${head} ${links}`, body, "");
}

function searchLink({ base, name }: PageData): Html {
  return html`<link
    rel="search"
    type="application/opensearchdescription+xml"
    title="${name}"
    href="${base}/opensearch.xml"
  />`;
}

/** Not a script: data that the application reads. `<` would end the block. */
function dataBlock(data: PageData): Html {
  const text = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return new Html(`<script type="application/json" id="page-data">${text}</script>`);
}

/**
 * What pages of the application may do: load its own files and talk to its own site, nothing else.
 * Where mementos are shown, archives may be in frames.
 */
export function appSecurityPolicy(service: PageData["service"]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
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

/** `GET /opensearch.xml`: so that browsers offer the site as a search engine (OpenSearch 1.1). */
export function openSearchReply(name: string, address: string): Reply {
  const text = html`<?xml version="1.0" encoding="UTF-8"?>
    <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
      <ShortName>${name.slice(0, 16)}</ShortName>
      <Description>Which archives hold a page: ${name.slice(0, 900)}</Description>
      <InputEncoding>UTF-8</InputEncoding>
      <Url type="text/html" template="${address}/?url={searchTerms}" />
    </OpenSearchDescription> `;
  return textReply("application/opensearchdescription+xml", text.text, {
    "Cache-Control": "public, max-age=86400",
  });
}

/** Whether a client asks for a page by name, as browsers do. */
export function wantsPage({ request }: BaseExchange): boolean {
  return request.headers.accept?.includes("text/html") === true;
}
