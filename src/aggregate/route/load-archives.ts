import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bodyStart, type HttpClient } from "../../http/http-client.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { Archive } from "./archive.ts";
import { parseArchiveList } from "./archive-list.ts";
import { NodeClient } from "../../http/node-client.ts";
import { ioError } from "../../files/io-error.ts";
import type { ProxySettings } from "../../http/proxy-settings.ts";
import { interruptible } from "../../interruption.ts";

const MAX_LIST_BYTES = 4 * 2 ** 20;

/** The map of an archive is looked for at the archive itself. */
export const DISCOVERED = "auto";

export interface LoadArchivesOptions {
  /** For a list on the Web; default a `NodeClient` that trusts its origin. */
  readonly client?: HttpClient | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
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
 */
export function loadArchives(
  place: string | URL,
  options: LoadArchivesOptions = {},
): Promise<Archive[]> {
  return interruptible(options.signal, () => load(place, options));
}

async function load(place: string | URL, options: LoadArchivesOptions): Promise<Archive[]> {
  const text = String(place);
  if (isWebAddress(text)) {
    const archives = parseArchiveList(await fetchedText(text, options), text);
    return archives.map((archive) => withMap(archive, (map) => addressFrom(map, text, archive)));
  }
  const path = text.startsWith("file:") ? fileURLToPath(text) : text;
  const archives = parseArchiveList(await fileText(path), path);
  return archives.map((archive) => withMap(archive, (map) => pathFrom(map, path)));
}

/** Whether a text is an address of the Web, and not a path. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function withMap(archive: Archive, resolved: (map: string) => string): Archive {
  const { mementomap } = archive;
  if (mementomap === undefined || mementomap === DISCOVERED) return archive;
  return { ...archive, mementomap: resolved(mementomap) };
}

function addressFrom(map: string, list: string, { id }: Archive): string {
  const url = URL.canParse(map, list) ? new URL(map, list).href : "";
  if (isWebAddress(url)) return url;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `archive ${quote(id)}: a list from the Web cannot name the map ${quote(map)}; an address is expected`,
    { position: { source: list } },
  );
}

function pathFrom(map: string, list: string): string {
  if (isWebAddress(map)) return map;
  return map.startsWith("file:") ? fileURLToPath(map) : resolve(dirname(list), map);
}

async function fileText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
}

async function fetchedText(url: string, options: LoadArchivesOptions): Promise<string> {
  const { proxies } = options;
  const own = new NodeClient({ trustedOrigins: [new URL(url).origin], proxies });
  try {
    const response = await (options.client ?? own).request(url, {
      headers: { Accept: "application/json", "Accept-Encoding": "identity" },
      signal: options.signal,
    });
    const bytes = await bodyStart(response, MAX_LIST_BYTES + 1);
    if (response.status !== 200) throw refused(url, `status ${response.status}`);
    if (bytes.length > MAX_LIST_BYTES) throw refused(url, `longer than ${MAX_LIST_BYTES} bytes`);
    return new TextDecoder().decode(bytes);
  } finally {
    own.close();
  }
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", `no list of archives: ${message}`, {
    position: { source: url },
  });
}
