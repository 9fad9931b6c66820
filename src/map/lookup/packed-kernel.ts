import { type ByteSource, readWhole } from "../../bytes/byte-source.ts";
import type { LineBatch } from "../../bytes/lines.ts";
import {
  type BatchAnswers,
  type BlockSink,
  BlockWriter,
  type MakeAnswers,
} from "./answer-lines.ts";
import { INPUT_BYTES, KernelLines, OUTPUT_BYTES } from "./kernel-lines.ts";
import { PackedAnswers } from "./packed-answers.ts";
import { type PackedExports, startPackedKernel } from "./packed-exports.ts";
import { PackedLookup } from "./packed-lookup.ts";

/** A larger map is not worth reading whole for a batch. */
const MAX_MAP_BYTES = 2 ** 28;

/**
 * A packed map in the memory of a WebAssembly kernel, for batches of lookups. It answers only plain
 * lookups by itself; see kernel/packed.ts. Holds the bytes of the map, and 0.9 MiB besides.
 */
export class PackedKernel {
  readonly lookup: PackedLookup;
  readonly #exports: PackedExports;

  private constructor(exports: PackedExports, lookup: PackedLookup) {
    this.#exports = exports;
    this.lookup = lookup;
  }

  /**
   * Reads and checks a packed map; undefined where the kernel is not built, or does not take the map: it
   * is too large, or has deltas.
   *
   * @throws as `PackedLookup.of`; MM_IO
   */
  static async read(source: ByteSource, signal?: AbortSignal): Promise<PackedKernel | undefined> {
    const { size, name } = source;
    if (size > MAX_MAP_BYTES) return undefined;
    const room = { inputBytes: INPUT_BYTES, outputBytes: OUTPUT_BYTES };
    const bytes = await readWhole(source, 0, size, signal);
    const kernel = startPackedKernel(bytes, name, room);
    return kernel && new PackedKernel(kernel.exports, kernel.lookup);
  }

  answers(sink: BlockSink, options: { readonly isSurt: boolean }): BatchAnswers {
    return new PackedKernelAnswers(this.#exports, this.lookup, sink, options);
  }
}

/** Opens a packed map for batches: in a kernel that takes it, or to be read where it is asked. */
export async function openPackedBatch(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<{ readonly lookup: PackedLookup; readonly answers: MakeAnswers }> {
  const kernel = await PackedKernel.read(source, signal);
  if (kernel !== undefined) {
    const { lookup } = kernel;
    return { lookup, answers: (sink, options) => kernel.answers(sink, options) };
  }
  const lookup = await PackedLookup.open(source, { signal });
  return {
    lookup,
    answers: (sink, options) => new PackedAnswers(lookup, new BlockWriter(sink), options),
  };
}

class PackedKernelAnswers extends KernelLines {
  /** Answers what the kernel does not take, into the same block, or into one of its own. */
  readonly #odd: PackedAnswers;
  readonly #long: PackedAnswers;

  constructor(
    exports: PackedExports,
    map: PackedLookup,
    sink: BlockSink,
    options: { readonly isSurt: boolean },
  ) {
    super(exports, sink, options.isSurt);
    this.#odd = new PackedAnswers(map, this.out, options);
    this.#long = new PackedAnswers(map, new BlockWriter(sink), options);
  }

  protected writeOdd(batch: LineBatch, line: number): Promise<void> | undefined {
    const { bytes, starts, ends } = batch;
    if (ends[line] - starts[line] > MAX_ODD_BYTES) return this.writeLong(batch, line);
    const { presentCount } = this.#odd;
    const sent = this.#odd.write(bytes, starts[line], ends[line]);
    if (sent === undefined) this.#count(this.#odd.presentCount - presentCount);
    return sent?.then(() => this.#count(this.#odd.presentCount - presentCount));
  }

  protected async writeLong({ bytes, starts, ends }: LineBatch, line: number): Promise<void> {
    await this.flush();
    const { presentCount } = this.#long;
    await this.#long.write(bytes, starts[line], ends[line]);
    await this.#long.flush();
    this.#count(this.#long.presentCount - presentCount);
  }

  #count(present: number): void {
    this.askedCount += 1;
    this.presentCount += present;
  }
}

/** A longer line may need more room than the block of the kernel has. */
const MAX_ODD_BYTES = 8192;
