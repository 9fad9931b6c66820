import type { ByteSource } from "../bytes/byte-source.ts";
import { PackedSource } from "./packed-source.ts";
import type { PackedHeader } from "../packed/packed-file.ts";
import { SourceLookup } from "./map-lookup.ts";

/** A packed map as a map to look up in. It knows nothing of times. */
export class PackedLookup extends SourceLookup<PackedSource> {
  /** See `PackedSource.open`. */
  static async open(
    source: ByteSource,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<PackedLookup> {
    return new PackedLookup(await PackedSource.open(source, options));
  }

  /** See `PackedSource.of`. */
  static of(bytes: Uint8Array, source: string): PackedLookup {
    return new PackedLookup(PackedSource.of(bytes, source));
  }

  /** See `PackedSource.ofInSlices`. */
  static async ofInSlices(
    bytes: Uint8Array,
    options: { readonly source: string; readonly pause: () => Promise<void> },
  ): Promise<PackedLookup> {
    return new PackedLookup(await PackedSource.ofInSlices(bytes, options));
  }

  get ownRows(): PackedSource {
    return this.source;
  }

  get header(): PackedHeader {
    return this.source.header;
  }

  get hasQueries(): boolean {
    return this.header.queries;
  }

  /** Names of pages and wildcards. */
  get keyCount(): number {
    return this.header.rows;
  }

  get isEmpty(): boolean {
    return this.source.isEmpty;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.source.head.end;
  }
}
