import {
  BranchList,
  FIELD,
  HeapsFit,
  type NodeTable,
  PAGE_NUMBERS,
  PAGE_RECORDS,
  type Survey,
  type VisitPage,
} from "../budget/budget-survey.ts";
import type { Solution, SolveAll } from "../budget/solve.ts";
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

/** What a pass reads, in the order of the kernel's columns. */
const READ = [FIELD.slot, FIELD.parent, FIELD.rows, FIELD.singles, FIELD.missesWithin];
/** Larger tables are read from where they are in every pass: 64 MiB in the kernel. */
const MAX_RECORDS = 2 ** 26 / 24;

/**
 * Gives a function that does in a kernel what `solve` does without exclusions, at up to 32 prices in one
 * pass. Undefined where there is no kernel.
 *
 * Holds 24 bytes a record, at most 64 MiB.
 */
export function openSolver(table: NodeTable, maxRecords = MAX_RECORDS): SolveAll | undefined {
  const exports = startCompactKernel({});
  if (exports === undefined) return undefined;
  const isHeld = table.size <= maxRecords;
  exports.openTable(isHeld ? table.size : PAGE_RECORDS, table.slots);
  const numbersAt = (at: number, count: number): Float64Array =>
    new Float64Array(exports.memory.buffer, at, count);
  const addPage: VisitPage = (page, _, count) => {
    const columns = numbersAt(exports.tablePage(), READ.length * PAGE_RECORDS);
    for (const [number, field] of READ.entries()) {
      columns.set(page.subarray(field, field + count), number * PAGE_RECORDS);
    }
    exports.addTablePage(count);
  };
  if (isHeld) table.forEachPage(addPage);
  const solveSome = (prices: readonly number[]): Solution[] => {
    numbersAt(exports.tablePrices(), prices.length).set(prices);
    exports.beginPass(prices.length);
    if (isHeld) {
      exports.pass();
    } else {
      table.forEachPage((page, first, count) => {
        exports.clearTable();
        addPage(page, first, count);
        exports.pass();
      });
    }
    return prices.map((_, i) => {
      const rows = exports.solvedRows(i);
      return { rows, pricedRows: rows, misses: exports.solvedMisses(i) };
    });
  };
  const most = exports.maxPrices();
  return (prices) => {
    const found: Solution[] = [];
    for (let at = 0; at < prices.length; at += most) {
      found.push(...solveSome(prices.slice(at, at + most)));
    }
    return found;
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
  solver: (table) => openSolver(table),
  compact: (policy, write) => CompactKernel.open(policy, BLOCK_BYTES, write),
};
