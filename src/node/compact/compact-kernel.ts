import type { WeightPolicy } from "../../compact/weight-policy.ts";
import type { KernelExports } from "../kernel.ts";
import { startKernel } from "../kernel.ts";

/** What kernel/compact.ts exports. */
interface CompactExports extends KernelExports {
  open(bytes: number, maxHostDepth: number, maxPathDepth: number): number;
  hostCutoffTable(): number;
  pathCutoffTable(): number;
  maxDepth(): number;
  compact(length: number): number;
  finish(): number;
  rows(): number;
  rollUps(): number;
}

/**
 * Compacts plain rows, `key count`, in WebAssembly: several times as fast as a `Compactor`, mostly
 * because nothing has to warm up.
 *
 * Put whole lines into `block`, then call `compact`. It gives up (false) at the first row that is
 * not plain or not in order, and when it would need more than its 16 MiB of undecided output; a
 * `Compactor` must then do it all again, and say what is wrong.
 */
export class CompactKernel {
  readonly #exports: CompactExports;
  readonly #block: number;
  readonly #blockBytes: number;

  private constructor(exports: CompactExports, block: number, blockBytes: number) {
    this.#exports = exports;
    this.#block = block;
    this.#blockBytes = blockBytes;
  }

  /** Undefined where there is no kernel. `write` gets bytes that are valid only during the call. */
  static open(
    policy: WeightPolicy,
    blockBytes: number,
    write: (bytes: Uint8Array) => void,
  ): CompactKernel | undefined {
    const started = startKernel("compact", {
      write(pointer, length) {
        if (started !== undefined) write(new Uint8Array(started.memory.buffer, pointer, length));
      },
    });
    if (started === undefined) return undefined;
    const exports = started as CompactExports; // what kernel/compact.ts exports
    const block = exports.open(blockBytes, policy.maxHostDepth, policy.maxPathDepth);
    const depths = exports.maxDepth();
    const { buffer } = exports.memory;
    const hosts = new Float64Array(buffer, exports.hostCutoffTable(), depths);
    const paths = new Float64Array(buffer, exports.pathCutoffTable(), depths);
    for (let depth = 1; depth < depths; depth++) {
      hosts[depth] = policy.hostCutoff(depth);
      paths[depth] = policy.pathCutoff(depth);
    }
    return new CompactKernel(exports, block, blockBytes);
  }

  /** Where lines go. Not valid any more after a call that writes. */
  get block(): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, this.#block, this.#blockBytes);
  }

  compact(length: number): boolean {
    return this.#exports.compact(length) !== 0;
  }

  finish(): boolean {
    return this.#exports.finish() !== 0;
  }

  get rows(): number {
    return this.#exports.rows();
  }

  get rollUps(): number {
    return this.#exports.rollUps();
  }
}
