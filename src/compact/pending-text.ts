import { copyRange, joinBytes, LF, withRoom } from "../bytes/bytes.ts";
import type { SpillStore } from "../files/scratch.ts";

/** Writes text in order; the bytes are valid only during the call. */
export type WriteText = (bytes: Uint8Array) => void;

/** Receives text, which is valid only during the call, and the position of its first byte. */
type Visit = (bytes: Uint8Array, position: number) => void;

const INITIAL_BYTES = 1 << 18;
const MEMORY_BYTES = 1 << 24;
const WINDOW_BYTES = 1 << 20;

/**
 * Output lines that may still be removed.
 *
 * A range of text; positions are counted from the start of all output. New lines are appended; the end
 * can be truncated, ranges in the middle can be struck out, and the front is released to the sink once it
 * is decided. Holds at most 16 MiB and the longest line; more goes to the spill store, if there is one.
 */
export class PendingText {
  readonly #write: WriteText;
  readonly #spill: SpillStore | undefined;
  readonly #memoryBytes: number;
  /** Text from here on is pending. */
  #start = 0;
  /** Text from here on is in the buffer, earlier text in the spill store. */
  #bufferStart = 0;
  #buffer: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** Ranges struck out, as pairs of positions in increasing order. */
  #holes: number[] = [];

  constructor(write: WriteText, spill?: SpillStore, memoryBytes: number = MEMORY_BYTES) {
    this.#write = write;
    this.#spill = spill;
    this.#memoryBytes = memoryBytes;
    this.#buffer = new Uint8Array(Math.min(INITIAL_BYTES, memoryBytes));
  }

  /** The position after the last byte. */
  get end(): number {
    return this.#bufferStart + this.#length;
  }

  /** The position of the first pending byte. */
  get start(): number {
    return this.#start;
  }

  /** Appends `bytes[start, end)`. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    if (this.#length + size > this.#buffer.length) this.#makeRoom(size);
    this.#length = copyRange(bytes, start, end, this.#buffer, this.#length);
  }

  #makeRoom(size: number): void {
    if (this.#spill !== undefined && this.#length + size > this.#memoryBytes && this.#length > 0) {
      this.#spill.write(this.#bufferStart, this.#buffer.subarray(0, this.#length));
      this.#bufferStart += this.#length;
      this.#length = 0;
    }
    this.#buffer = withRoom(this.#buffer, this.#length + size);
  }

  /** Removes everything from `position` on. */
  truncate(position: number): void {
    this.#bufferStart = Math.min(this.#bufferStart, position);
    this.#length = Math.min(this.#length, position - this.#bufferStart);
    const holes = this.#holes;
    while (holes.length > 0 && holes[holes.length - 2] >= position) holes.length -= 2;
    if (holes.length > 0 && holes[holes.length - 1] > position) holes[holes.length - 1] = position;
  }

  /** Removes `[from, to)`; later positions do not change. */
  strikeOut(from: number, to: number): void {
    if (from >= to) return;
    const holes = this.#holes;
    let at = holes.length;
    while (at > 0 && holes[at - 2] >= from) at -= 2;
    if (at > 0 && holes[at - 1] >= from) {
      at -= 2;
      holes[at + 1] = Math.max(holes[at + 1], to);
    } else {
      holes.splice(at, 0, from, to);
    }
    // Merge with following holes that now touch.
    while (at + 2 < holes.length && holes[at + 2] <= holes[at + 1]) {
      holes[at + 1] = Math.max(holes[at + 1], holes[at + 3]);
      holes.splice(at + 2, 2);
    }
  }

  /** Hands everything before `position` to the sink. */
  release(position: number): void {
    this.#forEachStretch(this.#start, position, (bytes) => {
      this.#write(bytes);
    });
    const holes = this.#holes;
    let released = 0;
    while (released < holes.length && holes[released + 1] <= position) released += 2;
    if (released > 0) holes.splice(0, released);
    if (holes.length > 0 && holes[0] < position) holes[0] = position;
    this.#start = position;
    if (position < this.#bufferStart) return;
    const left = this.end - position;
    this.#buffer.copyWithin(0, position - this.#bufferStart, this.#length);
    this.#bufferStart = position;
    this.#length = left;
  }

  /** Visits the lines in `[from, to)` that were not struck out, each with its end. */
  forEachLine(from: number, to: number, visit: Visit): void {
    let carried = new Uint8Array(0);
    this.#forEachStretch(from, to, (piece, position) => {
      const bytes = carried.length === 0 ? piece : joinBytes([carried, piece]);
      const start = position - carried.length;
      let at = 0;
      for (let feed = bytes.indexOf(LF); feed !== -1; feed = bytes.indexOf(LF, at)) {
        visit(bytes.subarray(at, feed + 1), start + at);
        at = feed + 1;
      }
      carried = bytes.slice(at);
    });
  }

  /** Visits the text of `[from, to)` without holes, in chunks. */
  #forEachStretch(from: number, to: number, visit: Visit): void {
    let at = from;
    const holes = this.#holes;
    for (let i = 0; i < holes.length && holes[i] < to; i += 2) {
      if (holes[i + 1] <= at) continue;
      if (holes[i] > at) this.#forEachPiece(at, holes[i], visit);
      at = holes[i + 1];
    }
    if (at < to) this.#forEachPiece(at, to, visit);
  }

  #forEachPiece(from: number, to: number, visit: Visit): void {
    let at = from;
    while (at < to && at < this.#bufferStart && this.#spill !== undefined) {
      const size = Math.min(WINDOW_BYTES, to - at, this.#bufferStart - at);
      const window = new Uint8Array(size);
      this.#spill.read(at, window);
      visit(window, at);
      at += size;
    }
    if (at >= to) return;
    visit(this.#buffer.subarray(at - this.#bufferStart, to - this.#bufferStart), at);
  }
}
