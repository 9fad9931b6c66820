import { parseLinkHeader } from "../../memento/links.ts";
import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { MEMENTOMAP_RELATION } from "./discover.ts";

interface LinkedPage {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly link: string | null | undefined;
  readonly headers: UkvsHeaders;
}

/**
 * The address of the page behind one of the same map, or before it, or what is wrong with the link to it.
 *
 * The link is that of the `Link` header, and of the page itself where a server of plain files sends none.
 */
export function neighbourPage(
  page: LinkedPage,
  number: number,
  step: 1 | -1 = 1,
): { readonly url: string } | { readonly fault: string } {
  const relation = step > 0 ? "next" : "prev";
  const byHeader = parseLinkHeader(page.link ?? "").find(
    ({ rels, anchor }) =>
      rels.includes(relation) && !rels.includes(MEMENTOMAP_RELATION) && anchor === undefined,
  );
  const target = byHeader?.target ?? linkWithin(page.headers, relation);
  if (target === undefined || !URL.canParse(target, page.url)) {
    return { fault: `page ${number} has no link to page ${number + step}` };
  }
  const { href, origin } = new URL(target, page.url);
  return origin === new URL(page.url).origin
    ? { url: href }
    : { fault: `page ${number} leads to another site, ${origin}` };
}

/** What tells pages of one version of a map from those of another; undefined where none is stated. */
export function pageVersion({ meta }: UkvsHeaders): unknown {
  const page = meta["page"];
  return isJsonObject(page) ? page["version"] : undefined;
}

function linkWithin({ meta }: UkvsHeaders, relation: string): string | undefined {
  const page = meta["page"];
  const links = isJsonObject(page) ? page["links"] : undefined;
  const target = isJsonObject(links) ? links[relation] : undefined;
  return typeof target === "string" ? target : undefined;
}
