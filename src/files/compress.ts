import type { Transform } from "node:stream";
import { MementoMapError } from "../errors.ts";

/** A stream that compresses what is written to it. */
export type Compressor = Transform;

const CHUNK_BYTES = 256 * 1024;

/**
 * What compresses a file whose name asks for it, or undefined.
 *
 * The same bytes in give the same bytes out: gzip's time field stays empty.
 *
 * @throws `MM_USAGE` for `.zst` where this Node cannot write it.
 */
export function compressorFor(path: string): (() => Compressor) | undefined {
  const isZstd = path.endsWith(".zst");
  if (!isZstd && !path.endsWith(".gz")) return undefined;
  // Most commands compress nothing, and loading it takes a while.
  const zlib = process.getBuiltinModule("node:zlib");
  if (!isZstd) return () => zlib.createGzip({ chunkSize: CHUNK_BYTES });
  // The types are those of the oldest Node we run on, which does not have it.
  const { createZstdCompress } = zlib as { createZstdCompress?: () => Compressor };
  if (createZstdCompress !== undefined) return createZstdCompress;
  throw new MementoMapError(
    "MM_USAGE",
    "this Node cannot write zstd; use Node 22.15 or later, or a name that ends in .gz",
    { position: { source: path } },
  );
}
