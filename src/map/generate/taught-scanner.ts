import { DELETE, SPACE } from "../../bytes/bytes.ts";
import { type Capture, isRevisit } from "../../input/capture.ts";
import type { CaptureSieve, FilterReason } from "../../input/filter.ts";
import { FACT, type JsonLayout, MAX_LAYOUTS } from "../../input/json-layout.ts";
import { SCANNER_REASONS } from "./key-run-scanner.ts";
import type { KeyRunScanner } from "./key-run-scanner.ts";
import type { ScannerFilter } from "./scanner-filter.ts";

const IS_REVISIT = 1;

/** A scanner that is shown what a filter makes of the rows that it cannot judge itself. */
export class TaughtScanner {
  readonly scanner: KeyRunScanner;
  readonly #filter: ScannerFilter;
  readonly #sieve: CaptureSieve | undefined;
  /** The layouts that the scanner knows. */
  readonly #layouts: JsonLayout[] = [];
  #nextSlot = 0;

  /** @param sieve missing where nothing is left out. */
  constructor(scanner: KeyRunScanner, filter: ScannerFilter, sieve: CaptureSieve | undefined) {
    this.scanner = scanner;
    this.#filter = filter;
    this.#sieve = sieve;
  }

  /** Says that lines of another part follow. */
  startPart(): void {
    this.scanner.startPart(this.#filter);
    this.#layouts.length = 0;
    this.#nextSlot = 0;
  }

  /** Takes a row that was read, and how it is laid out. */
  teach(layout: JsonLayout, bytes: Uint8Array, capture: Capture): void {
    const sieve = this.#sieve;
    if (sieve === undefined) return;
    const { statusStart, statusEnd, mimeStart, mimeEnd } = capture;
    const status = sieve.hasStatus(bytes, capture) ? 0 : reasonBit("status");
    const mime = mimeVerdict(sieve, bytes, capture);
    if (isPlain(bytes, statusStart, statusEnd)) {
      this.scanner.learnValue(FACT.status, bytes, statusStart, statusEnd, status);
    }
    if (isPlain(bytes, mimeStart, mimeEnd)) {
      this.scanner.learnValue(FACT.mime, bytes, mimeStart, mimeEnd, mime);
    }
    if (this.#layouts.includes(layout)) return;
    // Where there is no URI, the key is matched against what is to be excluded.
    if (sieve.excludes && capture.uriStart === -1) return;
    const missing = (statusStart === -1 ? status : 0) | (mimeStart === -1 ? mime : 0);
    this.scanner.learnLayout(this.#nextSlot, layout, missing);
    this.#layouts[this.#nextSlot] = layout;
    this.#nextSlot = (this.#nextSlot + 1) % MAX_LAYOUTS;
  }
}

function mimeVerdict(sieve: CaptureSieve, bytes: Uint8Array, capture: Capture): number {
  const verdict = sieve.hasMime(bytes, capture) ? 0 : reasonBit("mime");
  if (capture.mimeStart === -1 || !isRevisit(bytes, capture)) return verdict;
  return verdict | IS_REVISIT | (sieve.skipsRevisits ? reasonBit("revisit") : 0);
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
