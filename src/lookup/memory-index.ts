import { IndexedSource } from "./indexed-source.ts";
import { SourceLookup } from "./map-lookup.ts";

export { MAX_INDEX_BYTES } from "./row-index.ts";

/** A map of text in memory, for servers and for batches of lookups; see `IndexedSource`. */
export class MemoryIndex extends SourceLookup<IndexedSource> {
  /** The map, as given to `build`. */
  readonly bytes: Uint8Array;
  /** As `source`, where the rows of other pages do not matter. */
  readonly ownRows: IndexedSource;

  private constructor(bytes: Uint8Array, source: IndexedSource) {
    super(source);
    this.bytes = bytes;
    this.ownRows = source.ownRows();
  }

  /** See `IndexedSource.of`. */
  static build(bytes: Uint8Array, options: { readonly source?: string } = {}): MemoryIndex {
    return new MemoryIndex(bytes, IndexedSource.of(bytes, options.source));
  }

  /** See `IndexedSource.ofInSlices`. */
  static async buildInSlices(
    bytes: Uint8Array,
    options: { readonly source?: string; readonly pause: () => Promise<void> },
  ): Promise<MemoryIndex> {
    return new MemoryIndex(bytes, await IndexedSource.ofInSlices(bytes, options));
  }

  /** Bytes of the map. */
  get size(): number {
    return this.bytes.length;
  }

  /** The number of distinct keys. */
  get keyCount(): number {
    return this.source.index.keyCount;
  }

  get isEmpty(): boolean {
    return this.source.index.records === 0;
  }

  /** Whether keys have queries. */
  get hasQueries(): boolean {
    return this.headers.fields.queries === true;
  }
}
