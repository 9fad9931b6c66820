import { enlarged, INITIAL_DEPTH, NodeStack, NONE } from "./node-stack.ts";
import type { Layer } from "./node-stack.ts";
import type { Totals } from "./totals.ts";

/** The open nodes of a compaction. */
export class CompactorNodes extends NodeStack {
  cutoff = new Float64Array(INITIAL_DEPTH);
  /** Children that hold something. */
  children = new Float64Array(INITIAL_DEPTH);
  /** Whether anything below, or the node itself, is held. */
  isPresent = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node is over its cutoff: only its sum will be written. */
  isRolledUp = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node has a wildcard row; its count includes all below. */
  hasWildcard = new Uint8Array(INITIAL_DEPTH);
  /** Whether there are exclusions below. */
  hasVoids = new Uint8Array(INITIAL_DEPTH);
  /**
   * Output positions. The lines of a node are `[headStart, headEnd)` – its own row, or the pages of
   * a host – and all from `childrenStart` on. Between the two there may be lines of others.
   */
  headStart = new Float64Array(INITIAL_DEPTH);
  headEnd = new Float64Array(INITIAL_DEPTH);
  childrenStart = new Float64Array(INITIAL_DEPTH);
  /** The node's own wildcard exclusion in the output, `[voidStart, voidEnd)`, or NONE. */
  voidStart = new Float64Array(INITIAL_DEPTH);
  voidEnd = new Float64Array(INITIAL_DEPTH);
  /** Sum of the node's own row and its children. */
  readonly totals: Totals[] = [];
  /** Sum of the node's wildcard rows. */
  readonly wildcardTotals: Totals[] = [];
  readonly #makeTotals: () => Totals;

  constructor(makeTotals: () => Totals) {
    super();
    this.#makeTotals = makeTotals;
  }

  /** @param position where the output of the node begins. */
  open(
    textEnd: number,
    layer: Layer,
    depth: number,
    parent: number,
    cutoff: number,
    position: number,
  ): number {
    const node = this.push(textEnd, layer, depth, parent);
    this.cutoff[node] = cutoff;
    this.children[node] = 0;
    this.isPresent[node] = 0;
    this.isRolledUp[node] = 0;
    this.hasWildcard[node] = 0;
    this.hasVoids[node] = 0;
    this.headStart[node] = position;
    this.headEnd[node] = NONE;
    this.childrenStart[node] = NONE;
    this.voidStart[node] = NONE;
    if (node === this.totals.length) {
      this.totals.push(this.#makeTotals());
      this.wildcardTotals.push(this.#makeTotals());
    } else {
      this.totals[node].reset();
    }
    return node;
  }

  protected override grow(size: number): void {
    super.grow(size);
    this.cutoff = enlarged(new Float64Array(size), this.cutoff);
    this.children = enlarged(new Float64Array(size), this.children);
    this.isPresent = enlarged(new Uint8Array(size), this.isPresent);
    this.isRolledUp = enlarged(new Uint8Array(size), this.isRolledUp);
    this.hasWildcard = enlarged(new Uint8Array(size), this.hasWildcard);
    this.hasVoids = enlarged(new Uint8Array(size), this.hasVoids);
    this.headStart = enlarged(new Float64Array(size), this.headStart);
    this.headEnd = enlarged(new Float64Array(size), this.headEnd);
    this.childrenStart = enlarged(new Float64Array(size), this.childrenStart);
    this.voidStart = enlarged(new Float64Array(size), this.voidStart);
    this.voidEnd = enlarged(new Float64Array(size), this.voidEnd);
  }
}
