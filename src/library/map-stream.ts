import { joinBytes } from "../bytes/bytes.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { MementoMapError } from "../errors.ts";

/** Takes what is written; await it, so that no more is made than is read. */
export type Write = (block: Uint8Array) => Promise<void>;

/**
 * A map that is made while it is read: iterate over its blocks, or take it whole. It can be read once.
 *
 *     for await (const block of stream) …
 *     await stream.bytes()
 *     new Response(stream.readable())
 *     await pipeline(stream, createWriteStream("map.ukvs"))
 */
export class MapStream<Summary> implements AsyncIterable<Uint8Array> {
  /** What was done; comes at the end of the stream, and fails as the stream does. */
  readonly summary: Promise<Summary>;
  readonly #make: (write: Write) => Promise<Summary>;
  #settle: { resolve(summary: Summary): void; reject(error: unknown): void };
  #isRead = false;

  constructor(make: (write: Write) => Promise<Summary>) {
    this.#make = make;
    this.#settle = { resolve: () => undefined, reject: () => undefined };
    this.summary = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // The reader of the stream gets the error; the summary need not be asked for.
    this.summary.catch(() => undefined);
  }

  /** The blocks as they are made. Leaving the loop ends the work. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isRead) {
      throw new MementoMapError("MM_USAGE", "the stream was read already; make another");
    }
    this.#isRead = true;
    const left = new MementoMapError("MM_INTERRUPTED", "the stream was not read to its end");
    // A write to it lasts until the block is taken, and fails only when the reader has left.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const write = async (block: Uint8Array): Promise<void> => {
      if (block.length === 0) return;
      await writer.write(block).catch(() => {
        throw left;
      });
    };
    const made = this.#make(write).then(
      (summary) => {
        this.#settle.resolve(summary);
        return writer.close();
      },
      (error: unknown) => {
        this.#settle.reject(error);
        return writer.abort(error);
      },
    );
    try {
      yield* streamChunks(readable);
    } finally {
      await made.catch(() => undefined); // of a stream that was left
    }
  }

  /** The whole map. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const blocks: Uint8Array[] = [];
    for await (const block of this) blocks.push(block);
    return joinBytes(blocks);
  }

  /** The whole map as text. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** The map as a stream of the web. */
  readable(): ReadableStream<Uint8Array> {
    const blocks = this[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await blocks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await blocks.return();
      },
    });
  }
}
