import type { Bound } from "../../ukvs/frequency.ts";
import type { Child } from "./child-lists.ts";
import { type NodeKind, partKind, readableName } from "./key-node.ts";
import type { RowSums } from "./row-sums.ts";

/** Totals of a part of a map. */
export interface PartSums {
  readonly rows: number;
  /** The sum of the frequencies of its rows. */
  readonly captures: number;
  /** How the sum relates to the true number. */
  readonly bound: Bound;
  /** Rows that state that nothing is held. */
  readonly voids: number;
  /** Rows that cover many pages, and their part of the captures. */
  readonly wildcards: number;
  readonly wildcardCaptures: number;
  /** Whether pages have rows of their own (`kept`), wildcards stand for them (`rolled up`), or both. */
  readonly detail: "kept" | "rolled up" | "mixed";
}

/** A child of a node: a smaller part of the map, or a single row. */
export interface MapChild extends PartSums {
  /** The prefix of its keys, to explore it; the key of a single row. */
  readonly prefix: string;
  /** The same in readable form: `*.example.com`, `http://example.com/a/`. */
  readonly url: string;
  readonly kind: NodeKind;
  readonly hasChildren: boolean;
  /**
   * With a `depth` above 1: its largest children, those with at least 1/500 of the slice. Omitted in
   * small parts, and after 40,000 rows were read.
   */
  readonly children?: readonly MapChild[];
}

/** One node of the tree of a map, and some of its children. */
export interface MapSlice extends PartSums {
  readonly form: "text";
  readonly prefix: string;
  readonly url: string;
  readonly kind: NodeKind;
  /** The nodes above, from the root down. */
  readonly above: readonly { readonly prefix: string; readonly url: string }[];
  /** Wildcards above, which may include captures of this node. */
  readonly coveredBy: readonly { readonly key: string; readonly frequency: string }[];
  /** The frequency of `*`, which states the totals of the archive; at the root. */
  readonly total?: string;
  readonly children: readonly MapChild[];
  /** The search text in key form; the children are then the matching parts. */
  readonly search?: string;
  /** Position of the next children; null after the last. */
  readonly next: string | null;
}

export interface SliceOptions {
  /** The prefix of the keys: `com,`, `com,example,`, `com,example)/a/`; default all. */
  readonly prefix?: string | undefined;
  /**
   * `captures`, the default: largest first. For a node with more than 20,000 rows this applies to the first
   * 1,000 children; the others follow by key. `key`: in the order of the map.
   */
  readonly sort?: "captures" | "key" | undefined;
  /** Maximum number of children; default 200, at most 1,000. */
  readonly limit?: number | undefined;
  /** Levels of children: 1, the default, to 3. */
  readonly depth?: number | undefined;
  /**
   * Lists the parts at any depth whose names contain this text, in the order of the map: a word,
   * `example.com`, `example.com/news`. A search of a large map reads 16 MB at a time, so a slice may
   * be empty and still have a `next`.
   */
  readonly search?: string | undefined;
  /** `next` of the previous slice. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Converts a child for a slice. */
export function mapChild({ part, sums, hasMore }: Omit<Child, "place">): MapChild {
  const { name } = part;
  const kind = partKind(part);
  const isPage = kind === "path" && !hasMore;
  return {
    prefix: name,
    url: readableName(isPage ? name.slice(0, -1) : name),
    kind: isPage ? "page" : kind,
    ...partSums(sums),
    hasChildren: hasMore,
  };
}

export function partSums(sums: RowSums): PartSums {
  const { rows, captures, bound, voids, wildcards, wildcardCaptures } = sums;
  const detail = wildcards === 0 ? "kept" : wildcards === rows ? "rolled up" : "mixed";
  return { rows, captures, bound, voids, wildcards, wildcardCaptures, detail };
}
