import { LF } from "../../../bytes/bytes.ts";
import type { Edges } from "../edges.ts";
import { ChosenPolicy, type NodeNames, type PlainRows } from "../budget/kernels.ts";
import { type KernelExports, startKernel } from "../../../files/package-file.ts";
import type { WriteText } from "../pending-text.ts";
import type { WeightPolicy } from "../weight-policy.ts";

/** What kernel/compact.ts exports. */
export interface CompactExports extends KernelExports {
  open(bytes: number, maxHostDepth: number, maxPathDepth: number): number;
  hostCutoffTable(): number;
  pathCutoffTable(): number;
  maxDepth(): number;
  chooseByName(slots: number): void;
  addChosen(count: number): void;
  openEdge(which: number, length: number): number;
  openSurvey(bytes: number): number;
  openMisses(count: number, bytes: number): void;
  missTexts(): number;
  missStarts(): number;
  missIsLate(): number;
  startMisses(): void;
  take(length: number): number;
  finish(): number;
  rows(): number;
  rowsWritten(): number;
  rollUps(): number;
  recordPage(): number;
  topSingles(): number;
  singleHosts(): number;
  hasWildcards(): number;
  openTable(records: number, slots: number): void;
  tablePage(): number;
  addTablePage(records: number): void;
  clearTable(): void;
  tablePrices(): number;
  maxPrices(): number;
  beginPass(prices: number): void;
  pass(): void;
  solvedRows(price: number): number;
  solvedMisses(price: number): number;
}

/** What the kernel asks for; each kind of work needs some. */
export interface CompactImports {
  write?(pointer: number, length: number): void;
  takePage?(records: number): void;
  takeBranch?(...fields: number[]): void;
  takeHost?(keys: number, children: number): void;
  suffixLabels?(pointer: number, length: number): number;
}

function notForThisWork(): void {
  // The kernel never calls it.
}

/** Starts the kernel, or gives undefined where it has not been built. */
export function startCompactKernel(imports: CompactImports): CompactExports | undefined {
  return startKernel("compact", {
    write: notForThisWork,
    takePage: notForThisWork,
    takeBranch: notForThisWork,
    takeHost: notForThisWork,
    suffixLabels: notForThisWork,
    ...imports,
  }) as CompactExports | undefined; // what kernel/compact.ts exports
}

/**
 * Feeds rows to the kernel. Either put whole lines into `block` and call `takeBlock`, or give them
 * to `take`, which copies them.
 *
 * Gives up (false) at the first row that is not plain or not in order; see kernel/compact.ts.
 */
export class KernelRows implements PlainRows {
  protected readonly exports: CompactExports;
  readonly #block: number;
  readonly #blockBytes: number;

  protected constructor(exports: CompactExports, block: number, blockBytes: number) {
    this.exports = exports;
    this.#block = block;
    this.#blockBytes = blockBytes;
  }

  /** Where lines go. Not valid any more after the kernel was called. */
  get block(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, this.#block, this.#blockBytes);
  }

  takeBlock(length: number): boolean {
    return this.exports.take(length) !== 0;
  }

  take(lines: Uint8Array): boolean {
    for (let at = 0; at < lines.length;) {
      let end = Math.min(lines.length, at + this.#blockBytes);
      if (end < lines.length) end = lines.lastIndexOf(LF, end - 1) + 1;
      if (end <= at) return false; // the line is longer than a block
      this.block.set(lines.subarray(at, end));
      if (!this.takeBlock(end - at)) return false;
      at = end;
    }
    return true;
  }

  finish(): boolean {
    return this.exports.finish() !== 0;
  }

  get rows(): number {
    return this.exports.rows();
  }
}

/**
 * Compacts plain rows, `key count`, in WebAssembly: several times as fast as a `Compactor`, mostly
 * because nothing has to warm up.
 *
 * Gives up also when it would need more than its 16 MiB of undecided output; a `Compactor` must then
 * do it all again, and say what is wrong.
 */
export class CompactKernel extends KernelRows {
  /** Undefined where there is no kernel. `write` gets bytes that are valid only during the call. */
  static open(
    policy: WeightPolicy | ChosenPolicy,
    blockBytes: number,
    write: WriteText,
    edges: Edges = {},
  ): CompactKernel | undefined {
    const exports = startCompactKernel({
      write(pointer, length) {
        if (exports !== undefined) write(new Uint8Array(exports.memory.buffer, pointer, length));
      },
    });
    if (exports === undefined) return undefined;
    if (!setEdges(exports, edges)) return undefined;
    if (policy instanceof ChosenPolicy) {
      const block = exports.open(blockBytes, 0, 0);
      chooseNodes(exports, policy.chosen, block, blockBytes);
      return new CompactKernel(exports, block, blockBytes);
    }
    const block = exports.open(blockBytes, policy.maxHostDepth, policy.maxPathDepth);
    setCutoffs(exports, policy);
    return new CompactKernel(exports, block, blockBytes);
  }

  /** Rows handed to `write`. */
  get rowsWritten(): number {
    return this.exports.rowsWritten();
  }

  get rollUps(): number {
    return this.exports.rollUps();
  }
}

function setCutoffs(exports: CompactExports, policy: WeightPolicy): void {
  const depths = exports.maxDepth();
  const { buffer } = exports.memory;
  const hosts = new Float64Array(buffer, exports.hostCutoffTable(), depths);
  const paths = new Float64Array(buffer, exports.pathCutoffTable(), depths);
  for (let depth = 1; depth < depths; depth++) {
    hosts[depth] = policy.hostCutoff(depth);
    paths[depth] = policy.pathCutoff(depth);
  }
}

/** Longer cuts are for the compactor. */
const MAX_EDGE_BYTES = 1 << 16;

function setEdges(exports: CompactExports, { from, to }: Edges): boolean {
  for (const [which, cut] of [from, to].entries()) {
    if (cut === undefined) continue;
    if (cut.length > MAX_EDGE_BYTES) return false;
    const pointer = exports.openEdge(which, cut.length);
    new Uint8Array(exports.memory.buffer, pointer, cut.length).set(cut);
  }
  return true;
}

function chooseNodes(
  exports: CompactExports,
  chosen: NodeNames,
  block: number,
  blockBytes: number,
): void {
  // At most half of the slots are taken.
  exports.chooseByName(2 ** Math.ceil(Math.log2(2 * chosen.length + 2)));
  const atOnce = Math.ceil(blockBytes / 8);
  for (let at = 0; at < chosen.length; at += atOnce) {
    const names = chosen.slice(at, at + atOnce);
    new Float64Array(exports.memory.buffer, block, names.length).set(names);
    exports.addChosen(names.length);
  }
}
