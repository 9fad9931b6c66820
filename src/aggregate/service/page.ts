import { packageVersion } from "../../files/package-file.ts";
import { notFound, problemReply, type Reply } from "../../http/reply.ts";
import { openSearchReply, pageReply } from "../../page/app-page.ts";
import { pageAsset } from "../../page/page-assets.ts";
import type { MapInfo } from "../../page/page-data.ts";
import { homeOf } from "../route/archive.ts";
import type { MapState } from "../route/kept-map.ts";
import type { Exchange } from "./exchange.ts";
import { archiveStatuses } from "./open-aggregator.ts";

const NAME = "Memento aggregator";

/** A page of the application. Queries no archive: mementos are loaded when it runs. */
export function page(exchange: Exchange): Promise<Reply> {
  const { base, options } = exchange;
  const archives = archiveStatuses(options.open);
  const { pathname, origin } = new URL(base);
  return pageReply(exchange, {
    service: "aggregator",
    base: pathname.replace(/\/$/, ""),
    name: NAME,
    version: packageVersion(),
    origin,
    maps: archives.flatMap(({ map }) => mapInfo(map) ?? []),
    archives: archives.map(({ archive, map }) => ({
      id: archive.id,
      name: archive.name,
      timemap: archive.timemap ?? null,
      hasMap: map !== undefined && map.keys > 0,
    })),
  });
}

/** A map to explore and compare; its holdings are loaded on demand. */
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

/** A file of the application. */
export function asset({ request }: Exchange, name: string): Reply {
  const found = pageAsset(name, request.headers["accept-encoding"]?.toString());
  if (found === undefined) return problemReply(notFound("the page has no file of this name"));
  return { status: 200, ...found };
}

/** `GET /opensearch.xml` */
export function openSearch({ base }: Exchange): Reply {
  return openSearchReply(NAME, base);
}
