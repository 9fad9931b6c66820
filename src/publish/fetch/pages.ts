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
 * The address of the page behind page `number` of a map, or what is wrong with the link to it.
 *
 * The link is that of the `Link` header, and of the page itself where a server of plain files sends none.
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
    : { fault: `page ${number} leads to another site, ${origin}` };
}

/** What tells pages of one version of a map from those of another; undefined where none is stated. */
export function pageVersion(headers: UkvsHeaders): unknown {
  return pageMember(headers, "version");
}

function pageMember({ meta }: UkvsHeaders, name: string): unknown {
  const page = meta["page"];
  return isJsonObject(page) ? page[name] : undefined;
}
