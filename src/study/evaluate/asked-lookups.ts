import { isSurtText, LookupList, lookupTexts } from "../../lookup/lookup-list.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { openInput } from "../../files/input-file.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { OriginalKey } from "../analyze/original-key.ts";

/**
 * Lookups, by the keys that maps are asked for, which have no query, and by the URIs themselves
 * (URI-Rs), which are distinct by their SURT with its query.
 *
 * Holds all of them.
 */
export class AskedLookups {
  /** The places of keys, in the order in which they came. */
  readonly keys: Map<string, number> = new Map();
  /** The URIs, and which of the keys is their own. */
  readonly uris: Map<string, number> = new Map();
  readonly #original = new OriginalKey();

  add(text: string): void {
    const { key, uri } = this.#original.namesOf(isSurtText(text) ? text : surt(text));
    const place = this.keys.get(key) ?? this.keys.size;
    this.keys.set(key, place);
    this.uris.set(uri, place);
  }

  /** Reads a list; returns how many of its lines are neither URIs nor SURTs, and were left out. */
  async read(path: string, streams: MapStreams): Promise<number> {
    const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
    const list = new LookupList(input.name);
    for await (const texts of lookupTexts(input.chunks, list, input.name)) {
      for (const text of texts) this.add(text);
    }
    return list.skippedLines;
  }
}
