import {
  BranchList,
  FIELD,
  HeapsFit,
  type NodeTable,
  PAGE_NUMBERS,
  type Survey,
} from "../budget/budget-survey.ts";
import { type Decision, DECISION, type Solve } from "../budget/solve.ts";
import {
  type CompactExports,
  CompactKernel,
  KernelRows,
  startCompactKernel,
} from "./compact-kernel.ts";
import { QUESTION } from "../../../bytes/bytes.ts";
import type { MissList } from "../budget/misses.ts";
import { loadPublicSuffix, suffixLabels } from "../budget/tree-survey.ts";
import type { BudgetKernels } from "../budget/kernels.ts";

/** What a pass reads, in the order of the kernel's columns; two more keep a solution. */
const READ = [FIELD.slot, FIELD.parent, FIELD.rows, FIELD.singles, FIELD.missesWithin];
const DECISION_COLUMN = READ.length;
const LEFT_COLUMN = READ.length + 1;
/** Larger tables stay where they are: 64 MiB in the kernel. */
const MAX_RECORDS = 2 ** 26 / (8 * (READ.length + 2));

/**
 * Copies what a pass over the table needs into a kernel, and gives a function that does there what
 * `solve` does. Undefined where there is no kernel, or the table is too large.
 *
 * Holds 56 bytes a record.
 */
export function openSolver(table: NodeTable): Solve | undefined {
  if (table.size > MAX_RECORDS) return undefined;
  const exports = startCompactKernel({});
  if (exports === undefined) return undefined;
  const { size } = table;
  exports.openTable(size, table.slots);
  const column = (number: number): Float64Array =>
    new Float64Array(exports.memory.buffer, exports.tableColumns() + number * size * 8, size);
  table.forEachPage((page, first, count) => {
    for (const [number, field] of READ.entries()) {
      column(number).set(page.subarray(field, field + count), first);
    }
  });
  const keep = (decision: Decision): void => {
    const [decisions, left] = [column(DECISION_COLUMN), column(LEFT_COLUMN)];
    table.forEachPage((page, first, count) => {
      page.set(decisions.subarray(first, first + count), FIELD.decision);
      if (decision === DECISION.below) page.set(left.subarray(first, first + count), FIELD.scratch);
      else page.fill(1, FIELD.rolledUpRows, FIELD.rolledUpRows + count);
    });
  };
  return (price, decision = DECISION.none) => {
    exports.solve(price, decision);
    const rows = exports.solvedRows();
    if (decision !== DECISION.none) keep(decision);
    return { rows, pricedRows: rows, misses: exports.solvedMisses() };
  };
}

/** More misses than this, in bytes, are not copied into the kernel's memory. */
const MAX_MISS_BYTES = 2 ** 30;

/**
 * Surveys plain rows in WebAssembly, as a `TreeSurvey` does.
 *
 * Records go to the table as their pages fill. Holds the misses a second time.
 */
export class SurveyKernel extends KernelRows {
  readonly #table: NodeTable;
  readonly #branches: BranchList;
  readonly #heaps: HeapsFit;

  private constructor(
    exports: CompactExports,
    block: number,
    blockBytes: number,
    results: Pick<Survey, "table" | "branches" | "heaps">,
  ) {
    super(exports, block, blockBytes);
    this.#table = results.table;
    this.#branches = results.branches;
    this.#heaps = results.heaps;
  }

  /** Undefined where there is no kernel, or the misses are not for it. */
  static open(
    table: NodeTable,
    misses: MissList | undefined,
    blockBytes: number,
  ): SurveyKernel | undefined {
    if (misses !== undefined && !isForKernel(misses)) return undefined;
    const branches = new BranchList();
    const heaps = new HeapsFit();
    const decoder = new TextDecoder("latin1");
    const publicSuffix = loadPublicSuffix();
    const exports = startCompactKernel({
      takePage(count) {
        if (exports === undefined) return;
        const { buffer } = exports.memory;
        table.pushPage(new Float64Array(buffer, exports.recordPage(), PAGE_NUMBERS), count);
      },
      takeBranch(record, miss, textLength, early, all, isHost) {
        branches.add(record, { miss, textLength, early, misses: all, isHost });
      },
      takeHost(keys, children) {
        heaps.add(keys, children);
      },
      suffixLabels(pointer, length) {
        if (exports === undefined) return 0;
        const host = new Uint8Array(exports.memory.buffer, pointer, length);
        return suffixLabels(decoder.decode(host), publicSuffix);
      },
    });
    if (exports === undefined) return undefined;
    const block = exports.openSurvey(blockBytes);
    if (misses !== undefined) setMisses(exports, misses);
    return new SurveyKernel(exports, block, blockBytes, { table, branches, heaps });
  }

  /** What was found, once all is finished. */
  survey(): Survey {
    return {
      table: this.#table,
      branches: this.#branches,
      heaps: this.#heaps,
      fixedRows: 0,
      heldRows: this.rows,
      topSingles: this.exports.topSingles(),
      singleHosts: this.exports.singleHosts(),
      hasWildcards: this.exports.hasWildcards() !== 0,
    };
  }
}

/** A query has another place in the tree; keys of lookups have none. */
function isForKernel({ bytes }: MissList): boolean {
  return bytes.length <= MAX_MISS_BYTES && !bytes.includes(QUESTION);
}

function setMisses(exports: CompactExports, { count, bytes, starts, isLate }: MissList): void {
  exports.openMisses(count, bytes.length);
  const { buffer } = exports.memory;
  new Uint8Array(buffer, exports.missTexts(), bytes.length).set(bytes);
  new Uint32Array(buffer, exports.missStarts(), count + 1).set(starts);
  new Uint8Array(buffer, exports.missIsLate(), count).set(isLate);
  exports.startMisses();
}

const BLOCK_BYTES = 1 << 20;

/** The kernels of budgets; where they have not been built, TypeScript does all the work. */
export const budgetKernels: BudgetKernels = {
  survey: (table, misses) => SurveyKernel.open(table, misses, BLOCK_BYTES),
  solver: openSolver,
  compact: (policy, write) => CompactKernel.open(policy, BLOCK_BYTES, write),
};
