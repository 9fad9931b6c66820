import { LF } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";

/** Counts lines as they come, and refuses those that nobody could read. Holds two numbers. */
export class LineTally {
  /** Lines that have ended. */
  lines = 0;
  readonly #maxLineBytes: number;
  readonly #source: string;
  #openBytes = 0;

  constructor(maxLineBytes: number, source: string) {
    this.#maxLineBytes = maxLineBytes;
    this.#source = source;
  }

  /** Whether the last line lacks its end. */
  get isWithinLine(): boolean {
    return this.#openBytes > 0;
  }

  /** @throws MM_LIMIT as soon as a line is too long. */
  add(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#grow(end - start);
      this.#openBytes = 0;
      this.lines++;
      start = end + 1;
    }
    this.#grow(chunk.length - start);
  }

  #grow(bytes: number): void {
    this.#openBytes += bytes;
    // One byte more may be the CR of the end.
    if (this.#openBytes <= this.#maxLineBytes + 1) return;
    throw new MementoMapError("MM_LIMIT", `the line is longer than ${this.#maxLineBytes} bytes`, {
      position: { source: this.#source, line: this.lines + 1 },
    });
  }
}
