import { recognizeCompression } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { streamChunks } from "../bytes/stream-chunks.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { FetchClient } from "../http/http-client.ts";
import type { Platform } from "./source.ts";

/** Every platform: `fetch` and `DecompressionStream`, no files. */
export const WEB: Platform = {
  client: () => ({ client: new FetchClient(), close: () => undefined }),
  filePath(url) {
    throw noFiles(url.href);
  },
  openFile: (path) => Promise.reject(noFiles(path)),
  readFile: (path) => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(noFiles(path)) }),
  }),
  decompress: webDecompressed,
};

function noFiles(path: string): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    "this entry cannot read files: import from mementomap/node, or pass bytes or an http address",
    { position: { source: path } },
  );
}

/** Decompresses with browser APIs. Some browsers read only the first member of a gzip file. */
async function* webDecompressed(
  stored: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { head, chunks } = await peek(stored, 4);
  const compression = recognizeCompression(head);
  if (compression === undefined) yield* chunks;
  else if (compression === "gzip") yield* gunzipped(chunks, name);
  else yield* unzstd(chunks, name);
}

async function* gunzipped(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const gunzip = new DecompressionStream("gzip");
  const writer = gunzip.writable.getWriter();
  let failure: unknown;
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of chunks) await writer.write(new Uint8Array(chunk));
      await writer.close();
    } catch (error) {
      failure = error;
      await writer.abort(error).catch(() => undefined);
    }
  };
  const feeding = feed();
  try {
    yield* streamChunks(gunzip.readable);
  } catch (error) {
    throw isMementoMapError(failure) ? failure : damaged(name, "gzip", error);
  } finally {
    await feeding;
  }
}

async function* unzstd(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { Decompress } = await import("fzstd");
  let output: Uint8Array[] = [];
  const decoder = new Decompress((chunk) => void output.push(chunk));
  const step = (chunk: Uint8Array, isLast: boolean): Uint8Array[] => {
    try {
      decoder.push(chunk, isLast);
    } catch (error) {
      throw damaged(name, "zstd", error);
    }
    const decoded = output;
    output = [];
    return decoded;
  };
  for await (const chunk of chunks) yield* step(chunk, false);
  yield* step(new Uint8Array(0), true);
}

function damaged(name: string, kind: string, cause: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `the ${kind} data is damaged or cut short`, {
    position: { source: name },
    cause,
  });
}
