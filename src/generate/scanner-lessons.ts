import { DELETE, SPACE } from "../bytes/ascii.ts";
import type { Capture } from "../input/capture.ts";
import type { CaptureSieve, FilterReason } from "../input/filter.ts";
import { FACT } from "../input/json-facts.ts";
import type { JsonLayout } from "../input/json-layout.ts";
import { MAX_LAYOUTS } from "../input/json-layout.ts";
import { isRevisit } from "../input/revisit.ts";
import { SCANNER_REASONS } from "./key-run-scanner.ts";
import type { KeyRunScanner } from "./key-run-scanner.ts";

const IS_REVISIT = 1;

/** Shows a scanner what a filter makes of the rows that it could not judge itself. */
export class ScannerLessons {
  readonly #scanner: KeyRunScanner;
  readonly #sieve: CaptureSieve;
  /** The layouts that the scanner knows. */
  readonly #layouts: JsonLayout[] = [];
  #nextSlot = 0;

  constructor(scanner: KeyRunScanner, sieve: CaptureSieve) {
    this.#scanner = scanner;
    this.#sieve = sieve;
  }

  /** Takes a row that was read, and how it is laid out. */
  teach(layout: JsonLayout, bytes: Uint8Array, capture: Capture): void {
    const { statusStart, statusEnd, mimeStart, mimeEnd } = capture;
    const status = this.#sieve.hasStatus(bytes, capture) ? 0 : reasonBit("status");
    const mime = this.#mimeVerdict(bytes, capture);
    if (isPlain(bytes, statusStart, statusEnd)) {
      this.#scanner.learnValue(FACT.status, bytes, statusStart, statusEnd, status);
    }
    if (isPlain(bytes, mimeStart, mimeEnd)) {
      this.#scanner.learnValue(FACT.mime, bytes, mimeStart, mimeEnd, mime);
    }
    if (this.#layouts.includes(layout)) return;
    const missing = (statusStart === -1 ? status : 0) | (mimeStart === -1 ? mime : 0);
    this.#scanner.learnLayout(this.#nextSlot, layout, missing);
    this.#layouts[this.#nextSlot] = layout;
    this.#nextSlot = (this.#nextSlot + 1) % MAX_LAYOUTS;
  }

  #mimeVerdict(bytes: Uint8Array, capture: Capture): number {
    const verdict = this.#sieve.hasMime(bytes, capture) ? 0 : reasonBit("mime");
    if (capture.mimeStart === -1 || !isRevisit(bytes, capture)) return verdict;
    return verdict | IS_REVISIT | (this.#sieve.skipsRevisits ? reasonBit("revisit") : 0);
  }
}

function reasonBit(reason: FilterReason & (typeof SCANNER_REASONS)[number]): number {
  return 2 << SCANNER_REASONS.indexOf(reason);
}

/** Whether a value is there, and means the same in whatever row it stands. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === -1) return false;
  for (let i = start; i < end; i++) if (bytes[i] < SPACE || bytes[i] >= DELETE) return false;
  return true;
}
