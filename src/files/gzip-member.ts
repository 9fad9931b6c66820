import { constants, crc32, createInflateRaw, type InflateRaw, inflateRawSync } from "node:zlib";
import { ByteWindow } from "../bytes/byte-window.ts";
import { systemCode } from "../errors.ts";

/** Stored bytes that are inflated at once. */
export const STEP_BYTES: number = 1 << 16;
const TRAILER_BYTES = 8;
const FIXED_HEADER_BYTES = 10;

const HAS_HEADER_CRC = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** What is at an offset where a gzip member should be. */
export type Member =
  /** A member that can be read and whose checksum is right, and where it ends. */
  | { readonly kind: "whole"; readonly bytes: Uint8Array; readonly end: number }
  /** One that goes on beyond the first step, which is sound, and where its data begins. */
  | { readonly kind: "long"; readonly dataStart: number }
  /** One that the file ends in, and what is there of it. */
  | { readonly kind: "cut"; readonly bytes: Uint8Array }
  /** What is not a member, and about how many bytes were inflated to learn that. */
  | { readonly kind: "broken"; readonly why: string; readonly tried: number };

/** Reads the member at an offset, if it is no longer than a step. */
export async function readMember(stored: StoredWindow, offset: number): Promise<Member> {
  const start = await stored.peek(offset, STEP_BYTES);
  const dataStart = gzipHeaderLength(start);
  if (dataStart === undefined) return { kind: "broken", why: "there is no gzip header", tried: 0 };
  const data = start.subarray(dataStart);
  const inflated = tryInflate(data);
  if (typeof inflated === "string") {
    return { kind: "broken", why: inflated, tried: bytesToFailure(data) };
  }
  if (inflated === undefined) {
    if (start.length === STEP_BYTES) return { kind: "long", dataStart: offset + dataStart };
    return { kind: "cut", bytes: inflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH }) };
  }
  const { bytes, used } = inflated;
  const end = offset + dataStart + used;
  const trailer = await readTrailer(stored, end, crc32(bytes), bytes.length);
  if (trailer === "cut") return { kind: "cut", bytes };
  if (trailer !== "sound") return { kind: "broken", why: trailer, tried: used };
  return { kind: "whole", bytes, end: end + TRAILER_BYTES };
}

/** What the trailer says of data with this checksum and length: `sound`, `cut`, or what is wrong. */
export async function readTrailer(
  stored: StoredWindow,
  offset: number,
  checksum: number,
  length: number,
): Promise<string> {
  const trailer = await stored.peek(offset, TRAILER_BYTES);
  if (trailer.length < TRAILER_BYTES) return "cut";
  if (trailer.readUInt32LE(0) !== checksum) return "incorrect data check";
  return trailer.readUInt32LE(4) === length % 2 ** 32 ? "sound" : "incorrect length check";
}

/** Behind the trailer of a member whose data ends at an offset. */
export function endBehindTrailer(dataEnd: number): number {
  return dataEnd + TRAILER_BYTES;
}

/** How long the header is with which a member begins; undefined if there is none, or not all of it. */
function gzipHeaderLength(bytes: Buffer): number | undefined {
  const flags = bytes[3];
  if (bytes.length < FIXED_HEADER_BYTES || (flags & RESERVED_FLAGS) !== 0) return undefined;
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) return undefined;
  let at = FIXED_HEADER_BYTES;
  if ((flags & HAS_EXTRA) !== 0) {
    if (bytes.length < at + 2) return undefined;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero === -1) return undefined;
    at = zero + 1;
  }
  if ((flags & HAS_HEADER_CRC) !== 0) {
    if (bytes.length < at + 2) return undefined;
    if (bytes.readUInt16LE(at) !== crc32(bytes.subarray(0, at)) % 2 ** 16) return undefined;
    at += 2;
  }
  return at <= bytes.length ? at : undefined;
}

/** About how many bytes of damaged data can be inflated. */
function bytesToFailure(data: Buffer): number {
  for (let length = 64; length < data.length; length *= 8) {
    if (typeof tryInflate(data.subarray(0, length)) === "string") return length;
  }
  return data.length;
}

/** Inflates data to its end; undefined if that is not there, and a text if it is damaged. */
function tryInflate(data: Buffer): { bytes: Uint8Array; used: number } | string | undefined {
  try {
    // The types do not know what `info` asks for.
    const { buffer, engine } = inflateRawSync(data, { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return { bytes: buffer, used: engine.bytesWritten };
  } catch (error) {
    const code = systemCode(error);
    if (code === "Z_BUF_ERROR") return undefined;
    if (code?.startsWith("Z_") !== true || !(error instanceof Error)) throw error;
    return error.message;
  }
}

/** A stream that can be looked into at any offset behind those that were let go. */
export class StoredWindow extends ByteWindow {
  readonly #iterator: AsyncIterator<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    super();
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** The bytes at an offset; fewer than `length` only at the end of the stream. */
  async peek(offset: number, length: number): Promise<Buffer> {
    while (offset + length > this.end) {
      const next = await this.#iterator.next();
      if (next.done === true) break;
      this.add(next.value);
    }
    const bytes = this.slice(offset, offset + length);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

/** What came of a step. */
interface InflateStep {
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

  /** Takes stored bytes. Passes on the error of the decoder, which is useless then. */
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
