import { packageFile } from "../files/package-file.ts";
import { type Reply, textReply } from "../http/reply.ts";
import type { BaseExchange } from "../http/service.ts";
import { escapeHtml } from "./html.ts";
import { ASSET_PATH, assetList, FOLDER } from "./page-assets.ts";
import type { PageData, PageLink, PageServer } from "./page-data.ts";

let server: Promise<PageServer> | undefined;

/** The server-side application, loaded on first use. */
function pageServer(): Promise<PageServer> {
  server ??= import(String(packageFile(`${FOLDER}server.js`))) as Promise<PageServer>; // our own file
  return server;
}

/** Renders the view for a request, with the JSON that it needs from the service. */
export async function pageReply(
  { path, query, answerOf }: BaseExchange,
  site: Omit<PageData, "answers">,
  links: readonly PageLink[] = [],
): Promise<Reply> {
  const below = path.startsWith(`${site.base}/`) ? path.slice(site.base.length) : path;
  const search = {
    rel: "search",
    href: `${site.base}/opensearch.xml`,
    type: "application/opensearchdescription+xml",
    title: site.name,
  };
  const text = await appPage(site, `${site.base}${below}?${query}`, [...links, search], answerOf);
  return textReply("text/html; charset=utf-8", text, {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": appSecurityPolicy(site.service),
    "Referrer-Policy": "no-referrer",
    Vary: "Accept",
  });
}

/** Renders the document of a view. */
export async function appPage(
  site: Omit<PageData, "answers">,
  target: string,
  links: readonly PageLink[],
  answerOf: BaseExchange["answerOf"] = async () => undefined,
): Promise<string> {
  const { prepare, render } = await pageServer();
  const { view, paths } = prepare(site, target);
  const answers: Record<string, unknown> = {};
  for (const path of paths) answers[path] = await answerOf(path);
  const { styles = [], views = {}, script = "" } = assetList() ?? {};
  const folder = `${site.base}${ASSET_PATH}`;
  const files = [
    ...styles.map((file) => ({ rel: "stylesheet", href: folder + file })),
    ...(views[view] ?? []).map((file) => ({ rel: "modulepreload", href: folder + file })),
  ];
  return render({ ...site, answers }, target, {
    links: [...links, ...files],
    script: folder + script,
    // A static site cannot set headers.
    policy: site.service === "static" ? appSecurityPolicy("static") : undefined,
  });
}

/**
 * The content security policy: pages may only load files from, and connect to, their own site. An
 * aggregator may also show archives in frames.
 */
function appSecurityPolicy(service: PageData["service"]): string {
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
    // Not supported in a <meta> element.
    ...(service === "static" ? [] : ["frame-ancestors 'none'"]),
  ].join("; ");
}

/** `GET /opensearch.xml`: lets browsers add the site as a search engine (OpenSearch 1.1). */
export function openSearchReply(name: string, address: string): Reply {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
    <OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
      <ShortName>${escapeHtml(name.slice(0, 16))}</ShortName>
      <Description>Which archives hold a page: ${escapeHtml(name.slice(0, 900))}</Description>
      <InputEncoding>UTF-8</InputEncoding>
      <Url type="text/html" template="${escapeHtml(address)}/?url={searchTerms}" />
    </OpenSearchDescription> `;
  return textReply("application/opensearchdescription+xml", text, {
    "Cache-Control": "public, max-age=86400",
  });
}

/** Whether the Accept header names HTML, as that of browsers does. */
export function wantsPage({ request }: BaseExchange): boolean {
  return request.headers.accept?.includes("text/html") === true;
}
