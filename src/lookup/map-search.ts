import type { ByteSource } from "../bytes/byte-source.ts";
import type { KeyAnswer } from "./decide.ts";
import { SortedSource, type SortedSourceOptions } from "./sorted-source.ts";
import { type KeyFinder, type LookupOptions, lookupPeriod, SourceLookup } from "./map-lookup.ts";

/** Search in a sorted map that stays where it is; see `SortedSource`. */
export class MapSearch extends SourceLookup<SortedSource> implements KeyFinder {
  /** See `SortedSource.open`. */
  static async open(source: ByteSource, options?: SortedSourceOptions): Promise<MapSearch> {
    return new MapSearch(await SortedSource.open(source, options));
  }

  find(key: string, { at, signal }: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return this.source.keyAnswer(key, { period: lookupPeriod(at), signal });
  }
}
