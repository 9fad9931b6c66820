import { bodyStart, type HttpClient } from "../../http/http-client.ts";
import { NodeClient } from "../../http/node-client.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { MementoMapError } from "../../errors.ts";
import { parseLinkHeader } from "../../memento/links.ts";
import { MEMENTOMAP_RELATION } from "../../publish/fetch/discover.ts";
import { type Archive, homeOf } from "./archive.ts";

interface SharedMapOptions {
  /** Default a `NodeClient` that trusts the origin of the aggregator. */
  readonly client?: HttpClient | undefined;
  readonly proxies?: ProxySettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_LIST_BYTES = 2 ** 20;

/**
 * Gives archives without a map the maps that another aggregator shares of them: what it learnt. They are
 * found in its list of links at `/maps`, by the address of the archive.
 *
 * A link elsewhere than to the aggregator itself is passed over.
 *
 * @param address of the aggregator, or of its list of maps.
 * @throws MM_HTTP, MM_REFUSED, MM_BAD_URI, MM_INTERRUPTED
 */
export async function withSharedMaps(
  archives: readonly Archive[],
  address: string,
  options: SharedMapOptions = {},
): Promise<Archive[]> {
  const shared = await sharedMaps(address, options);
  return archives.map((archive) => {
    const map = archive.mementomap ?? shared.get(homeOf(archive));
    return map === undefined ? archive : { ...archive, mementomap: map };
  });
}

/** The addresses of maps, by those of their archives. */
async function sharedMaps(
  address: string,
  { client, proxies, signal }: SharedMapOptions,
): Promise<ReadonlyMap<string, string>> {
  const list = listAddress(address);
  const own = new NodeClient({ trustedOrigins: [list.origin], proxies });
  try {
    const response = await (client ?? own).request(list.href, {
      headers: { Accept: "application/linkset", "Accept-Encoding": "identity" },
      signal,
    });
    const bytes = await bodyStart(response, MAX_LIST_BYTES);
    if (response.status !== 200) {
      const message = `no list of maps: status ${response.status}`;
      throw new MementoMapError("MM_REFUSED", message, { position: { source: list.href } });
    }
    const maps = new Map<string, string>();
    for (const { target, rels, anchor } of parseLinkHeader(new TextDecoder().decode(bytes))) {
      if (!rels.includes(MEMENTOMAP_RELATION) || anchor === undefined) continue;
      if (!URL.canParse(anchor, list.href) || !URL.canParse(target, list.href)) continue;
      const map = new URL(target, list);
      if (map.origin === list.origin) maps.set(new URL(anchor, list).href, map.href);
    }
    return maps;
  } finally {
    own.close();
  }
}

function listAddress(address: string): URL {
  if (!URL.canParse(address)) {
    throw new MementoMapError("MM_BAD_URI", `not the URL of an aggregator: ${address}`);
  }
  const url = new URL(address);
  if (!/\/maps\/?$/.test(url.pathname))
    url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/maps`;
  return url;
}
