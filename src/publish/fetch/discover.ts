import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { bodyStart, type HttpClient, type HttpResponse } from "../../http/http-client.ts";
import { PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import { parseLinkHeader } from "../../memento/links.ts";
import { kindText, sniff } from "../../ukvs/sniff.ts";
import { checkSignal, interruptible } from "../../interruption.ts";

/** The link relation, and the suffix of the well-known URI. */
export const MEMENTOMAP_RELATION = "mementomap";

const MAX_HTML_BYTES = 512 * 1024;
const MAX_SNIFFED_BYTES = 4096;

/** How a map was found. */
export type DiscoveryMethod = "well-known" | "link-header" | "html-link";

/** A place that was checked, and the result. */
export interface Attempt {
  readonly method: DiscoveryMethod;
  readonly url: string;
  /** `found`, or the reason why not. */
  readonly outcome: string;
}

/** Prefers a packed map, and accepts a text map. */
export function acceptedForm(packed: boolean = false): Record<string, string> {
  return packed ? { Accept: `${PACKED_CONTENT_TYPE}, text/plain;q=0.9, */*;q=0.8` } : {};
}

/** The location of the map of an archive. */
export interface Discovery {
  readonly url: string;
  readonly method: DiscoveryMethod;
  /** The archive whose map was requested. */
  readonly archive: string;
  /** All places checked, in order. */
  readonly attempts: readonly Attempt[];
}

export interface DiscoverOptions {
  /** The archive of the map, if another site publishes it; default the address. */
  readonly archive?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds the map of an archive, in the order of the paper: at the well-known URI, by a `Link` header
 * of the archive's address, by a `<link>` element of its page.
 *
 * A link counts only if it is about this archive: links with another `anchor` are skipped. Reads
 * 4 KiB of a map and at most 512 KiB of a page.
 *
 * @throws MM_NOT_FOUND with all attempts; MM_BAD_URI; MM_REFUSED and MM_HTTP when requests to the
 *   archive's own address fail; MM_INTERRUPTED.
 */
export function discoverMap(
  client: HttpClient,
  address: string,
  { archive: wanted = address, signal }: DiscoverOptions = {},
): Promise<Discovery> {
  return interruptible(signal, async () => {
    const site = webAddress(address);
    const archive = webAddress(wanted);
    const attempts: Attempt[] = [];
    const isAt = async (method: DiscoveryMethod, url: string): Promise<boolean> => {
      const outcome = await tryMap(client, url, signal);
      attempts.push({ method, url, outcome });
      return outcome === FOUND;
    };
    if (site.origin === archive.origin) {
      const url = new URL(`/.well-known/${MEMENTOMAP_RELATION}`, site).href;
      const method = "well-known";
      if (await isAt(method, url)) return { url, method, archive: archive.href, attempts };
    }
    const page = await client.request(site.href, {
      headers: { Accept: "text/html, */*;q=0.5", "Accept-Encoding": "identity" },
      signal,
    });
    for (const { method, target, base, about } of await linksOf(page, attempts)) {
      const url = resolved(target, base);
      if (url === undefined) {
        attempts.push({ method, url: target, outcome: "not a web address" });
      } else if (!isAbout(about, site, page.url, archive)) {
        attempts.push({ method, url, outcome: `is about ${about ?? "something else"}` });
      } else if (await isAt(method, url)) {
        return { url, method, archive: archive.href, attempts };
      }
    }
    const tried = attempts.map(({ method, url, outcome }) => `${method} ${url}: ${outcome}`);
    throw new MementoMapError(
      "MM_NOT_FOUND",
      `no map of ${quote(archive.href)} was found (${tried.join("; ")})`,
    );
  });
}

/** Whether a map is at an address; requests 4 KiB of it. */
export async function isMapAt(
  client: HttpClient,
  url: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return (await tryMap(client, url, signal)) === FOUND;
}

const FOUND = "found";

/** Checks whether a map is at an address; otherwise returns what is there. */
async function tryMap(
  client: HttpClient,
  url: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    const response = await client.request(url, {
      headers: { Range: `bytes=0-${MAX_SNIFFED_BYTES - 1}`, "Accept-Encoding": "identity" },
      signal,
    });
    const start = await bodyStart(response, MAX_SNIFFED_BYTES);
    if (response.status !== 200 && response.status !== 206) return `status ${response.status}`;
    const kind = sniff(start);
    return kind === "map" || kind === "packed" || kind === "compressed" ? FOUND : kindText(kind);
  } catch (error) {
    checkSignal(signal);
    if (isMementoMapError(error)) return error.message;
    throw error;
  }
}

interface Candidate {
  readonly method: DiscoveryMethod;
  readonly target: string;
  /** The base URL of the target. */
  readonly base: string;
  /** The subject of the link; undefined if it is not a web address. */
  readonly about: string | undefined;
}

/** The links to maps in the header and the text of a page. */
async function linksOf(page: HttpResponse, attempts: Attempt[]): Promise<Candidate[]> {
  const { url } = page;
  const inHeader = parseLinkHeader(page.headers.get("link") ?? "")
    .filter(({ rels }) => rels.includes(MEMENTOMAP_RELATION))
    .map(({ target, anchor }): Candidate => {
      const about = anchor === undefined ? url : resolved(anchor, url);
      return { method: "link-header", target, base: url, about };
    });
  if (inHeader.length === 0) {
    attempts.push({ method: "link-header", url, outcome: "no such link" });
  }
  const isHtml = /html/i.test(page.headers.get("content-type") ?? "");
  const html = new TextDecoder().decode(await bodyStart(page, isHtml ? MAX_HTML_BYTES : 0));
  const { base: written = "", hrefs } = htmlLinks(html, MEMENTOMAP_RELATION);
  if (hrefs.length === 0) {
    const outcome = isHtml ? "no such element" : "not an HTML page";
    attempts.push({ method: "html-link", url, outcome });
  }
  const base = resolved(written, url) ?? url;
  // A link element has no anchor: it is about its own page.
  const inText = hrefs.map((target): Candidate => ({
    method: "html-link",
    target,
    base,
    about: url,
  }));
  return [...inHeader, ...inText];
}

/** Whether a link is about the archive: its address, or the site that address redirects to. */
function isAbout(about: string | undefined, site: URL, pageUrl: string, archive: URL): boolean {
  if (about === undefined) return false;
  const { origin, href } = new URL(about);
  if (site.origin !== archive.origin) {
    return href.replace(/\/$/, "") === archive.href.replace(/\/$/, "");
  }
  return origin === archive.origin || origin === new URL(pageUrl).origin;
}

/** The address of a reference; undefined if it is not a web address. */
function resolved(reference: string, base?: string): string | undefined {
  const url = URL.canParse(reference, base) ? new URL(reference, base) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined;
}

/** @throws MM_BAD_URI */
export function webAddress(text: string): URL {
  const address = resolved(text);
  if (address !== undefined) return new URL(address);
  throw new MementoMapError(
    "MM_BAD_URI",
    `${quote(text)} is not a web address; write https://archive.example.org/`,
  );
}

/** Links of an HTML page, and their base URL. */
interface HtmlLinks {
  readonly base: string | undefined;
  /** The `href` of every `<link>` of the relation, in order. */
  readonly hrefs: readonly string[];
}

/** A comment, an element whose content is text, or a start tag; unclosed ones extend to the end. */
const MARKUP =
  /<!--[^]*?(?:-->|$)|<(noscript|script|style|template|textarea|title)(?![a-z0-9])[^]*?(?:<\/\1|$)|<([a-z][a-z0-9]*)((?:[^>"']|"[^"]*(?:"|$)|'[^']*(?:'|$))*)/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

/**
 * Finds the `<link>` elements of a relation in the text of a page.
 *
 * Not a full HTML parser: it handles comments, scripts and quotes, which is enough to find elements
 * in the head. Linear time, whatever the text is.
 */
export function htmlLinks(html: string, rel: string): HtmlLinks {
  const hrefs: string[] = [];
  let base: string | undefined;
  for (const [, , name, text = ""] of html.matchAll(MARKUP)) {
    const isBase = name?.toLowerCase() === "base";
    if (!isBase && name?.toLowerCase() !== "link") continue;
    const attributes = attributesOf(text);
    const href = attributes.get("href");
    if (href === undefined) continue;
    if (isBase) base ??= href;
    else if ((attributes.get("rel") ?? "").toLowerCase().split(/\s+/).includes(rel)) {
      hrefs.push(href);
    }
  }
  return { base, hrefs };
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const value = decodeEntities(double ?? single ?? bare ?? "").trim();
    if (!attributes.has(name.toLowerCase())) attributes.set(name.toLowerCase(), value);
  }
  return attributes;
}

/** Of named character references, addresses use only `&amp;`. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:amp|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (all, decimal, hex) => {
    if (all === "&amp;") return "&";
    const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
  });
}
