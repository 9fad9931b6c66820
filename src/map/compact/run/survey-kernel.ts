import { QUESTION } from "../../../bytes/bytes.ts";
import { HeapsFit } from "../budget/heaps-fit.ts";
import { BranchList } from "../budget/branch-list.ts";
import type { MissList } from "../budget/miss-list.ts";
import type { NodeTable } from "../budget/node-table.ts";
import { PAGE_NUMBERS } from "../budget/node-table.ts";
import { suffixLabels } from "../budget/suffix-labels.ts";
import type { Survey } from "../budget/survey.ts";
import { loadPublicSuffix } from "./public-suffix.ts";
import type { CompactExports } from "./kernel-rows.ts";
import { KernelRows, startCompactKernel } from "./kernel-rows.ts";

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
        const at = branches.add();
        branches.record[at] = record;
        branches.miss[at] = miss;
        branches.textLength[at] = textLength;
        branches.early[at] = early;
        branches.misses[at] = all;
        branches.isHost[at] = isHost;
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
