import { parseLinkHeader } from "../../memento/links.ts";
import { formatAmount } from "../../format.ts";
import { type PageMark, withoutPageMark } from "../../ukvs/head.ts";
import { formatHeaders, isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { MEMENTOMAP_RELATION } from "./discover.ts";

interface LinkedPage {
  /** Its address, after redirects. */
  readonly url: string;
  readonly link: string | null | undefined;
  readonly headers: UkvsHeaders;
}

/**
 * The address of the page after page `number` of a map, or the problem with the link to it.
 *
 * The link is in the `Link` header, or in the page itself if a server of plain files sends none.
 */
export function nextPage(
  { url, link, headers }: LinkedPage,
  number: number,
): { readonly url: string } | { readonly fault: string } {
  const byHeader = parseLinkHeader(link ?? "").find(
    ({ rels, anchor }) =>
      rels.includes("next") && !rels.includes(MEMENTOMAP_RELATION) && anchor === undefined,
  );
  const links = pageMember(headers, "links");
  const within = isJsonObject(links) ? links["next"] : undefined;
  const target = byHeader?.target ?? within;
  if (typeof target !== "string" || !URL.canParse(target, url)) {
    return { fault: `page ${number} has no link to page ${number + 1}` };
  }
  const { href, origin } = new URL(target, url);
  return origin === new URL(url).origin
    ? { url: href }
    : { fault: `page ${number} links to another site, ${origin}` };
}

/** The beginning of a map, or of a page of one. */
export interface PageHead {
  readonly headers: UkvsHeaders;
  /** Undefined for a whole map. */
  readonly mark: PageMark | undefined;
}

/** The problem with a page that should have this number and follow the one before it. */
export function pageFault(page: PageHead, number: number, before?: PageHead): string | undefined {
  const { mark } = page;
  if (mark === undefined) return "is not a page of a map";
  if (mark.number !== number) return `is page ${mark.number}, not page ${number}`;
  if (before?.mark === undefined) return undefined;
  if (mark.of !== before.mark.of) {
    return `is one of ${formatAmount(mark.of, "page")}, not of ${before.mark.of}`;
  }
  if (versionOf(page) !== versionOf(before)) return "is of another version than the previous page";
  const [first, last] = [mark.first, before.mark.last].map((key) => Buffer.from(key ?? ""));
  const isBehind = first.length === 0 || last.length === 0 || Buffer.compare(last, first) < 0;
  return isBehind ? undefined : "begins before the end of the previous page";
}

/** Identifies the version of the map that a page belongs to. */
function versionOf({ headers }: PageHead): string {
  const version = pageMember(headers, "version");
  return [JSON.stringify(version), ...formatHeaders(withoutPageMark(headers))].join("\n");
}

function pageMember({ meta }: UkvsHeaders, name: string): unknown {
  const page = meta["page"];
  return isJsonObject(page) ? page[name] : undefined;
}
