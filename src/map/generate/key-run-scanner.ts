import {
  type CaptureFilter,
  type CaptureSieve,
  filterNeeds,
  type FilterReason,
  requiredLiterals,
} from "../../input/filter.ts";
import { FACT, type JsonLayout, MAX_LAYOUTS } from "../../input/json-layout.ts";
import { DELETE, SPACE } from "../../bytes/bytes.ts";
import { type Capture, isRevisit } from "../../input/capture.ts";

/** What a scanner does about a filter by itself; the rest it must be shown. */
export interface ScannerFilter {
  /** Digits of the first and the last datetime to keep; empty for any. */
  readonly from: string;
  readonly to: string;
  /** Whether it depends on values in the JSON block what is left out. */
  readonly looksAtJson: boolean;
  /** Rows whose URI has one of these in it, in whatever case, must be looked at; lower case. */
  readonly suspects: readonly string[];
}

const MAX_SUSPECTS = 8;
const MAX_SUSPECT_LENGTH = 32;

/** Undefined if nearly every row would have to be looked at. */
export function scannerFilter(filter: CaptureFilter): ScannerFilter | undefined {
  const suspects: string[] = [];
  for (const pattern of filter.exclude ?? []) {
    const literals = requiredLiterals(pattern);
    if (literals === undefined) return undefined;
    suspects.push(...literals.map((literal) => literal.slice(0, MAX_SUSPECT_LENGTH)));
  }
  if (suspects.length > MAX_SUSPECTS) return undefined;
  const { uri, status, mime } = filterNeeds(filter);
  return {
    from: filter.from ?? "",
    to: filter.to ?? "",
    looksAtJson: uri || status || mime,
    suspects,
  };
}

/** For which reasons a scanner can leave rows out; the first that applies is the one that counts. */
export const SCANNER_REASONS = [
  "revisit",
  "date",
  "status",
  "mime",
] as const satisfies readonly FilterReason[];

/**
 * Finds the keys of index lines faster than one line at a time: consecutive lines with the same key
 * come as one run.
 *
 * It can leave out what a filter leaves out, once it has been shown how rows are laid out and what
 * the filter makes of their values.
 */
export interface KeyRunScanner {
  /** Lines scanned last: those in runs, and those left out. */
  readonly lines: number;
  /** How many of them were left out, by the number of the reason in `SCANNER_REASONS`. */
  readonly rejected: readonly number[];
  /** Of the lines in runs, how many are of revisits. */
  readonly revisits: number;
  /** How many runs were found last. */
  readonly runs: number;
  /**
   * Four numbers a run: where its key begins, counted from the start of the scan; the length of the
   * key; its lines; and how many bytes the key shares with that of the run before.
   */
  readonly table: Int32Array;
  /** Whether a scan can get anywhere: JSON need not be looked at, or a layout is known. */
  readonly isReady: boolean;
  /** Says that lines of another part follow: forgets what it has learned. */
  startPart(filter: ScannerFilter): void;
  /**
   * Learns how some of the lines are laid out, down to the last fact.
   *
   * @param slot less than `MAX_LAYOUTS`; the layout that was there is forgotten.
   * @param verdict what to make of the facts that the layout has not.
   */
  learnLayout(slot: number, layout: JsonLayout, verdict: number): void;
  /**
   * Learns what to make of a value. Bits of the verdict: 1 for a revisit, then a bit for each of
   * `SCANNER_REASONS`.
   */
  learnValue(fact: number, bytes: Uint8Array, start: number, end: number, verdict: number): void;
  /** Takes the bytes whose lines are to be scanned; they stay as they are until the next take. */
  take(bytes: Uint8Array, end: number): void;
  /**
   * Scans whole lines from an offset on, and stops before the first that needs a closer look, or
   * after `maxLines`. Returns where it stopped.
   */
  scan(start: number, maxLines: number): number;
}

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
