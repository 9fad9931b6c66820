import type { Transform } from "node:stream";
import { MementoMapError } from "../errors.ts";

/** A stream that compresses what is written to it. */
export type Compressor = Transform;

const CHUNK_BYTES = 256 * 1024;

/** How a file is compressed. */
export interface Coding {
  /** Compresses all of it. */
  compressor(): Compressor;
  /** Compresses all but the first bytes, which can be replaced. */
  headed(): HeadedCoding;
}

/**
 * How the end of a file name asks to compress the file, or undefined for not at all.
 *
 * The same bytes in give the same bytes out: gzip's time field stays empty.
 *
 * @throws `MM_USAGE` for `.zst` where this Node cannot write it.
 */
export function codingFor(path: string): Coding | undefined {
  const isZstd = path.endsWith(".zst");
  if (!isZstd && !path.endsWith(".gz")) return undefined;
  // Most commands compress nothing, and loading it takes a while.
  const zlib = process.getBuiltinModule("node:zlib");
  if (!isZstd) {
    return {
      compressor: () => zlib.createGzip({ chunkSize: CHUNK_BYTES }),
      headed: () => new HeadedGzip(CHUNK_BYTES),
    };
  }
  // The types are those of the oldest Node we run on, which does not have it.
  const { createZstdCompress } = zlib as { createZstdCompress?: () => Compressor };
  if (createZstdCompress !== undefined) {
    return {
      compressor: () => createZstdCompress(),
      headed: () => new HeadedZstd(createZstdCompress()),
    };
  }
  throw new MementoMapError(
    "MM_USAGE",
    "this Node cannot write zstd; use Node 22.15 or later, or a name that ends in .gz",
    { position: { source: path } },
  );
}

/**
 * Compressed data whose first bytes can be replaced by as many others when all is written: they are
 * stored as they are, and the rest is compressed behind them.
 */
export interface HeadedCoding {
  /** The beginning of the file; as long for every head of the same length. */
  encodeHead(head: Uint8Array): Uint8Array;
  /** Compresses what comes behind it. */
  readonly compressor: Compressor;
  /** Takes every block that the compressor gets. */
  take(block: Uint8Array): void;
  /** What belongs behind all compressed data. */
  trailer(head: Uint8Array): Uint8Array;
}

const MAX_STORED_BYTES = 0xffff;
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);

/**
 * gzip, in one member: programs that read only the first member of several read it all.
 *
 *     gzip header | head in stored blocks | raw deflate | CRC-32 | length
 */
export class HeadedGzip implements HeadedCoding {
  readonly compressor: Compressor;
  readonly #crc32: (data: Uint8Array, value?: number) => number;
  #crc = 0;
  #bytes = 0;

  constructor(chunkBytes: number) {
    const zlib = process.getBuiltinModule("node:zlib");
    this.#crc32 = zlib.crc32;
    this.compressor = zlib.createDeflateRaw({ chunkSize: chunkBytes });
  }

  encodeHead(head: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [GZIP_HEADER];
    for (let at = 0; at < head.length; at += MAX_STORED_BYTES) {
      const part = head.subarray(at, at + MAX_STORED_BYTES);
      const mark = Buffer.alloc(5); // not the last block, stored, its length and that inverted
      mark.writeUInt16LE(part.length, 1);
      mark.writeUInt16LE(part.length ^ 0xffff, 3);
      parts.push(mark, part);
    }
    return Buffer.concat(parts);
  }

  take(block: Uint8Array): void {
    this.#crc = this.#crc32(block, this.#crc);
    this.#bytes += block.length;
  }

  trailer(head: Uint8Array): Uint8Array {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(combineCrc32(this.#crc32(head), this.#crc, this.#bytes), 0);
    trailer.writeUInt32LE((head.length + this.#bytes) % 2 ** 32, 4);
    return trailer;
  }
}

const MAX_RAW_BYTES = 2 ** 17;

/** Zstandard: the head is a frame of its own, of raw blocks (RFC 8878, section 3.1.1). */
class HeadedZstd implements HeadedCoding {
  readonly compressor: Compressor;

  constructor(compressor: Compressor) {
    this.compressor = compressor;
  }

  encodeHead(head: Uint8Array): Uint8Array {
    // The magic number; one segment, its length in 4 bytes, no checksum.
    const start = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
    start.writeUInt32LE(head.length, 5);
    const parts: Uint8Array[] = [start];
    for (let at = 0; at < head.length; at += MAX_RAW_BYTES) {
      const part = head.subarray(at, at + MAX_RAW_BYTES);
      const isLast = at + MAX_RAW_BYTES >= head.length;
      const mark = Buffer.alloc(3);
      mark.writeUIntLE(part.length * 8 + (isLast ? 1 : 0), 0, 3);
      parts.push(mark, part);
    }
    return Buffer.concat(parts);
  }

  take(): void {
    // There is no checksum.
  }

  trailer(): Uint8Array {
    return new Uint8Array(0);
  }
}

const POLYNOMIAL = 0xedb88320;
/**
 * The CRC-32 of two stretches of bytes together, from that of each and the length of the second.
 *
 * (The method is that of `crc32_combine` in zlib, which Node does not offer.)
 */
function combineCrc32(first: number, second: number, secondBytes: number): number {
  const powers = powersOfX();
  let shift = 0x80000000;
  // Each byte multiplies by x^8 = x^(2^3).
  for (let left = secondBytes, n = 3; left > 0; left = Math.floor(left / 2), n++) {
    if (left % 2 === 1) shift = multiply(powers[n % 32], shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

/** The powers x^(2^n) modulo the polynomial, its bits reversed as in gzip. */
function powersOfX(): number[] {
  const list = [0x40000000];
  while (list.length < 32) list.push(multiply(list[list.length - 1], list[list.length - 1]));
  return list;
}

/** The product of two polynomials, modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}
