/** The cutoff of a node that is rolled up as soon as there is anything below it. */
export const CHOSEN = -1;

/** Says which nodes of a key tree are rolled up: those with more children than their cutoff. */
export interface RollUpPolicy {
  /** Levels told apart; what is deeper belongs to the last one. */
  readonly maxHostDepth: number;
  readonly maxPathDepth: number;
  /** The cutoff of a host, `key[0, end)`, of this many labels. */
  hostCutoff(depth: number, key: Uint8Array, end: number): number;
  /** The cutoff of a folder, `key[0, end)`; the root of a host is at depth 1. */
  pathCutoff(depth: number, key: Uint8Array, end: number): number;
}
