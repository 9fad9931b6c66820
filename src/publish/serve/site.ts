import { Holdings } from "./holdings.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { ClientView } from "../../http/forwarded.ts";
import type { Metrics } from "../../http/metrics.ts";
import { PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import type { BaseExchange } from "../../http/service.ts";

export const WELL_KNOWN_PATH = "/.well-known/mementomap";

/** Proxies refuse header sections much larger; what does not fit is listed at `/maps`. */
const MAX_LINK_BYTES = 3000;

export interface SiteOptions {
  readonly maps: readonly HostedMap[];
  /** The public address of the site, such as `https://archive.example.org`; links are relative without. */
  readonly base?: string | undefined;
  /** What comes before `/lookup`, `/maps` and the rest; the well-known path has no prefix. */
  readonly prefix: string;
  /** Whether all maps are of other archives, so that none is at the well-known path. */
  readonly isThirdParty: boolean;
  /** What a URI is written behind to look at it in the site's own archive. */
  readonly replay?: string | undefined;
}

export interface SiteMap {
  readonly map: HostedMap;
  /** A path, or a whole URL where the site knows its address. */
  readonly href: string;
  /** The archive the map is of, where that is not this site. */
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

  /** A path of the site as links give it. */
  href(path: string): string {
    return `${this.#base}${path}`;
  }

  /** The address people reach the site at, as far as is known: for examples to copy. */
  origin({ protocol, host = "localhost" }: ClientView): string {
    return this.#base === "" ? `${protocol}://${host}` : new URL(this.#base).origin;
  }

  map(id: string): HostedMap | undefined {
    return this.maps.find((map) => map.id === id);
  }

  /**
   * The map of the archive this host belongs to, which is at the well-known path: the map whose
   * `!id` is on that host, or else the first.
   */
  ownMap(host: string | undefined): HostedMap | undefined {
    if (this.#isThirdParty) return undefined;
    if (host === undefined || this.maps.length === 1) return this.maps[0];
    return this.maps.find((map) => hostOf(archiveOf(map)) === host.toLowerCase()) ?? this.maps[0];
  }

  /** Every map as a client of this host is to see it, its own first. */
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
 * The links to a map as headers have them, one for each form of it; none for a map of an archive that
 * it does not name.
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

/** The archive a map says it is of, if that is a URL that can stand in a header. */
export function archiveOf(map: HostedMap): string | undefined {
  const { id } = map.current.survey.plan.headers;
  return id !== undefined && /^https?:\/\/[!#-;=?-[\]_a-z~]+$/i.test(id) ? id : undefined;
}

function hostOf(archive: string | undefined): string | undefined {
  return archive === undefined || !URL.canParse(archive) ? undefined : new URL(archive).host;
}

/** What a client may ask of a publisher. */
export interface PublisherLimits {
  /** Bytes of a batch, decompressed; larger ones are cut off. */
  readonly maxBatchBytes: number;
  /** Bytes of a URI within a batch. */
  readonly maxUriBytes: number;
}

export const DEFAULT_PUBLISHER_LIMITS: PublisherLimits = {
  maxBatchBytes: 256 * 2 ** 20,
  maxUriBytes: 64 * 2 ** 10,
};

/** A request that is being answered, and what is needed for it. */
export interface Exchange extends BaseExchange {
  readonly site: Site;
  readonly metrics: Metrics;
  readonly limits: PublisherLimits;
  readonly cacheControl: string;
}
