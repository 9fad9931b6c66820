import type { HeapsFit } from "./heaps-fit.ts";
import type { BranchList } from "./branch-list.ts";
import type { NodeTable } from "./node-table.ts";

/** What the nodes of a key tree hold, and which lookups missed there. */
export interface Survey {
  readonly table: NodeTable;
  readonly branches: BranchList;
  readonly heaps: HeapsFit;
  /** Rows that stay whatever is rolled up: exclusions, and keys outside the tree. */
  readonly fixedRows: number;
  /** Rows that say that something is held. */
  readonly heldRows: number;
  /** Hosts and top-level domains of one row, which have no record. */
  readonly topSingles: number;
  readonly singleHosts: number;
  /** Whether the map has wildcards that hold something: what they cover cannot be told from it. */
  readonly hasWildcards: boolean;
}
