import { type BlockSink, BlockWriter } from "../bytes/block-writer.ts";
import { copyRange, LF, MINUS, TAB, writeDecimal } from "../bytes/bytes.ts";
import type { LineBatch } from "../bytes/lines.ts";
import { coveringKeys, MISSING, writeCoveringKey } from "../surt/covering-keys.ts";
import { Key } from "../surt/lookup-key.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import { findLoading, type KeySource, type Verdict } from "./source.ts";

/** Lookups processed together, so that their cache misses overlap. */
const GROUP = 64;

/** This tool never writes longer frequencies. */
const USUAL_FREQUENCY = 64;

const encoder = new TextEncoder();
const PRESENT: Uint8Array = encoder.encode("\tpresent\t");
const ABSENT: Uint8Array = encoder.encode("\tabsent\t");
const NO_KEY: Uint8Array = encoder.encode("\tabsent\t-\t-\t-\n");
const ESCAPED_TAB: Uint8Array = encoder.encode("%09");

export interface BatchOptions {
  /** Whether the inputs are SURTs instead of URIs. */
  readonly isSurt: boolean;
  readonly period?: DatetimeRange | undefined;
}

/**
 * Answers batches of inputs, one a line, from any source, without converting bytes to strings. Blank lines
 * are skipped.
 */
export class BatchAnswers {
  /** Inputs answered. */
  askedCount = 0;
  /** Inputs answered with present. */
  presentCount = 0;
  readonly #source: KeySource;
  readonly #out: BlockWriter;
  readonly #options: BatchOptions;
  readonly #keys: readonly Key[];
  readonly #lines = new Int32Array(GROUP);
  readonly #opened = new Int32Array(GROUP);
  /** Copies inputs. */
  #copy: typeof copyRange = copyRange;
  /** Bytes reserved for the group. */
  #room = 0;
  readonly #verdict: Verdict = { present: false, bytes: new Uint8Array(0), start: 0, end: 0 };

  constructor(source: KeySource, sink: BlockSink, options: BatchOptions) {
    this.#source = source;
    this.#out = new BlockWriter(sink);
    this.#options = options;
    const group = source.openAll === undefined ? 1 : GROUP;
    this.#keys = Array.from({ length: group }, () => new Key());
  }

  async writeLines(batch: LineBatch): Promise<void> {
    const { bytes, starts, ends, count } = batch;
    const keys = this.#keys;
    this.#copy = bytes.includes(TAB) ? copyEscapingTabs : copyRange;
    for (let line = 0; line < count;) {
      let taken = 0;
      let room = 0;
      for (; line < count && taken < keys.length; line++) {
        const length = ends[line] - starts[line];
        if (length === 0) continue;
        this.#lines[taken] = line;
        this.#read(keys[taken], batch, line);
        // An escaped tab takes three bytes; the deciding key is no longer than the input, escapes aside.
        room += 6 * length + 128;
        taken++;
      }
      this.#open(taken);
      this.#room = room;
      const reserved = this.#out.reserve(room);
      if (reserved !== undefined) await reserved;
      for (let i = 0; i < taken; i++) {
        const waiting = this.#answer(i, batch);
        if (waiting !== undefined) await waiting;
      }
    }
  }

  /** Writes buffered answers. Call this after the last batch. */
  flush(): Promise<void> {
    return this.#out.flush();
  }

  #read(key: Key, { bytes, starts, ends }: LineBatch, line: number): void {
    const { readsQueries } = this.#source;
    if (this.#options.isSurt) key.ofSurt(bytes, starts[line], ends[line], readsQueries);
    else key.ofUri(bytes, starts[line], ends[line], readsQueries);
  }

  #open(count: number): void {
    const source = this.#source;
    const { period } = this.#options;
    if (source.openAll !== undefined) source.openAll(this.#keys, count, this.#opened, period);
    else if (count > 0) this.#opened[0] = source.open(this.#keys[0], period);
  }

  /** Answers line `i` of a group; returns a promise only if data must be loaded or written. */
  #answer(i: number, batch: LineBatch): Promise<void> | undefined {
    const source = this.#source;
    const key = this.#keys[i];
    const opened = this.#opened[i];
    const hit =
      opened < 0 ? opened : coveringKeys(key, source.headers.fields.queries === true, source);
    const line = this.#lines[i];
    if (hit !== MISSING) return this.#put(key, hit, batch, line);
    return this.#answerLater(key, batch, line);
  }

  async #answerLater(key: Key, batch: LineBatch, line: number): Promise<void> {
    const { period } = this.#options;
    const put = await findLoading(this.#source, key, { period }, (found, hit) => ({
      sent: this.#put(found, hit, batch, line),
    }));
    await put.sent;
  }

  #put(
    key: Key,
    hit: number,
    { bytes, starts, ends }: LineBatch,
    line: number,
  ): Promise<void> | undefined {
    const out = this.#out;
    this.askedCount++;
    if (hit < 0) {
      const at = this.#copy(bytes, starts[line], ends[line], out.bytes, out.length);
      out.length = copyRange(NO_KEY, 0, NO_KEY.length, out.bytes, at);
      return undefined;
    }
    const verdict = this.#verdict;
    this.#source.answer(key, hit, verdict);
    if (verdict.present) this.presentCount++;
    const length = verdict.end - verdict.start;
    const reserved = length < USUAL_FREQUENCY ? undefined : out.reserve(this.#room + length);
    if (reserved !== undefined) {
      return reserved.then(() => this.#putAnswer(key, bytes, starts[line], ends[line]));
    }
    this.#putAnswer(key, bytes, starts[line], ends[line]);
    return undefined;
  }

  #putAnswer(key: Key, input: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    const target = out.bytes;
    const verdict = this.#verdict;
    const state = verdict.present ? PRESENT : ABSENT;
    let at = this.#copy(input, start, end, target, out.length);
    at = copyRange(state, 0, state.length, target, at);
    at = writeCoveringKey(key, target, at);
    target[at++] = TAB;
    if (verdict.start === verdict.end) target[at++] = MINUS;
    else at = copyRange(verdict.bytes, verdict.start, verdict.end, target, at);
    target[at++] = TAB;
    at = writeDecimal(key.distance, target, at);
    target[at++] = LF;
    out.length = at;
  }
}

/** Copies `source[start, end)` with each tab as `%09`; returns the end offset in the target. */
function copyEscapingTabs(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  offset: number,
): number {
  let at = offset;
  for (let from = start; from < end; from++) {
    if (source[from] === TAB) at = copyRange(ESCAPED_TAB, 0, ESCAPED_TAB.length, target, at);
    else target[at++] = source[from];
  }
  return at;
}
