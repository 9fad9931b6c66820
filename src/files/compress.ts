import type { Transform } from "node:stream";
import { MementoMapError } from "../errors.ts";

/** A compressing stream. */
export type Compressor = Transform;

const CHUNK_BYTES = 256 * 1024;

/**
 * The compressor for a file name that ends in `.gz` or `.zst`, or undefined.
 *
 * Output is deterministic: gzip's time field stays empty.
 *
 * @throws `MM_USAGE` for `.zst` if this Node does not support it.
 */
export function compressorFor(path: string): (() => Compressor) | undefined {
  const isZstd = path.endsWith(".zst");
  if (!isZstd && !path.endsWith(".gz")) return undefined;
  // Loaded lazily: most commands compress nothing.
  const zlib = process.getBuiltinModule("node:zlib");
  if (!isZstd) return () => zlib.createGzip({ chunkSize: CHUNK_BYTES });
  // Not in the types, which are those of the oldest supported Node.
  const { createZstdCompress } = zlib as { createZstdCompress?: () => Compressor };
  if (createZstdCompress !== undefined) return createZstdCompress;
  throw new MementoMapError(
    "MM_USAGE",
    "this version of Node does not support zstd; use Node 22.15 or later, or .gz",
    { position: { source: path } },
  );
}
