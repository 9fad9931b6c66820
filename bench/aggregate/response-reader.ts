const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = "0\r\n\r\n";

/** Finds the end of answers of HTTP/1.1 that come one at a time, and what their heads say. */
export class ResponseReader {
  status = 0;
  /** The number of mementos the head states, or 0. */
  count = 0;
  /** Whether the connection ends with this answer. */
  isLast = false;
  #head: Buffer | undefined;
  #bodyLeft = -1;
  #tail = "";

  /** True when the answer is whole. */
  take(chunk: Buffer): boolean {
    if (this.#bodyLeft === -1) {
      const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) {
        this.#head = bytes;
        return false;
      }
      this.#readHead(bytes.toString("latin1", 0, end));
      return this.#takeBody(bytes.subarray(end + 4));
    }
    return this.#takeBody(chunk);
  }

  reset(): void {
    this.status = 0;
    this.count = 0;
    this.isLast = false;
    this.#head = undefined;
    this.#bodyLeft = -1;
    this.#tail = "";
  }

  #readHead(head: string): void {
    this.status = Number(head.slice(9, 12));
    this.count = Number(/\r\nx-memento-count: *(\d+)/i.exec(head)?.[1] ?? 0);
    this.isLast = /\r\nconnection: *close/i.test(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#bodyLeft = length === undefined ? Infinity : Number(length);
  }

  #takeBody(bytes: Buffer): boolean {
    if (this.#bodyLeft !== Infinity) {
      this.#bodyLeft -= bytes.length;
      return this.#bodyLeft <= 0;
    }
    // Nothing is asked before the answer is here, so that nothing can follow the last chunk.
    this.#tail = (this.#tail + bytes.subarray(-LAST_CHUNK.length).toString("latin1")).slice(
      -LAST_CHUNK.length,
    );
    return this.#tail === LAST_CHUNK;
  }
}
