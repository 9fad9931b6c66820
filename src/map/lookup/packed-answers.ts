import { copyRange, LF, MINUS, SLASH, TAB, writeDecimal, ZERO } from "../../bytes/bytes.ts";
import type { LineBatch } from "../../bytes/lines.ts";
import { OUTCOME, type Outcome } from "../../packed/packed-map.ts";
import {
  ABSENT,
  type BatchAnswers,
  type BlockWriter,
  copyEscapingTabs,
  NO_KEY,
  PRESENT,
} from "./answer-lines.ts";
import { PackedKey } from "./packed-key.ts";
import type { PackedLookup } from "./packed-lookup.ts";

/** Answers one input after the other from a packed map, in bytes from end to end. */
export class PackedAnswers implements BatchAnswers {
  askedCount = 0;
  presentCount = 0;
  readonly #map: PackedLookup;
  readonly #out: BlockWriter;
  readonly #isSurt: boolean;
  readonly #key = new PackedKey();

  constructor(map: PackedLookup, out: BlockWriter, options: { readonly isSurt: boolean }) {
    this.#map = map;
    this.#out = out;
    this.#isSurt = options.isSurt;
  }

  async writeLines({ bytes, starts, ends, count }: LineBatch): Promise<void> {
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const sent = this.write(bytes, starts[line], ends[line]);
      if (sent !== undefined) await sent;
    }
  }

  flush(): Promise<void> {
    return this.#out.flush();
  }

  /** Answers `bytes[start, end)`. Await the result: it is a promise only where something was awaited. */
  write(bytes: Uint8Array, start: number, end: number): Promise<void> | undefined {
    const key = this.#key;
    if (this.#isSurt) key.ofSurt(bytes, start, end, this.#map.header);
    else key.ofUriBytes(bytes, start, end, this.#map.header);
    const outcome = this.#map.findLoaded(key);
    const loading = outcome === OUTCOME.unloaded ? this.#map.load() : undefined;
    // A tab takes three bytes; the name has the key or less, and `,*` and `?*`.
    const room = this.#out.reserve(3 * (end - start) + key.hashes.end + 128);
    if (loading === undefined && room === undefined) {
      this.#put(outcome, bytes, start, end);
      return undefined;
    }
    return this.#putAfter(room, loading, bytes.slice(start, end));
  }

  async #putAfter(
    room: Promise<void> | undefined,
    loading: Promise<void> | undefined,
    input: Uint8Array,
  ): Promise<void> {
    await Promise.all([room, loading]);
    let outcome = this.#map.findLoaded(this.#key);
    while (outcome === OUTCOME.unloaded) {
      await this.#map.load();
      outcome = this.#map.findLoaded(this.#key);
    }
    this.#put(outcome, input, 0, input.length);
  }

  #put(outcome: Outcome, input: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    const map = this.#map;
    const target = out.bytes;
    this.askedCount += 1;
    let at = copyEscapingTabs(input, start, end, target, out.length);
    if (outcome === OUTCOME.none) {
      out.length = copyRange(NO_KEY, 0, NO_KEY.length, target, at);
      return;
    }
    const isPresent = outcome === OUTCOME.present;
    if (isPresent) this.presentCount += 1;
    const state = isPresent ? PRESENT : ABSENT;
    at = copyRange(state, 0, state.length, target, at);
    at = map.writeName(target, at);
    target[at++] = TAB;
    const mostCaptures = isPresent ? map.mostCaptures : 0;
    if (!isPresent) {
      target[at++] = ZERO;
    } else if (mostCaptures < 0) {
      target[at++] = SLASH;
    } else {
      at = writeDecimal(mostCaptures, target, at);
      target[at++] = MINUS;
    }
    target[at++] = TAB;
    at = writeDecimal(map.distance, target, at);
    target[at++] = LF;
    out.length = at;
  }
}
