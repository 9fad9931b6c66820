import { LF } from "../../bytes/bytes.ts";
import type { LineBatch } from "../../bytes/lines.ts";
import { startKernel } from "../../files/package-file.ts";
import { asciiSurt } from "../../surt/key-bytes.ts";
import { lookupKeys } from "../../surt/key.ts";
import { surtBytes } from "../../surt/uri-to-surt.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import { checkSize } from "../../ukvs/header.ts";
import {
  AnswerWriter,
  type BatchAnswers,
  type BlockSink,
  BlockWriter,
  copyEscapingTabs,
  surtRoom,
} from "./answer-lines.ts";
import { INPUT_BYTES, KernelLines, type LineExports, OUTPUT_BYTES } from "./kernel-lines.ts";
import { type Answer, answerLine } from "./map-lookup.ts";
import { mapHeadOf, refuseCut } from "./map-head.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { olderSpellings, rowLayout } from "./map-row.ts";

/** What kernel/lookup.ts exports. */
interface LookupExports extends LineExports {
  openMap(bytes: number): number;
  index(offset: number): number;
  openBuffers(inputBytes: number, outputBytes: number): void;
  keyPointer(): number;
  maxKeyBytes(): number;
  find(keyBytes: number): number;
}

/** A larger map may not fit into the memory of a kernel, beside a table of its keys. */
const MAX_MAP_BYTES = 2 ** 29;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A map in the memory of a WebAssembly kernel, for batches of lookups.
 *
 * It takes only plain maps, and answers only plain lookups by itself; see kernel/lookup.ts. Holds the
 * map's bytes, 16 to 32 bytes a key and 1.3 MiB besides.
 */
export class LookupKernel {
  readonly #exports: LookupExports;
  readonly #map: number;
  readonly #size: number;

  private constructor(exports: LookupExports, size: number) {
    this.#exports = exports;
    this.#map = exports.openMap(size);
    this.#size = size;
  }

  /** Makes room for a map; undefined where the kernel is not built, or the map too large for it. */
  static open(mapBytes: number): LookupKernel | undefined {
    if (mapBytes > MAX_MAP_BYTES) return undefined;
    const exports = startKernel("lookup", {});
    // What kernel/lookup.ts exports.
    return exports === undefined ? undefined : new LookupKernel(exports as LookupExports, mapBytes);
  }

  /** The map, or the room for it. Valid until {@link index} is called; then there is a new one. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, this.#map, this.#size);
  }

  /**
   * Indexes the map, which is in `bytes` by now. False where it is not plain, perhaps because of a
   * fault: `MemoryIndex` takes every map and says what is wrong.
   *
   * @throws what `MemoryIndex.build` throws for a fault in the head, and MM_CUT.
   */
  index(source: string): boolean {
    const head = mapHeadOf(this.bytes, source);
    const { fields } = rowLayout(head.headers.fields, source);
    refuseCut(head, this.#size, source);
    if (fields.keys.length !== 1 || fields.queries === true) return false;
    if (head.headers.meta["page"] !== undefined) return false;
    const records = this.#exports.index(head.recordsOffset);
    if (records < 0) return false;
    checkSize(head.headers.size, { bytes: this.#size - head.bodyOffset, records }, source);
    this.#exports.openBuffers(INPUT_BYTES, OUTPUT_BYTES);
    return true;
  }

  /** Answers batches, after {@link index}. */
  answers(options: KernelOptions): BatchAnswers {
    return new KernelAnswers(this.#exports, this.bytes, options);
  }
}

interface KernelOptions {
  readonly sink: BlockSink;
  readonly isSurt: boolean;
  /** The index of the map, which is asked only for inputs longer than the kernel takes. */
  readonly index: () => MemoryIndex;
}

class KernelAnswers extends KernelLines {
  readonly #exports: LookupExports;
  readonly #map: Uint8Array;
  readonly #key: Uint8Array;
  readonly #options: KernelOptions;

  constructor(exports: LookupExports, map: Uint8Array, options: KernelOptions) {
    super(exports, options.sink, options.isSurt);
    this.#exports = exports;
    this.#map = map;
    this.#key = new Uint8Array(exports.memory.buffer, exports.keyPointer(), exports.maxKeyBytes());
    this.#options = options;
  }

  protected async writeLong({ bytes, starts, ends }: LineBatch, line: number): Promise<void> {
    await this.flush();
    const { index, sink } = this.#options;
    const answers = new AnswerWriter(index(), new BlockWriter(sink), this.#options);
    const long = bytes.subarray(starts[line], ends[line]);
    answers.startBatch(long);
    await answers.write(long, 0, long.length);
    await answers.flush();
    this.askedCount += 1;
    this.presentCount += answers.presentCount;
  }

  protected async writeOdd(batch: LineBatch, line: number): Promise<void> {
    const { bytes, starts, ends } = batch;
    const [start, end] = [starts[line], ends[line]];
    if (end - start > this.#key.length) return this.writeLong(batch, line);
    const answer = this.#lookup(this.#surt(bytes, start, end));
    this.askedCount += 1;
    if (answer.present) this.presentCount += 1;
    const rest = encoder.encode(`${answerLine("", answer)}\n`);
    const room = 3 * (end - start) + rest.length;
    const { out } = this;
    await out.reserve(room);
    const restAt = copyEscapingTabs(bytes, start, end, out.bytes, out.length);
    out.bytes.set(rest, restAt);
    out.length = restAt + rest.length;
  }

  #surt(bytes: Uint8Array, start: number, end: number): string {
    if (this.#options.isSurt) return asciiSurt(bytes, start, end);
    const surt = new Uint8Array(surtRoom(end - start));
    return asciiSurt(surt, 0, surtBytes(bytes, start, end, surt, 0));
  }

  #lookup(surt: string): Answer {
    for (const { key, distance } of lookupKeys(surt)) {
      for (const spelling of [key, ...olderSpellings(key)]) {
        const row = this.#rowOf(spelling);
        if (row >= 0) return this.#answer(row, spelling, distance);
      }
    }
    return { present: false };
  }

  /** The offset of the row of exactly this key, or -1. */
  #rowOf(key: string): number {
    const { read, written } = encoder.encodeInto(key, this.#key);
    return read < key.length ? -1 : this.#exports.find(written);
  }

  #answer(row: number, key: string, distance: number): Answer {
    const start = row + key.length + 1;
    const end = this.#map.indexOf(LF, start);
    const present = !frequencyIsZero(this.#map, start, end);
    return { present, key, frequency: decoder.decode(this.#map.subarray(start, end)), distance };
  }
}
