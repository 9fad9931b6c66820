import type { KeyRunScanner } from "../../generate/key-run-scanner.ts";
import type { KernelExports } from "../kernel.ts";
import { startKernel } from "../kernel.ts";

/** What kernel/scan-cdxj.ts exports. */
interface ScanExports extends KernelExports {
  open(bytes: number): number;
  runsPointer(): number;
  maxRuns(): number;
  runs(): number;
  lines(): number;
  revisits(): number;
  scan(start: number, end: number, maxLines: number, maxLineBytes: number): number;
}

/** Scans CDXJ lines in WebAssembly. Lines that are read into `buffer` need not be copied. */
export class CdxjScanner implements KeyRunScanner {
  readonly buffer: Buffer;
  readonly table: Int32Array;
  lines = 0;
  runs = 0;
  revisits = 0;
  readonly #exports: ScanExports;
  readonly #maxLineBytes: number;

  private constructor(exports: ScanExports, bufferBytes: number, maxLineBytes: number) {
    this.#exports = exports;
    this.#maxLineBytes = maxLineBytes;
    const pointer = exports.open(bufferBytes);
    this.buffer = Buffer.from(exports.memory.buffer, pointer, bufferBytes);
    const runs = exports.runsPointer();
    this.table = new Int32Array(exports.memory.buffer, runs, exports.maxRuns() * 4);
  }

  /** Undefined where the kernel is not built. */
  static open(bufferBytes: number, maxLineBytes: number): CdxjScanner | undefined {
    const exports = startKernel("scan-cdxj", {});
    if (exports === undefined) return undefined;
    // What kernel/scan-cdxj.ts exports.
    return new CdxjScanner(exports as ScanExports, bufferBytes, maxLineBytes);
  }

  scan(bytes: Uint8Array, start: number, end: number, maxLines: number): number {
    const { buffer } = this;
    let from = bytes.byteOffset + start;
    let length = end - start;
    if (bytes.buffer !== buffer.buffer) {
      length = Math.min(length, buffer.length);
      buffer.set(bytes.subarray(start, start + length));
      from = buffer.byteOffset;
    }
    const exports = this.#exports;
    const stop = exports.scan(from, from + length, maxLines, this.#maxLineBytes);
    this.lines = exports.lines();
    this.runs = exports.runs();
    this.revisits = exports.revisits();
    return start + stop - from;
  }
}
