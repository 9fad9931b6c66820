import { joinBytes } from "../bytes/bytes.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { MementoMapError } from "../errors.ts";

/** Writes a block. Await it, so that the writer does not get ahead of the reader. */
export type Write = (block: Uint8Array) => Promise<void>;

/**
 * A map that is generated while it is read: iterate over its blocks, or read it whole. It can be read once.
 *
 *     for await (const block of stream) …
 *     await stream.bytes()
 *     new Response(stream.readable())
 *     await pipeline(stream, createWriteStream("map.ukvs"))
 */
export class MapStream<Summary> implements AsyncIterable<Uint8Array> {
  /** Resolves at the end of the stream; rejects if the stream fails. */
  readonly summary: Promise<Summary>;
  readonly #make: (write: Write) => Promise<Summary>;
  #settle: { resolve(summary: Summary): void; reject(error: unknown): void };
  #isRead = false;

  constructor(make: (write: Write) => Promise<Summary>) {
    this.#make = make;
    this.#settle = { resolve: () => undefined, reject: () => undefined };
    this.summary = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // The reader of the stream gets the error, even if the summary is never awaited.
    this.summary.catch(() => undefined);
  }

  /** The blocks as they are generated. Leaving the loop cancels the work. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isRead) {
      throw new MementoMapError("MM_USAGE", "the stream can only be read once; create another");
    }
    this.#isRead = true;
    const cancelled = new MementoMapError("MM_INTERRUPTED", "the stream was not read to its end");
    // A write resolves when the block is read, and fails only if the reader has cancelled.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const write = async (block: Uint8Array): Promise<void> => {
      if (block.length === 0) return;
      await writer.write(block).catch(() => {
        throw cancelled;
      });
    };
    const making = this.#make(write).then(
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
      await making.catch(() => undefined); // the stream was cancelled
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

  /** The map as a web stream. */
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
