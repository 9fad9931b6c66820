import { copyRange, LF, MINUS, TAB, writeDecimal } from "../../bytes/bytes.ts";
import type { LineBatch } from "../../bytes/lines.ts";
import { surtBytes } from "../../surt/uri-to-surt.ts";
import { Match, type MemoryIndex } from "./memory-index.ts";

/** Takes blocks of bytes; an `Output`, for example. */
export interface BlockSink {
  write(block: Uint8Array): void | Promise<void>;
}

const BLOCK_BYTES = 256 * 1024;

/**
 * Collects bytes into large blocks, for loops that write a line at a time without making strings.
 *
 * Call {@link reserve}, write into `bytes` from `length` on, and move `length`.
 */
export class BlockWriter {
  /** Where to write. Replaced by `reserve`, so do not keep it. */
  bytes: Uint8Array;
  /** How much of `bytes` is taken. */
  length = 0;
  readonly #sink: BlockSink;

  /** @param bytes where the first block is collected. */
  constructor(sink: BlockSink, bytes: Uint8Array = new Uint8Array(BLOCK_BYTES)) {
    this.#sink = sink;
    this.bytes = bytes;
  }

  /** Makes room. Await the result: it is a promise only when a block was sent. */
  reserve(bytes: number): Promise<void> | undefined {
    return this.length + bytes <= this.bytes.length ? undefined : this.#makeRoom(bytes);
  }

  /** Sends what is held back. Call it after the last line. */
  async flush(): Promise<void> {
    if (this.length > 0) await this.#sink.write(this.bytes.subarray(0, this.length));
    this.length = 0;
  }

  async #makeRoom(bytes: number): Promise<void> {
    await this.flush();
    if (bytes > this.bytes.length) this.bytes = new Uint8Array(bytes);
  }
}

const encoder = new TextEncoder();
export const PRESENT: Uint8Array = encoder.encode("\tpresent\t");
export const ABSENT: Uint8Array = encoder.encode("\tabsent\t");
export const NO_KEY: Uint8Array = encoder.encode("\tabsent\t-\t-\t-\n");
const ESCAPED_TAB: Uint8Array = encoder.encode("%09");

/** Answers batches of inputs, one a line; blank lines have no answer. */
export interface BatchAnswers {
  /** How many inputs were answered. */
  readonly askedCount: number;
  /** How many of them were present. */
  readonly presentCount: number;
  writeLines(batch: LineBatch): Promise<void>;
  /** Sends what is held back. Call it after the last batch. */
  flush(): Promise<void>;
}

/** Makes what answers batches into a sink; inputs are URIs or, with `isSurt`, SURTs. */
export type MakeAnswers = (sink: BlockSink, options: { readonly isSurt: boolean }) => BatchAnswers;

/** Answers one input after the other from an index in memory, in bytes from end to end. */
export class AnswerWriter implements BatchAnswers {
  askedCount = 0;
  presentCount = 0;
  readonly #index: MemoryIndex;
  readonly #out: BlockWriter;
  readonly #isSurt: boolean;
  readonly #match = new Match();
  #surt: Uint8Array = new Uint8Array(8192);
  #hasTabs = false;

  constructor(index: MemoryIndex, out: BlockWriter, options: { readonly isSurt: boolean }) {
    this.#index = index;
    this.#out = out;
    this.#isSurt = options.isSurt;
  }

  /** Looks at the bytes of many inputs at once. Call it before the first `write` from them. */
  startBatch(bytes: Uint8Array): void {
    this.#hasTabs = bytes.includes(TAB);
  }

  async writeLines({ bytes, starts, ends, count }: LineBatch): Promise<void> {
    this.startBatch(bytes);
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const sent = this.write(bytes, starts[line], ends[line]);
      if (sent !== undefined) await sent;
    }
  }

  flush(): Promise<void> {
    return this.#out.flush();
  }

  /** Answers `bytes[start, end)`. Await the result: it is a promise only when a block was sent. */
  write(bytes: Uint8Array, start: number, end: number): Promise<void> | undefined {
    const match = this.#match;
    if (this.#isSurt) this.#index.lookupKeyBytes(bytes, start, end, match);
    else this.#lookupUri(bytes, start, end);
    this.askedCount += 1;
    if (match.present) this.presentCount += 1;
    const keyBytes = match.distance < 0 ? 0 : match.keyEnd - match.keyStart;
    // A tab takes three bytes; the rest is a frequency, a distance and what separates them.
    const room = this.#out.reserve(3 * (end - start) + keyBytes + 128);
    if (room === undefined) {
      this.#put(bytes, start, end);
      return undefined;
    }
    return this.#putAfter(room, bytes.slice(start, end));
  }

  async #putAfter(room: Promise<void>, input: Uint8Array): Promise<void> {
    await room;
    this.#put(input, 0, input.length);
  }

  #lookupUri(bytes: Uint8Array, start: number, end: number): void {
    const room = surtRoom(end - start);
    if (this.#surt.length < room) this.#surt = new Uint8Array(2 * room);
    const surtEnd = surtBytes(bytes, start, end, this.#surt, 0);
    this.#index.lookupKeyBytes(this.#surt, 0, surtEnd, this.#match);
  }

  #put(input: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    const target = out.bytes;
    const match = this.#match;
    let at = this.#hasTabs
      ? copyEscapingTabs(input, start, end, target, out.length)
      : copyRange(input, start, end, target, out.length);
    if (match.distance < 0) {
      out.length = copyRange(NO_KEY, 0, NO_KEY.length, target, at);
      return;
    }
    const state = match.present ? PRESENT : ABSENT;
    at = copyRange(state, 0, state.length, target, at);
    at = copyRange(this.#index.bytes, match.keyStart, match.keyEnd, target, at);
    target[at++] = TAB;
    if (match.frequencyStart === match.frequencyEnd) target[at++] = MINUS;
    else {
      at = copyRange(match.frequencyBytes, match.frequencyStart, match.frequencyEnd, target, at);
    }
    target[at++] = TAB;
    at = writeDecimal(match.distance, target, at);
    target[at++] = LF;
    out.length = at;
  }
}

/** Copies `source[start, end)` with each tab as `%09`; returns where it ends. */
export function copyEscapingTabs(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  offset: number,
): number {
  let at = offset;
  for (let from = start; from < end; from += 1) {
    if (source[from] === TAB) at = copyRange(ESCAPED_TAB, 0, ESCAPED_TAB.length, target, at);
    else target[at++] = source[from];
  }
  return at;
}

/** Room enough for the SURT of a URI: percent-encoding makes three bytes of one at most. */
export function surtRoom(uriBytes: number): number {
  return 4 * uriBytes + 1024;
}
