import { CR, LF } from "../../bytes/bytes.ts";
import type { LineBatch } from "../../bytes/lines.ts";
import type { KernelExports } from "../../files/package-file.ts";
import { type BatchAnswers, type BlockSink, BlockWriter } from "./answer-lines.ts";

/** What kernels that answer lines export. */
export interface LineExports extends KernelExports {
  inputPointer(): number;
  outputPointer(): number;
  answer(start: number, end: number, target: number, isSurt: number): number;
  writtenEnd(): number;
  asked(): number;
  present(): number;
  stoppedAtOddLine(): number;
}

/** The room of a kernel for lines, and for answers. */
export const INPUT_BYTES: number = 512 * 1024;
export const OUTPUT_BYTES: number = 256 * 1024;

/** Answers lines with a kernel, and those that it does not take in another way. */
export abstract class KernelLines implements BatchAnswers {
  askedCount = 0;
  presentCount = 0;
  /** Writes into the memory of the kernel. */
  protected readonly out: BlockWriter;
  readonly #exports: LineExports;
  readonly #input: Uint8Array;
  readonly #output: Uint8Array;
  readonly #isSurt: boolean;

  protected constructor(exports: LineExports, sink: BlockSink, isSurt: boolean) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#input = new Uint8Array(buffer, exports.inputPointer(), INPUT_BYTES);
    this.#output = new Uint8Array(buffer, exports.outputPointer(), OUTPUT_BYTES);
    this.#isSurt = isSurt;
    this.out = new BlockWriter(sink, this.#output);
  }

  /** Answers a line that is not plain. */
  protected abstract writeOdd(batch: LineBatch, line: number): Promise<void> | undefined;

  /** Answers a line that is too long for the kernel. */
  protected abstract writeLong(batch: LineBatch, line: number): Promise<void>;

  async writeLines(batch: LineBatch): Promise<void> {
    for (let line = 0; line < batch.count;) {
      const end = this.#endOfPiece(batch, line);
      if (end === line) await this.writeLong(batch, line++);
      else line = await this.#writePiece(batch, line, end);
    }
  }

  flush(): Promise<void> {
    return this.out.flush();
  }

  /** The line behind those that fit into the input. */
  #endOfPiece({ starts, ends, count }: LineBatch, first: number): number {
    let end = count;
    while (end > first && ends[end - 1] - starts[first] > INPUT_BYTES - 2) end -= 1;
    return end;
  }

  async #writePiece(batch: LineBatch, first: number, end: number): Promise<number> {
    const { bytes, starts, ends } = batch;
    const exports = this.#exports;
    const length = ends[end - 1] - starts[first];
    this.#input.set(bytes.subarray(starts[first], ends[end - 1]));
    // With an end of two bytes: the line may have another CR before it, which belongs to it.
    this.#input[length] = CR;
    this.#input[length + 1] = LF;
    const base = this.#input.byteOffset - starts[first];
    const stop = this.#input.byteOffset + length + 2;
    const output = this.#output.byteOffset;
    let line = first;
    while (line < end) {
      const target = output + this.out.length;
      line += exports.answer(base + starts[line], stop, target, this.#isSurt ? 1 : 0);
      this.out.length = exports.writtenEnd() - output;
      this.askedCount += exports.asked();
      this.presentCount += exports.present();
      if (line === end) break;
      if (exports.stoppedAtOddLine() === 1) {
        const sent = this.writeOdd(batch, line++);
        if (sent !== undefined) await sent;
      } else {
        await this.flush();
      }
    }
    return line;
  }
}
