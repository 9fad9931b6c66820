import { KeyHashes } from "../../packed/key-hashes.ts";
import { byteString } from "../../bytes/bytes.ts";
import { canonicalSurt } from "../../surt/canonical-surt.ts";
import { type KeyOptions, surtKey } from "../../surt/key.ts";
import { surtKeyBytes } from "../../surt/key-bytes.ts";
import { plainKey, writeAscii } from "../../surt/uri-to-surt.ts";

const encoder = new TextEncoder();
/** Bytes of a URI for each of its code units, at most. */
const MAX_BYTES_PER_CODE_UNIT = 3;

/**
 * A key that packed maps are asked for, with its hashes. Make one, and use it for one lookup after the
 * other, in all maps that have queries, or in all that have none.
 */
export class PackedKey {
  readonly hashes: KeyHashes = new KeyHashes();
  #uri: Uint8Array = new Uint8Array(0);
  #bytes: Uint8Array = new Uint8Array(0);

  /** The key in bytes; valid until the next one. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.hashes.end);
  }

  /** Takes the key of a URI. */
  ofUri(uri: string, options: KeyOptions): this {
    if (this.#uri.length < MAX_BYTES_PER_CODE_UNIT * uri.length) {
      this.#uri = new Uint8Array(2 * MAX_BYTES_PER_CODE_UNIT * uri.length);
    }
    const { written } = encoder.encodeInto(uri, this.#uri);
    return this.ofUriBytes(this.#uri, 0, written, options);
  }

  /** Takes the key of the URI in `bytes[start, end)`. */
  ofUriBytes(bytes: Uint8Array, start: number, end: number, options: KeyOptions): this {
    this.#reserve(end - start);
    let keyEnd = plainKey(bytes, start, end, this.#bytes, 0, options.queries === true);
    if (keyEnd < 0) {
      const key = surtKey(canonicalSurt(byteString(bytes, start, end)), options);
      this.#reserve(key.length);
      keyEnd = writeAscii("key", key, this.#bytes, 0);
    }
    this.hashes.read(this.#bytes, 0, keyEnd);
    return this;
  }

  /** Takes the key of the SURT in `bytes[start, end)`. */
  ofSurt(bytes: Uint8Array, start: number, end: number, options: KeyOptions): this {
    this.#reserve(end - start);
    const keyEnd = surtKeyBytes(bytes, start, end, this.#bytes, 0, options);
    this.hashes.read(this.#bytes, 0, keyEnd);
    return this;
  }

  /** Another one with the same key, for what takes longer. */
  copy(): PackedKey {
    const copy = new PackedKey();
    copy.#bytes = this.bytes.slice();
    copy.hashes.read(copy.#bytes, 0, copy.#bytes.length);
    return copy;
  }

  #reserve(bytes: number): void {
    const room = 3 * bytes + 1;
    if (this.#bytes.length < room) this.#bytes = new Uint8Array(2 * room);
  }
}
