import type { ByteSource } from "../../bytes/byte-source.ts";
import { MAX_DEPTH } from "../../packed/packed-file.ts";
import { readHead } from "../../packed/read-packed.ts";

/** Facts about the holdings of a packed map: its names are hashed, so they cannot be listed. */
export interface PackedHoldings {
  readonly form: "packed";
  /** Rows of its source map. */
  readonly rows: number;
  readonly hosts: number;
  readonly voids: number;
  /** Names of pages and wildcards in its filters; hosts held as a whole need none. */
  readonly names: number;
  /** Whether names of pages include their queries. */
  readonly hasQueries: boolean;
  /** Depths of rows: 0 for home pages, 7 for seven segments and more. */
  readonly depths: readonly {
    readonly depth: number;
    readonly hasPages: boolean;
    readonly hasWildcards: boolean;
  }[];
}

/** Reads the head of a packed map. @throws as `readHead`. */
export async function packedHoldings(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<PackedHoldings> {
  const { header, descriptors } = await readHead(source, { signal });
  const depths = Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => ({
    depth,
    hasPages: descriptors.some(({ exact }) => hasBit(exact, depth)),
    hasWildcards: descriptors.some(({ wildcards }) => hasBit(wildcards, depth)),
  }));
  return {
    form: "packed",
    rows: header.source?.rows ?? header.rows,
    hosts: header.hosts,
    voids: header.voids,
    names: header.rows,
    hasQueries: header.queries,
    depths: depths.filter(({ hasPages, hasWildcards }) => hasPages || hasWildcards),
  };
}

function hasBit(bits: number, bit: number): boolean {
  return (bits & (1 << bit)) !== 0;
}
