import { LF } from "../../bytes/bytes.ts";
import { type KeyRunScanner, SCANNER_REASONS, type ScannerFilter } from "./key-run-scanner.ts";
import { endsWithQuote, FACT, type JsonLayout } from "../../input/json-layout.ts";
import { type KernelExports, startKernel } from "../../files/package-file.ts";

/** What kernel/scan-cdxj.ts exports. */
interface ScanExports extends KernelExports {
  open(bytes: number): number;
  runsPointer(): number;
  maxRuns(): number;
  runs(): number;
  lines(): number;
  revisits(): number;
  rejected(reason: number): number;
  lessonPointer(): number;
  maxLessonBytes(): number;
  forget(): void;
  openLayout(slot: number): void;
  learnGap(slot: number, length: number, fact: number, isString: number): number;
  learnTail(slot: number, length: number): number;
  closeLayout(slot: number, verdict: number): void;
  learnDate(digits: number, isLast: number): void;
  forgetSuspects(): void;
  learnSuspect(length: number): number;
  learnWord(fact: number, length: number, verdict: number): void;
  scan(
    start: number,
    end: number,
    maxLines: number,
    maxLineBytes: number,
    isFiltered: number,
  ): number;
}

/** Scans CDXJ lines in WebAssembly. Lines that are read into `buffer` need not be copied. */
export class CdxjScanner implements KeyRunScanner {
  readonly buffer: Buffer;
  readonly table: Int32Array;
  lines = 0;
  runs = 0;
  revisits = 0;
  isReady = true;
  readonly rejected: number[] = SCANNER_REASONS.map(() => 0);
  #isFiltered = false;
  /** Facts that the kernel judges by; it passes over all else. */
  #judged = 0;
  /** The bytes taken; where their offset 0 is, or would be, in the memory of the kernel. */
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;
  #base = 0;
  /** Up to where they are in that memory. */
  #pieceEnd = 0;
  readonly #lesson: Uint8Array;
  readonly #exports: ScanExports;
  readonly #maxLineBytes: number;

  private constructor(exports: ScanExports, bufferBytes: number, maxLineBytes: number) {
    this.#exports = exports;
    this.#maxLineBytes = maxLineBytes;
    const pointer = exports.open(bufferBytes);
    this.buffer = Buffer.from(exports.memory.buffer, pointer, bufferBytes);
    const lesson = exports.lessonPointer();
    this.#lesson = new Uint8Array(exports.memory.buffer, lesson, exports.maxLessonBytes());
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

  startPart({ from, to, looksAtJson, suspects }: ScannerFilter): void {
    const exports = this.#exports;
    this.#isFiltered = looksAtJson;
    this.isReady = !looksAtJson;
    this.#judged = FACT.status | FACT.mime | (suspects.length > 0 ? FACT.uri : 0);
    exports.forget();
    for (const [i, date] of [from, to].entries()) {
      this.#say(Buffer.from(date));
      exports.learnDate(date.length, i);
    }
    exports.forgetSuspects();
    for (const suspect of suspects) {
      this.#say(Buffer.from(suspect));
      exports.learnSuspect(suspect.length);
    }
  }

  learnLayout(slot: number, { gaps, facts, tail }: JsonLayout, verdict: number): void {
    const exports = this.#exports;
    exports.openLayout(slot);
    const learnsGap = (gap: Uint8Array, i: number): boolean => {
      const isString = endsWithQuote(gap) ? 1 : 0;
      return (
        this.#say(gap) &&
        exports.learnGap(slot, gap.length, facts[i] & this.#judged, isString) === 1
      );
    };
    const learnsTail = (): boolean =>
      tail === undefined || (this.#say(tail) && exports.learnTail(slot, tail.length) === 1);
    if (!gaps.every(learnsGap) || !learnsTail()) return;
    exports.closeLayout(slot, verdict);
    this.isReady = true;
  }

  /** Puts bytes where the kernel learns them from; false if they are too many. */
  #say(bytes: Uint8Array): boolean {
    if (bytes.length > this.#lesson.length) return false;
    this.#lesson.set(bytes);
    return true;
  }

  learnValue(fact: number, bytes: Uint8Array, start: number, end: number, verdict: number): void {
    if (this.#say(bytes.subarray(start, end))) this.#exports.learnWord(fact, end - start, verdict);
  }

  take(bytes: Uint8Array, end: number): void {
    this.#bytes = bytes;
    this.#end = end;
    const isInPlace = bytes.buffer === this.buffer.buffer;
    this.#base = isInPlace ? bytes.byteOffset : 0;
    this.#pieceEnd = isInPlace ? end : 0;
  }

  scan(start: number, maxLines: number): number {
    if (start >= this.#pieceEnd) this.#copyPiece(start);
    const exports = this.#exports;
    const base = this.#base;
    const isFiltered = this.#isFiltered ? 1 : 0;
    const stop = exports.scan(
      base + start,
      base + this.#pieceEnd,
      maxLines,
      this.#maxLineBytes,
      isFiltered,
    );
    this.lines = exports.lines();
    this.runs = exports.runs();
    this.revisits = exports.revisits();
    for (let i = 0; i < this.rejected.length; i++) this.rejected[i] = exports.rejected(i);
    return stop - base;
  }

  /** Copies as many whole lines as there is room for. */
  #copyPiece(start: number): void {
    const { buffer } = this;
    const bytes = this.#bytes;
    const room = start + buffer.length;
    // A line that is cut off, because it is longer than there is room for, the kernel leaves alone.
    this.#pieceEnd =
      room >= this.#end ? this.#end : bytes.subarray(start, room).lastIndexOf(LF) + 1 + start;
    buffer.set(bytes.subarray(start, this.#pieceEnd));
    this.#base = buffer.byteOffset - start;
  }
}
