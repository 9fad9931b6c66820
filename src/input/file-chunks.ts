import { createReadStream } from "node:fs";
import { badInput, becameShorter, ioError, overLimit, systemCode } from "../errors.ts";
import type { FileTask } from "./index-input.ts";

const CHUNK_BYTES = 1 << 20;

/** The stored bytes of a file, or the inflated bytes of a ZIP entry. */
export async function* fileChunks(
  task: Pick<FileTask, "path" | "source" | "slice" | "progress" | "size">,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path, slice, progress, size = 0 } = task;
  if (slice?.length === 0) return;
  const counter = progress === undefined ? undefined : new BigInt64Array(progress);
  const stored = createReadStream(path, {
    highWaterMark: CHUNK_BYTES,
    ...(slice === undefined ? {} : { start: slice.offset, end: slice.offset + slice.length - 1 }),
  });
  try {
    const chunks =
      slice?.inflatedLength === undefined
        ? stored
        : inflatedEntry(stored, task.source, slice.inflatedLength);
    for await (const chunk of chunks) {
      if (counter !== undefined) Atomics.store(counter, 0, BigInt(stored.bytesRead));
      yield chunk as Uint8Array; // no encoding is set: chunks are Buffers
    }
    if (stored.bytesRead < size) throw becameShorter(path);
  } catch (error) {
    throw ioError(error, path);
  } finally {
    stored.destroy();
  }
}

/** Inflates a ZIP entry; more bytes than its stated length indicate a decompression bomb. */
async function* inflatedEntry(
  stored: NodeJS.ReadableStream,
  source: string,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Synchronously, so that no error of the stream is missed; loaded only where needed.
  const { createInflateRaw } = process.getBuiltinModule("node:zlib");
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  stored.on("error", (error) => inflate.destroy(error));
  stored.pipe(inflate);
  let inflated = 0;
  try {
    for await (const chunk of inflate) {
      inflated += (chunk as Uint8Array).length; // not in object mode
      if (inflated > length) {
        throw overLimit(source, `more than the stated ${length} bytes`);
      }
      yield chunk as Uint8Array;
    }
  } catch (error) {
    if (systemCode(error)?.startsWith("Z_") !== true) throw error;
    throw badInput(source, "the compressed data is truncated or damaged", error);
  } finally {
    inflate.destroy();
  }
}
