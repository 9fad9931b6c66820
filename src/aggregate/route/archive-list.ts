import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bodyStart, type HttpClient, httpRefusal } from "../../http/http-client.ts";
import { ioError, isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { parseLinkHeader } from "../../memento/links.ts";
import { MEMENTOMAP_RELATION } from "../../publish/fetch/discover.ts";
import { type Archive, homeOf, isWebAddress, parseArchiveList } from "./archive.ts";
import { NodeClient } from "../../http/node-client.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { interruptible } from "../../interruption.ts";

const MAX_LIST_BYTES = 4 * 2 ** 20;

/** The map of an archive is looked for at the archive itself. */
export const DISCOVERED = "auto";

export interface LoadArchivesOptions {
  /** For a list on the Web; default a `NodeClient` that trusts its origin. */
  readonly client?: HttpClient | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
  /**
   * Addresses of aggregators that share maps of what they learnt: archives without a map are given these.
   * An aggregator that cannot be asked is passed over if there is `onFailure`.
   */
  readonly sharedBy?: readonly string[] | undefined;
  readonly onFailure?: ((address: string, error: MementoMapError) => void) | undefined;
  /** Told how many archives were given a map that an aggregator shares. */
  readonly onShared?: ((address: string, maps: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a list of archives from a file, or from the Web if it is an address with http:// or https://.
 *
 * Maps that the list names by a path or a relative address are taken from where the list is. A list
 * from the Web cannot name files.
 *
 * @throws MM_IO, MM_HTTP, MM_REFUSED, and MM_BAD_INPUT for faults of the list;
 *   MM_INTERRUPTED.
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { loadArchives } from "mementomap/node";
 *
 * await writeFile("archives.json", '[{ "id": "a", "timemap": "https://a.example/timemap/" }]');
 * console.log((await loadArchives("archives.json")).length);
 * ```
 * ```
 * 1
 * ```
 */
export function loadArchives(
  place: string | URL,
  options: LoadArchivesOptions = {},
): Promise<Archive[]> {
  return interruptible(options.signal, async () => {
    let archives = await load(String(place), options);
    for (const address of options.sharedBy ?? []) {
      try {
        const before = archives;
        archives = await withSharedMaps(before, address, options);
        const given = archives.filter(({ mementomap }, i) => mementomap !== before[i].mementomap);
        options.onShared?.(address, given.length);
      } catch (error) {
        const { onFailure } = options;
        if (!isMementoMapError(error) || onFailure === undefined) throw error;
        if (error.code === "MM_INTERRUPTED") throw error;
        onFailure(address, error);
      }
    }
    return archives;
  });
}

async function load(place: string, options: LoadArchivesOptions): Promise<Archive[]> {
  const source = place.startsWith("file:") ? fileURLToPath(place) : place;
  const text = isWebAddress(source)
    ? await fetchedText(source, "application/json", "no list of archives", options)
    : await readFile(source, "utf8").catch((error: unknown) => {
        throw ioError(error, source);
      });
  return parseArchiveList(text, source).map((archive) => ({
    ...archive,
    mementomap: mapFrom(source, archive),
  }));
}

/** Where the map of an archive is, as seen from its list. */
function mapFrom(list: string, { id, mementomap: map }: Archive): string | undefined {
  if (map === undefined || map === DISCOVERED) return map;
  if (!isWebAddress(list)) {
    if (isWebAddress(map)) return map;
    return map.startsWith("file:") ? fileURLToPath(map) : resolve(dirname(list), map);
  }
  const url = URL.canParse(map, list) ? new URL(map, list).href : "";
  if (isWebAddress(url)) return url;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `archive ${quote(id)}: a list from the Web cannot name the map ${quote(map)}; an address is expected`,
    { position: { source: list } },
  );
}

/** @param what what a message says that the server has not. */
async function fetchedText(
  url: string,
  type: string,
  what: string,
  { client, proxies, signal }: LoadArchivesOptions,
): Promise<string> {
  const own = new NodeClient({ trustedOrigins: [new URL(url).origin], proxies });
  try {
    const headers = { Accept: type, "Accept-Encoding": "identity" };
    const response = await (client ?? own).request(url, { headers, signal });
    const bytes = await bodyStart(response, MAX_LIST_BYTES + 1);
    if (response.status !== 200) throw httpRefusal(url, `${what}: status ${response.status}`);
    if (bytes.length <= MAX_LIST_BYTES) return new TextDecoder().decode(bytes);
    throw httpRefusal(url, `${what}: longer than ${MAX_LIST_BYTES} bytes`);
  } finally {
    own.close();
  }
}

/**
 * Gives archives without a map the maps that another aggregator shares of them: what it learnt. They are
 * found in its list of links at `/maps`, by the address of the archive.
 *
 * A link elsewhere than to the aggregator itself is passed over.
 *
 * @param address of the aggregator, or of its list of maps.
 * @throws MM_HTTP, MM_REFUSED, MM_BAD_URI, MM_INTERRUPTED
 */
async function withSharedMaps(
  archives: readonly Archive[],
  address: string,
  options: LoadArchivesOptions,
): Promise<Archive[]> {
  if (!URL.canParse(address)) {
    throw new MementoMapError("MM_BAD_URI", `not the URL of an aggregator: ${address}`);
  }
  const list = new URL(address);
  if (!/\/maps\/?$/.test(list.pathname))
    list.pathname = `${list.pathname.replace(/(?<!\/)\/+$/, "")}/maps`;
  const links = await fetchedText(list.href, "application/linkset", "no list of maps", options);
  const shared = new Map<string, string>();
  for (const { target, rels, anchor } of parseLinkHeader(links)) {
    if (!rels.includes(MEMENTOMAP_RELATION) || anchor === undefined) continue;
    if (!URL.canParse(anchor, list.href) || !URL.canParse(target, list.href)) continue;
    const map = new URL(target, list);
    if (map.origin === list.origin) shared.set(new URL(anchor, list).href, map.href);
  }
  return archives.map((archive) => {
    const map = archive.mementomap ?? shared.get(homeOf(archive));
    return map === undefined ? archive : { ...archive, mementomap: map };
  });
}

/** How the list of archives is, for those who look after the service. */
export interface ListState {
  /** When the list in use was read, in milliseconds since 1970. */
  readonly takenAt: number;
  /** What is wrong with the list as it is now; an older one is in use. */
  readonly error: string | undefined;
}
