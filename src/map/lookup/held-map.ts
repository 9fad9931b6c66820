import { joinBytes } from "../../bytes/bytes.ts";
import type { Input } from "../../files/input-file.ts";
import { AnswerWriter, type BatchAnswers, type BlockSink, BlockWriter } from "./answer-lines.ts";
import { LookupKernel } from "./lookup-kernel.ts";
import { MAX_INDEX_BYTES, MemoryIndex } from "./memory-index.ts";

interface HeldMapOptions {
  readonly size: number;
  readonly source: string;
  readonly inBatches: boolean;
}

/**
 * A map in memory: for batches in a kernel if there is one that takes it, else with a `MemoryIndex`.
 */
export class HeldMap {
  /** How much may come of a compressed map. */
  static readonly LIMITS: { readonly maxDecompressedBytes: number } = {
    maxDecompressedBytes: MAX_INDEX_BYTES,
  };
  readonly #bytes: Uint8Array;
  readonly #source: string;
  readonly #kernel: LookupKernel | undefined;
  #index: MemoryIndex | undefined;

  private constructor(bytes: Uint8Array, source: string, kernel?: LookupKernel) {
    this.#bytes = bytes;
    this.#source = source;
    this.#kernel = kernel;
    if (kernel === undefined) this.#index = MemoryIndex.build(bytes, { source });
  }

  /**
   * Holds a map that `fill` puts into the array it is given.
   *
   * @throws what `fill` and `MemoryIndex.build` throw.
   */
  static async read(
    { size, source, inBatches }: HeldMapOptions,
    fill: (bytes: Uint8Array) => Promise<number> | void,
  ): Promise<HeldMap> {
    const kernel = inBatches ? LookupKernel.open(size) : undefined;
    const bytes = kernel?.bytes ?? new Uint8Array(size);
    await fill(bytes);
    if (kernel === undefined) return new HeldMap(bytes, source);
    const isIndexed = kernel.index(source);
    return new HeldMap(kernel.bytes, source, isIndexed ? kernel : undefined);
  }

  /**
   * Holds the map that an input gives.
   *
   * @throws the errors of reading it and of `MemoryIndex.build`.
   */
  static async ofInput(input: Input, inBatches: boolean): Promise<HeldMap> {
    const blocks: Uint8Array[] = [];
    for await (const chunk of input.chunks) blocks.push(chunk);
    const whole = joinBytes(blocks);
    const options = { size: whole.length, source: input.name, inBatches };
    return HeldMap.read(options, (bytes) => bytes.set(whole));
  }

  get lookup(): MemoryIndex {
    return this.index;
  }

  /** Built when it is first asked for, if there is a kernel. */
  get index(): MemoryIndex {
    return (this.#index ??= MemoryIndex.build(this.#bytes, { source: this.#source }));
  }

  answers(sink: BlockSink, options: { readonly isSurt: boolean }): BatchAnswers {
    return (
      this.#kernel?.answers({ ...options, sink, index: () => this.index }) ??
      new AnswerWriter(this.index, new BlockWriter(sink), options)
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
