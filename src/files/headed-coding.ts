import { combineCrc32 } from "./crc32.ts";
import type { Compressor } from "./compress.ts";

/**
 * Compressed data whose first bytes can be replaced by as many others when all is written: they are
 * stored as they are, and the rest is compressed behind them.
 */
export interface HeadedCoding {
  /** The beginning of the file; as long for every head of the same length. */
  encodeHead(head: Uint8Array): Uint8Array;
  /** Compresses what comes behind it. */
  readonly compressor: Compressor;
  /** Told of every block that is given to the compressor. */
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
export class HeadedZstd implements HeadedCoding {
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
