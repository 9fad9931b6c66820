import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import type { HttpClient } from "../../http/http-client.ts";
import type { Answer, KeyAnswer, LookupOptions, MapLookup } from "../../map/lookup/map-lookup.ts";
import { PackedLookup } from "../../map/lookup/packed-lookup.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { acceptedForm } from "./discover.ts";
import { HttpSource, PagedSearch } from "./http-source.ts";

/** A map on a server, looked up by requests for parts of it. */
export interface RemoteMap extends MapLookup {
  /** Requests made, bytes that came, and bytes of what was opened. */
  readonly traffic: { readonly requests: number; readonly bytes: number; readonly size: number };
  /** The map, or its pages from the first to the last. */
  sources(signal?: AbortSignal): AsyncIterable<ByteSource> | Iterable<ByteSource>;
}

export interface OpenRemoteOptions {
  /** Whether to ask for the packed form, where the server has one; default false. */
  readonly packed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
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
  return isPacked(await source.read(0, PACKED_MAGIC.length))
    ? new RemotePackedMap(source, await PackedLookup.open(source, { signal }))
    : PagedSearch.of(client, source, signal);
}

/** Holds the head of a packed map, and the shards that were asked for. */
class RemotePackedMap implements RemoteMap {
  readonly #source: HttpSource;
  readonly #lookup: PackedLookup;

  constructor(source: HttpSource, lookup: PackedLookup) {
    this.#source = source;
    this.#lookup = lookup;
  }

  get headers(): UkvsHeaders {
    return this.#lookup.headers;
  }

  get traffic(): RemoteMap["traffic"] {
    return { ...this.#source.traffic, size: this.#source.size };
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.#lookup.lookup(uri, options);
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return this.#lookup.lookupSurt(surt, options);
  }

  find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return this.#lookup.find(key, options);
  }

  sources(): ByteSource[] {
    return [this.#source];
  }
}
