import { parseLinkHeader } from "../../memento/links.ts";
import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { MEMENTOMAP_RELATION } from "./discover.ts";

/** One page of a map, as a server gave it. */
export interface LinkedPage {
  /** Where it came from, after redirects. */
  readonly url: string;
  /** The `Link` header of the response. */
  readonly link: string | null | undefined;
  readonly headers: UkvsHeaders;
}

/** How one page of a map names another. */
export type PageRelation = "first" | "prev" | "next" | "last";

/**
 * The address of another page of the same map: by the `Link` header, and by the page itself where a
 * server of plain files sends none. Undefined without such a link.
 */
export function pageLink(page: LinkedPage, relation: PageRelation): string | undefined {
  const byHeader = parseLinkHeader(page.link ?? "").find(
    ({ rels, anchor }) =>
      rels.includes(relation) && !rels.includes(MEMENTOMAP_RELATION) && anchor === undefined,
  );
  const target = byHeader?.target ?? linkWithin(page.headers, relation);
  return target !== undefined && URL.canParse(target, page.url)
    ? new URL(target, page.url).href
    : undefined;
}

/** What tells pages of one version of a map from those of another; undefined where none is stated. */
export function pageVersion({ meta }: UkvsHeaders): unknown {
  const page = meta["page"];
  return isJsonObject(page) ? page["version"] : undefined;
}

function linkWithin({ meta }: UkvsHeaders, relation: PageRelation): string | undefined {
  const page = meta["page"];
  const links = isJsonObject(page) ? page["links"] : undefined;
  const target = isJsonObject(links) ? links[relation] : undefined;
  return typeof target === "string" ? target : undefined;
}
