import { ChosenPolicy } from "../budget/chosen-policy.ts";
import type { WriteText } from "../pending-text.ts";
import type { WeightPolicy } from "../weight-policy.ts";
import type { CompactExports } from "./kernel-rows.ts";
import { KernelRows, startCompactKernel } from "./kernel-rows.ts";

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
  ): CompactKernel | undefined {
    const exports = startCompactKernel({
      write(pointer, length) {
        if (exports !== undefined) write(new Uint8Array(exports.memory.buffer, pointer, length));
      },
    });
    if (exports === undefined) return undefined;
    if (policy instanceof ChosenPolicy) {
      const block = exports.open(blockBytes, 0, 0);
      chooseNodes(exports, policy.chosen);
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

function chooseNodes(exports: CompactExports, chosen: readonly number[]): void {
  // At most half of the slots are taken.
  exports.chooseByName(2 ** Math.ceil(Math.log2(2 * chosen.length + 2)));
  for (const name of chosen) exports.addChosen(name);
}
