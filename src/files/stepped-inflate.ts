import type { InflateRaw } from "node:zlib";
import { createInflateRaw } from "node:zlib";

/** What came of a step. */
export interface InflateStep {
  readonly chunks: readonly Uint8Array[];
  /** Stored bytes of the step that belong to the data; all of them unless it ends. */
  readonly used: number;
  readonly isEnd: boolean;
}

/**
 * Inflates data step by step. What a step gives depends on the steps only, as all of a step that
 * fails is lost; a stream of node:zlib loses what nobody has read yet.
 */
export class SteppedInflate {
  readonly #decoder: InflateRaw = createInflateRaw({ chunkSize: 1 << 18 });

  /** Takes stored bytes. Passes on the error of the decoder, which is of no use then. */
  async take(bytes: Uint8Array): Promise<InflateStep> {
    const decoder = this.#decoder;
    const before = decoder.bytesWritten;
    const chunks: Uint8Array[] = [];
    const collect = (): void => {
      for (let chunk = read(decoder); chunk !== null; chunk = read(decoder)) chunks.push(chunk);
    };
    const isEnd = await new Promise<boolean>((resolve, reject) => {
      decoder.on("readable", collect);
      decoder.once("error", reject);
      // Where bytes are left over at the end of the data, they count as never written.
      decoder.once("end", () => {
        resolve(true);
      });
      decoder.write(bytes, (error) => {
        if (error instanceof Error) return;
        collect();
        resolve(false);
      });
    });
    decoder.removeAllListeners("readable").removeAllListeners("error").removeAllListeners("end");
    return { chunks, used: decoder.bytesWritten - before, isEnd };
  }

  close(): void {
    this.#decoder.destroy();
  }
}

/** What is ready. */
function read(decoder: InflateRaw): Uint8Array | null {
  return decoder.read() as Uint8Array | null; // a zlib stream is not in object mode
}
