import { Holdings } from "./holdings.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { ClientView } from "../../http/forwarded.ts";
import type { Metrics } from "../../http/metrics.ts";
import { PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import type { BaseExchange } from "../../http/service.ts";

export const WELL_KNOWN_PATH = "/.well-known/mementomap";

/** Proxies reject much larger header sections; the remaining maps are listed at `/maps`. */
const MAX_LINK_BYTES = 3000;

export interface SiteOptions {
  readonly maps: readonly HostedMap[];
  /** The public address of the site, such as `https://archive.example.org`; default relative links. */
  readonly base?: string | undefined;
  /** Prefix of `/lookup`, `/maps` and the rest; the well-known path has none. */
  readonly prefix: string;
  /** Whether all maps are of other archives, so that there is none at the well-known path. */
  readonly isThirdParty: boolean;
  /** Prefix of the URI of a page to view it in the site's own archive. */
  readonly replay?: string | undefined;
}

export interface SiteMap {
  readonly map: HostedMap;
  /** A path, or an absolute URL if the site knows its address. */
  readonly href: string;
  /** The archive of the map, if it is not this site. */
  readonly anchor: string | undefined;
}

/** The maps of a site, and how the site links to them. */
export class Site {
  readonly maps: readonly HostedMap[];
  readonly prefix: string;
  readonly replay: string | undefined;
  readonly holdings: Holdings = new Holdings();
  readonly #base: string;
  readonly #isThirdParty: boolean;

  constructor(options: SiteOptions) {
    this.maps = options.maps;
    this.prefix = options.prefix;
    this.replay = options.replay;
    this.#base = (options.base ?? "").replace(/(?<!\/)\/+$/, "");
    this.#isThirdParty = options.isThirdParty;
  }

  /** A path of the site in the form used in links. */
  href(path: string): string {
    return `${this.#base}${path}`;
  }

  /** The public origin of the site as far as known, for examples. */
  origin({ protocol, host = "localhost" }: ClientView): string {
    return this.#base === "" ? `${protocol}://${host}` : new URL(this.#base).origin;
  }

  map(id: string): HostedMap | undefined {
    return this.maps.find((map) => map.id === id);
  }

  /**
   * The map of the archive of this host, which is at the well-known path: the map whose `!id` is on
   * that host, or else the first.
   */
  ownMap(host: string | undefined): HostedMap | undefined {
    if (this.#isThirdParty) return undefined;
    if (host === undefined || this.maps.length === 1) return this.maps[0];
    return this.maps.find((map) => hostOf(archiveOf(map)) === host.toLowerCase()) ?? this.maps[0];
  }

  /** All maps as seen by a client of this host, its own first. */
  links({ host, prefix }: ClientView): SiteMap[] {
    const own = this.ownMap(host);
    const others = this.maps.filter((map) => map !== own);
    const links = others.map((map): SiteMap => {
      return { map, href: this.href(`${prefix}/maps/${map.id}`), anchor: archiveOf(map) };
    });
    if (own === undefined) return links;
    return [{ map: own, href: this.href(WELL_KNOWN_PATH), anchor: undefined }, ...links];
  }

  /** The `Link` header that every response carries. */
  linkHeader(client: ClientView): string {
    let header = "";
    for (const link of this.links(client).flatMap(linkValues)) {
      if (header.length + link.length > MAX_LINK_BYTES) break;
      header += header === "" ? link : `, ${link}`;
    }
    if (this.maps.length === 1 && header !== "") return header;
    const list = `<${this.href(`${client.prefix}/maps`)}>; rel="linkset"; type="application/linkset"`;
    return [header, list].filter(Boolean).join(", ");
  }
}

/**
 * The links to a map in header form, one for each form of it; none for a third-party map that names
 * no archive.
 */
export function linkValues(link: SiteMap): string[] {
  const { packed, current } = link.map;
  const value = linkValue(link);
  if (value === undefined) return [];
  if (packed === undefined && !current.isPacked) return [value];
  const types = packed === undefined ? [PACKED_CONTENT_TYPE] : ["text/plain", PACKED_CONTENT_TYPE];
  return types.map((type) => `${value}; type="${type}"`);
}

function linkValue({ href, anchor, map }: SiteMap): string | undefined {
  if (anchor === undefined) {
    return href.endsWith(WELL_KNOWN_PATH) ? `<${href}>; rel="mementomap"` : undefined;
  }
  const { name } = map.current.survey.plan.headers.meta;
  const isPlain = typeof name === "string" && /^[ !#-[\]-~]{1,100}$/.test(name);
  return `<${href}>; rel="mementomap"; anchor="${anchor}"${isPlain ? `; title="${name}"` : ""}`;
}

/** The archive that a map names, if it is a URL that is valid in a header. */
export function archiveOf(map: HostedMap): string | undefined {
  const { id } = map.current.survey.plan.headers;
  return id !== undefined && /^https?:\/\/[!#-;=?-[\]_a-z~]+$/i.test(id) ? id : undefined;
}

function hostOf(archive: string | undefined): string | undefined {
  return archive === undefined || !URL.canParse(archive) ? undefined : new URL(archive).host;
}

/** Limits on requests to a publisher. */
export interface PublisherLimits {
  /** Maximum bytes of a batch, decompressed; larger ones are cut off. */
  readonly maxBatchBytes: number;
  /** Maximum bytes of a URI within a batch. */
  readonly maxUriBytes: number;
}

export const DEFAULT_PUBLISHER_LIMITS: PublisherLimits = {
  maxBatchBytes: 256 * 2 ** 20,
  maxUriBytes: 64 * 2 ** 10,
};

/** A request being answered, with its context. */
export interface Exchange extends BaseExchange {
  readonly site: Site;
  readonly metrics: Metrics;
  readonly limits: PublisherLimits;
  readonly cacheControl: string;
}
