import { CLOSE_PAREN, COMMA, commonPrefix } from "../../bytes/bytes.ts";
import { QUERY_MARK } from "./key-tree.ts";
import type { RollUpPolicy } from "./weight-policy.ts";

/** Where the keys of a part of a map begin, and where those of the next part do. */
export interface Edges {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
}

/**
 * Whether a node, `key[0, end)`, can have keys on both sides of a cut. All its keys begin with its text,
 * and what is between two of them does so too: the cut itself.
 *
 * A node of queries has the row of its page too, which comes long before them.
 */
function isCut(cut: Uint8Array, key: Uint8Array, end: number, isHost: boolean): boolean {
  const textEnd = key[end - 1] === QUERY_MARK ? end - 1 : end;
  if (textEnd >= cut.length) return false;
  if (commonPrefix(cut, 0, textEnd, key, 0, textEnd) < textEnd) return false;
  return !isHost || isInHost(cut[textEnd]);
}

/** Whether what follows the text of a host comes between its first key, `X)/`, and its last, `X,z)/`. */
function isInHost(next: number): boolean {
  return next >= CLOSE_PAREN && next <= COMMA;
}

/** Says whether a node, `key[0, end)`, can have keys in other parts too. */
export type IsOpenNode = (key: Uint8Array, end: number, isHost: boolean) => boolean;

export function openNodesAt({ from, to }: Edges): IsOpenNode {
  const cuts = [from, to].filter((cut) => cut !== undefined);
  return (key, end, isHost) => cuts.some((cut) => isCut(cut, key, end, isHost));
}

/**
 * A policy for a part of a map: what has keys in other parts too is not rolled up, because that is for
 * who knows all parts. All else is decided as for the whole map.
 */
export class EdgePolicy implements RollUpPolicy {
  readonly maxHostDepth: number;
  readonly maxPathDepth: number;
  readonly #policy: RollUpPolicy;
  readonly #isOpen: IsOpenNode;

  constructor(policy: RollUpPolicy, edges: Edges) {
    this.#policy = policy;
    this.maxHostDepth = policy.maxHostDepth;
    this.maxPathDepth = policy.maxPathDepth;
    this.#isOpen = openNodesAt(edges);
  }

  hostCutoff(depth: number, key: Uint8Array, end: number): number {
    return this.#isOpen(key, end, true)
      ? Number.POSITIVE_INFINITY
      : this.#policy.hostCutoff(depth, key, end);
  }

  pathCutoff(depth: number, key: Uint8Array, end: number): number {
    return this.#isOpen(key, end, false)
      ? Number.POSITIVE_INFINITY
      : this.#policy.pathCutoff(depth, key, end);
  }
}
