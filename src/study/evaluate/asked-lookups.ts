import { isSurtText, LookupList, lookupTexts } from "../../lookup/lookup-list.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { openInput } from "../../files/input-file.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { OriginalKey } from "../analyze/original-key.ts";

/**
 * Lookups, by the keys to look up, which have no query, and by URI (URI-R), which are distinct by their
 * SURT with its query.
 *
 * Holds all of them in memory.
 */
export class AskedLookups {
  /** Keys with their indexes, in order of arrival. */
  readonly keys: Map<string, number> = new Map();
  /** URIs with the indexes of their keys. */
  readonly uris: Map<string, number> = new Map();
  readonly #original = new OriginalKey();

  add(text: string): void {
    const { key, uri } = this.#original.namesOf(isSurtText(text) ? text : surt(text));
    const place = this.keys.get(key) ?? this.keys.size;
    this.keys.set(key, place);
    this.uris.set(uri, place);
  }

  /** Reads a list; returns the number of skipped lines, which are neither URIs nor SURTs. */
  async read(path: string, streams: MapStreams): Promise<number> {
    const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
    const list = new LookupList(input.name);
    for await (const texts of lookupTexts(input.chunks, list, input.name)) {
      for (const text of texts) this.add(text);
    }
    return list.skippedLines;
  }
}
