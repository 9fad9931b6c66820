import type { BlockSink } from "../../map/lookup/block-writer.ts";

const FLUSH_AT_LENGTH = 64 * 1024;
const encoder = new TextEncoder();

/** Writes lines in large blocks and waits for the sink after each. */
export class LineWriter {
  readonly #sink: BlockSink;
  #pending = "";

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** Adds a line. Await the result: it is a promise only when a block was sent. */
  write(line: string): Promise<void> | undefined {
    this.#pending += `${line}\n`;
    return this.#pending.length < FLUSH_AT_LENGTH ? undefined : this.flush();
  }

  /** Sends what is held back. Call it after the last line. */
  async flush(): Promise<void> {
    const block = this.#pending;
    this.#pending = "";
    if (block !== "") await this.#sink.write(encoder.encode(block));
  }
}
