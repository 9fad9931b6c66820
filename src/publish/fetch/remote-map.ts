import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import type { HttpClient } from "../../http/http-client.ts";
import type { SourceLookup } from "../../lookup/map-lookup.ts";
import { MapSearch } from "../../lookup/map-search.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { acceptedForm } from "./discover.ts";
import { HttpSource } from "./http-source.ts";

export interface OpenRemoteOptions {
  /** Whether to ask for the packed form, where the server has one; default false. */
  readonly packed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Large enough that few requests are made, small enough that little is fetched unnecessarily. */
const BLOCK_BYTES = 32_768;

/** A map on a server, looked up by requests for parts of it. */
export interface RemoteMap {
  readonly lookup: SourceLookup;
  readonly source: HttpSource;
}

/**
 * Opens a map on a server, of text or packed. One page of several answers for its own keys only.
 *
 * @throws MM_REFUSED when the server does not answer ranges, or gives no strong tag; MM_HTTP; what is
 *   wrong with the map.
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
