import { CLOSE_PAREN, HASH, QUESTION, SLASH } from "../../bytes/bytes.ts";
import { KeyScanner, surtKeyBytes } from "../../surt/key-bytes.ts";
import { surtBytes } from "../../surt/surt.ts";

/**
 * The keys of URIs, and of what is a SURT already, as bytes: those of `lookupKey()` for UTF-8.
 *
 * The result is `bytes[start, end)`, valid until the next is set. Ordinary web addresses need no
 * allocation.
 */
export class LookupKeyBytes {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  #surt = new Uint8Array(1 << 12);
  #key = new Uint8Array(1 << 12);
  readonly #scanner = new KeyScanner();

  set(source: Uint8Array, start: number, end: number): void {
    if (isSurt(source, start, end)) {
      this.#setFromSurt(source, start, end);
      return;
    }
    const room = 3 * (end - start) + 64;
    if (room > this.#surt.length) this.#surt = new Uint8Array(room * 2);
    this.#setFromSurt(this.#surt, 0, surtBytes(source, start, end, this.#surt, 0));
  }

  #setFromSurt(surt: Uint8Array, start: number, end: number): void {
    const keyEnd = this.#scanner.keyEnd(surt, start, end, 0);
    if (keyEnd !== -1) {
      this.bytes = surt;
      this.start = start;
      this.end = keyEnd;
      return;
    }
    const room = 3 * (end - start) + 1;
    if (room > this.#key.length) this.#key = new Uint8Array(room * 2);
    this.bytes = this.#key;
    this.start = 0;
    this.end = surtKeyBytes(surt, start, end, this.#key, 0);
  }
}

/** Whether there is a `)` before any slash, query and fragment, and a slash or nothing behind it. */
function isSurt(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION && bytes[at] !== HASH) at++;
  return at > start && bytes[at - 1] === CLOSE_PAREN && (at === end || bytes[at] === SLASH);
}
