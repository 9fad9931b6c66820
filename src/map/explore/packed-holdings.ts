import type { ByteSource } from "../../bytes/byte-source.ts";
import { MAX_DEPTH, type PackedHead, statedYears } from "../../packed/packed-file.ts";
import { readParts } from "../../packed/packed-parts.ts";

/** What a packed map tells of its holdings: its names are hashed, so that they cannot be listed. */
export interface PackedHoldings {
  readonly form: "packed";
  /** Rows of the map that it was made from. */
  readonly rows: number;
  readonly hosts: number;
  readonly voids: number;
  /** Names of pages and wildcards in its filters; hosts that are held as a whole need none. */
  readonly names: number;
  /** Whether names of pages have their queries. */
  readonly hasQueries: boolean;
  /** How deep rows are: 0 for home pages, 7 for seven segments and more. */
  readonly depths: readonly {
    readonly depth: number;
    readonly hasPages: boolean;
    readonly hasWildcards: boolean;
  }[];
  /** How often it was brought up to date since it was made. */
  readonly deltas: number;
  /** The first and the last year of all hosts, where it states the years of hosts. */
  readonly years?: readonly [first: number, last: number];
}

/** Reads the heads of a packed map and of the deltas behind it. @throws as `readParts`. */
export async function packedHoldings(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<PackedHoldings> {
  const { heads } = await readParts(source, { signal });
  const headers = heads.map(({ header }) => header);
  const descriptors = heads.flatMap((head) => head.descriptors);
  const sum = (count: (header: PackedHead["header"]) => number): number =>
    headers.reduce((total, header) => total + count(header), 0);
  const depths = Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => ({
    depth,
    hasPages: descriptors.some(({ exact }) => hasBit(exact, depth)),
    hasWildcards: descriptors.some(({ wildcards }) => hasBit(wildcards, depth)),
  }));
  // With deltas no years are stated.
  const years = headers.length === 1 ? statedYears(headers[0])?.years : undefined;
  return {
    form: "packed",
    rows: headers.at(-1)?.source?.rows ?? sum(({ rows }) => rows),
    hosts: sum(({ hosts }) => hosts),
    voids: sum(({ voids }) => voids),
    names: sum(({ rows }) => rows),
    hasQueries: headers.some(({ queries }) => queries),
    depths: depths.filter(({ hasPages, hasWildcards }) => hasPages || hasWildcards),
    deltas: heads.length - 1,
    ...(years === undefined ? {} : { years }),
  };
}

function hasBit(bits: number, bit: number): boolean {
  return (bits & (1 << bit)) !== 0;
}
