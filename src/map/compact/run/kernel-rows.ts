import { LF } from "../../../bytes/bytes.ts";
import type { PlainRows } from "../budget/kernels.ts";
import { type KernelExports, startKernel } from "../../../files/package-file.ts";

/** What kernel/compact.ts exports. */
export interface CompactExports extends KernelExports {
  open(bytes: number, maxHostDepth: number, maxPathDepth: number): number;
  hostCutoffTable(): number;
  pathCutoffTable(): number;
  maxDepth(): number;
  chooseByName(slots: number): void;
  addChosen(name: number): void;
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
  tableColumns(): number;
  solve(price: number, decision: number): void;
  solvedRows(): number;
  solvedMisses(): number;
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
