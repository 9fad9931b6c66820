import { packageVersion } from "../../files/package-file.ts";
import { notFound, PACKED_CONTENT_TYPE, problemReply, type Reply } from "../../http/reply.ts";
import { openSearchReply, pageReply } from "../../page/app-page.ts";
import { pageAsset } from "../../page/page-assets.ts";
import type { PageData } from "../../page/page-data.ts";
import { surveyedMapInfo } from "./map-info.ts";
import type { Exchange } from "./site.ts";

/** A page of the application; without scripts, it still looks a URI up. */
export function page(exchange: Exchange): Promise<Reply> {
  const { site, client } = exchange;
  // HTML has no anchor attribute: links to maps of other archives are in the HTTP header only.
  const own = site.links(client).filter(({ anchor }) => anchor === undefined);
  const links = own.map(({ href, map }) => ({
    rel: "mementomap",
    href,
    type: map.current.isPacked ? PACKED_CONTENT_TYPE : "text/plain",
  }));
  return pageReply(exchange, pageData(exchange), links);
}

function pageData({ site, client }: Exchange): Omit<PageData, "answers"> {
  const own = site.ownMap(client.host);
  const maps = site.links(client).map(({ map, href, anchor }) => {
    const { current } = map;
    const { survey, whole } = current;
    const info = surveyedMapInfo(survey, {
      id: map.id,
      archive: anchor,
      href,
      modified: whole.lastModified,
      bytes: whole.body.size,
    });
    const replay = (map === own ? site.replay : undefined) ?? info.replay;
    return { ...info, isPacked: current.isPacked, replay };
  });
  const name = maps[0].name ?? maps[0].archive ?? "MementoMap";
  return {
    service: "publisher",
    base: client.prefix,
    // Terminals interpret these characters, and some reverse window titles.
    name: name.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, ""),
    version: packageVersion(),
    origin: site.origin(client),
    maps,
    archives: [],
  };
}

/** `GET /page/NAME`: a file of the application. */
export function asset(exchange: Exchange, name: string): Reply {
  const found = pageAsset(name, exchange.request.headers["accept-encoding"]?.toString());
  if (found === undefined) return problemReply(notFound("the page has no file of this name"));
  return { status: 200, ...found };
}

/** `GET /opensearch.xml` */
export function openSearch(exchange: Exchange): Reply {
  const { name, origin, base } = pageData(exchange);
  return openSearchReply(name, `${origin}${base}`);
}
