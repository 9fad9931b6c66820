/* oxlint-disable no-underscore-dangle -- names of node:zlib */
import type { Gunzip } from "node:zlib";
import { constants, createGunzip } from "node:zlib";

/** Bytes decompressed into one buffer. */
const BUFFER_BYTES = 2 ** 20;
const NOTHING = Buffer.alloc(0);

/** What a decoder has for those that came before streams; npm itself unpacks with it. */
type Stepwise = Gunzip & {
  _handle: { close: () => void } | null;
  _outBuffer: Buffer;
  _outOffset: number;
  _processChunk: (chunk: Uint8Array, flush: number) => Buffer;
};

/**
 * Decompresses gzip on the thread that asks, step by step.
 *
 * A stream of node:zlib works on another thread, and each step waits for both. Where all cores are
 * busy anyway, that only costs: a third more processor time, and pauses of an eighth.
 */
export class GunzipInPlace {
  /** Bytes taken; those behind the end of the data are not. */
  used = 0;
  /** Whether the data has ended, and more was given. */
  hasEnded = false;
  readonly #decoder: Stepwise;
  readonly #handle: NonNullable<Stepwise["_handle"]>;
  #buffer: Buffer = NOTHING;
  #offset = BUFFER_BYTES;

  private constructor(decoder: Stepwise, handle: NonNullable<Stepwise["_handle"]>) {
    this.#decoder = decoder;
    this.#handle = handle;
  }

  /** Undefined where this Node has only streams. */
  static open(): GunzipInPlace | undefined {
    // The types know of streams only.
    const decoder = createGunzip({ chunkSize: BUFFER_BYTES }) as Partial<Stepwise> & Gunzip;
    const { _handle: handle, _processChunk: step } = decoder;
    if (typeof step === "function" && typeof handle?.close === "function") {
      return new GunzipInPlace(decoder as Stepwise, handle); // as was looked at
    }
    decoder.destroy();
    return undefined;
  }

  /** What bytes decompress to. Throws the error of the decoder. */
  take(bytes: Uint8Array): Uint8Array {
    const output = this.#step(bytes, constants.Z_NO_FLUSH);
    const taken = this.#decoder.bytesWritten;
    this.used += taken;
    this.hasEnded ||= taken < bytes.length;
    return output;
  }

  /** Throws the error of the decoder where the data does not end with what was taken. */
  end(): Uint8Array {
    return this.hasEnded ? NOTHING : this.#step(NOTHING, constants.Z_FINISH);
  }

  close(): void {
    this.#decoder.destroy();
  }

  #step(bytes: Uint8Array, flush: number): Uint8Array {
    if (this.#offset === BUFFER_BYTES) {
      this.#buffer = Buffer.allocUnsafe(BUFFER_BYTES);
      this.#offset = 0;
    }
    const decoder = this.#decoder;
    const handle = this.#handle;
    const { close } = handle;
    // It would begin each step at the start of the same buffer, and close itself after it.
    decoder._outBuffer = this.#buffer;
    decoder._outOffset = this.#offset;
    handle.close = () => undefined;
    try {
      const output = decoder._processChunk(bytes, flush);
      const isHere = output.buffer === this.#buffer.buffer;
      this.#offset = isHere ? this.#offset + output.length : BUFFER_BYTES;
      return output;
    } finally {
      handle.close = close;
      decoder._handle = handle;
      decoder.removeAllListeners("error").on("error", () => undefined); // thrown already
    }
  }
}
