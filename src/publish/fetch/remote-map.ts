import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import type { HttpClient } from "../../http/http-client.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import type { SourceLookup } from "../../lookup/map-lookup.ts";
import { acceptedForm } from "./discover.ts";
import { HttpSource, PagedSource } from "./http-source.ts";

export interface OpenRemoteOptions {
  /** Whether to ask for the packed form, where the server has one; default false. */
  readonly packed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Requests made, bytes that came, and bytes of what was opened. */
export interface Traffic {
  readonly requests: number;
  readonly bytes: number;
  readonly size: number;
}

/** A map on a server, looked up by requests for parts of it. */
export interface RemoteMap {
  readonly lookup: SourceLookup;
  readonly traffic: () => Traffic;
  /** The map, or its pages from the first to the last. */
  readonly sources: (signal?: AbortSignal) => AsyncIterable<ByteSource> | Iterable<ByteSource>;
}

/**
 * Opens a map on a server, of text or packed.
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
  if (isPacked(await source.read(0, PACKED_MAGIC.length))) {
    return {
      lookup: await PackedLookup.open(source, { signal }),
      traffic: () => ({ ...source.traffic, size: source.size }),
      sources: () => [source],
    };
  }
  const lookup = await PagedSource.of(client, source, signal);
  return {
    lookup,
    traffic: () => lookup.traffic,
    sources: (ended) => lookup.sources(ended),
  };
}
