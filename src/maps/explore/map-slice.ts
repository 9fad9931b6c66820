import type { Bound } from "../../ukvs/frequency.ts";
import type { Child } from "./child-lists.ts";
import { type NodeKind, partKind, readableName } from "./key-node.ts";
import type { RowSums } from "./row-sums.ts";

/** What a part of a map holds. */
export interface PartSums {
  readonly rows: number;
  /** The sum of the frequencies of its rows. */
  readonly captures: number;
  /** How the sum relates to the true number. */
  readonly bound: Bound;
  /** Rows that say that nothing is held. */
  readonly voids: number;
  /** Rows that stand for many pages, and their part of the captures. */
  readonly wildcards: number;
  readonly wildcardCaptures: number;
  /** Whether pages have rows of their own (`kept`), wildcards stand for them (`rolled up`), or both. */
  readonly detail: "kept" | "rolled up" | "mixed";
}

/** A child of a node: a smaller part of the map, or a single row. */
export interface MapChild extends PartSums {
  /** What its keys begin with, to explore it; the key of a single row. */
  readonly prefix: string;
  /** The same for people: `*.example.com`, `http://example.com/a/`. */
  readonly url: string;
  readonly kind: NodeKind;
  readonly hasChildren: boolean;
  /**
   * With a `depth` above 1: its largest children, those with at least 1/500 of what the slice has. Not
   * there where they were not looked at: in small parts, and once 40,000 rows were read.
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
  /** Wildcards above, whose captures may be of this node, too. */
  readonly coveredBy: readonly { readonly key: string; readonly frequency: string }[];
  /** The frequency of `*`, which states the totals of the archive; at the root. */
  readonly total?: string;
  readonly children: readonly MapChild[];
  /** What was searched for, as keys have it; children are the parts that were found then. */
  readonly search?: string;
  /** To ask for the next children; null behind the last. */
  readonly next: string | null;
}

export interface SliceOptions {
  /** What keys begin with: `com,`, `com,example,`, `com,example)/a/`; all by default. */
  readonly prefix?: string | undefined;
  /**
   * `captures`, the default: largest first. Of a node with more than 20,000 rows this holds for its first
   * 1,000 children; the others follow by key. `key`: in the order of the map.
   */
  readonly sort?: "captures" | "key" | undefined;
  /** How many children at most; default 200, at most 1,000. */
  readonly limit?: number | undefined;
  /** How many levels of children: 1, the default, to 3. */
  readonly depth?: number | undefined;
  /**
   * Lists the parts whose names have this text, wherever they are below, in the order of the map: a word,
   * `example.com`, `example.com/news`. Of a large map a search reads 16 MB at a time, so that a slice may
   * be empty and have a `next`.
   */
  readonly search?: string | undefined;
  /** `next` of the slice before. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A child as a slice has it. */
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
