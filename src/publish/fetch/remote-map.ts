import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import type { HttpClient } from "../../http/http-client.ts";
import type { SourceLookup } from "../../lookup/map-lookup.ts";
import { MapSearch } from "../../lookup/map-search.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { acceptedForm } from "./discover.ts";
import { HttpSource } from "./http-source.ts";

export interface OpenRemoteOptions {
  /** Whether to request the packed form, if the server has one; default false. */
  readonly packed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Large enough for few requests, small enough to fetch little unnecessarily. */
const BLOCK_BYTES = 32_768;

/** A map on a server, looked up with range requests. */
export interface RemoteMap {
  readonly lookup: SourceLookup;
  readonly source: HttpSource;
}

/**
 * Opens a map on a server, text or packed. One page of several answers for its own keys only.
 *
 * @throws MM_REFUSED when the server does not support range requests, or sends no strong tag; MM_HTTP;
 *   any fault of the map.
 */
export async function openRemoteMap(
  client: HttpClient,
  url: string,
  { packed, signal }: OpenRemoteOptions = {},
): Promise<RemoteMap> {
  const source = await HttpSource.open(client, url, signal, acceptedForm(packed));
  const lookup = isPacked(await source.read(0, PACKED_MAGIC.length))
    ? await PackedLookup.open(source, { signal })
    : await MapSearch.open(source, { blockBytes: BLOCK_BYTES, signal });
  return { lookup, source };
}
