import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bodyStart, type HttpClient, httpRefusal } from "../../http/http-client.ts";
import { ioError, MementoMapError, quote } from "../../errors.ts";
import { type Archive, isWebAddress, parseArchiveList } from "./archive.ts";
import { NodeClient } from "../../http/node-client.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { interruptible } from "../../interruption.ts";

const MAX_LIST_BYTES = 4 * 2 ** 20;

/** The map is discovered at the archive itself. */
export const DISCOVERED = "auto";

export interface LoadArchivesOptions {
  /** Fetches a list from the Web; default a `NodeClient` that trusts its origin. */
  readonly client?: HttpClient | undefined;
  /** Proxies by request; default none. */
  readonly proxies?: ProxySettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a list of archives from a file, or from the Web if it is an http:// or https:// URL.
 *
 * Paths and relative URLs of maps are resolved against the location of the list. A list from the Web
 * cannot name files.
 *
 * @throws MM_IO, MM_HTTP, MM_REFUSED, MM_INTERRUPTED; MM_BAD_INPUT for an invalid list.
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
  return interruptible(options.signal, () => load(String(place), options));
}

async function load(place: string, options: LoadArchivesOptions): Promise<Archive[]> {
  const source = place.startsWith("file:") ? fileURLToPath(place) : place;
  const text = isWebAddress(source)
    ? await fetchedText(source, options)
    : await readFile(source, "utf8").catch((error: unknown) => {
        throw ioError(error, source);
      });
  return parseArchiveList(text, source).map((archive) => ({
    ...archive,
    mementomap: mapFrom(source, archive),
  }));
}

/** The location of an archive's map, resolved against that of its list. */
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
    `archive ${quote(id)}: a list from the Web cannot name the map ${quote(map)}; use a URL`,
    { position: { source: list } },
  );
}

async function fetchedText(
  url: string,
  { client, proxies, signal }: LoadArchivesOptions,
): Promise<string> {
  const own = new NodeClient({ trustedOrigins: [new URL(url).origin], proxies });
  try {
    const headers = { Accept: "application/json", "Accept-Encoding": "identity" };
    const response = await (client ?? own).request(url, { headers, signal });
    const bytes = await bodyStart(response, MAX_LIST_BYTES + 1);
    const refuse = (reason: string): MementoMapError =>
      httpRefusal(url, `not a list of archives: ${reason}`);
    if (response.status !== 200) throw refuse(`status ${response.status}`);
    if (bytes.length <= MAX_LIST_BYTES) return new TextDecoder().decode(bytes);
    throw refuse(`longer than ${MAX_LIST_BYTES} bytes`);
  } finally {
    own.close();
  }
}

/** State of the list of archives, for operators. */
export interface ListState {
  /** When the current list was read, in milliseconds since 1970. */
  readonly takenAt: number;
  /** Why the latest list was rejected; an older one is in use. */
  readonly error: string | undefined;
}
