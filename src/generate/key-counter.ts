import { CLOSE_PAREN, COLON, equalWithin } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import {
  type Capture,
  CaptureSurt,
  isRevisit,
  looksLikeSurt,
  ROW,
  type RowKind,
} from "../input/capture.ts";
import type { DetectedFormat } from "../input/formats.ts";
import { type PlainBytes, plainKeyBytes, writePlainUri } from "../surt/uri-to-surt.ts";
import { type IndexCounts, newIndexCounts } from "./index-counts.ts";
import type { KeyTable } from "./key-table.ts";
import { RowKey, type RowKeyOptions } from "./map-rows.ts";
import type { KeySink, ScanKind } from "./scan-job.ts";

/** Captures are counted by key. */
export const GENERATE: ScanKind<RowKeyOptions, IndexCounts> = {
  worker: "dist/generate/generate-worker.js",
  openSink: (options, table, drain) => new KeyCounter(options, table, drain),
};

const NONE = -1;

/**
 * Counts captures by the keys of their rows in a table, which `drain` must empty when it is full.
 *
 * A key is made from the URI of its row. The key column is used only if there is no URI, or one without
 * host and scheme.
 */
export class KeyCounter implements KeySink<IndexCounts> {
  readonly counts: IndexCounts = newIndexCounts();
  readonly #options: RowKeyOptions;
  readonly #table: KeyTable;
  readonly #drain: () => void;
  readonly #surt = new CaptureSurt();
  readonly #rowKey: RowKey;
  /** Whether only the key goes into the table, so that one pass over the URI suffices. */
  readonly #isKeyOnly: boolean;
  readonly #plainBytes: PlainBytes;
  #key = new Uint8Array(4096);
  #isSample = false;
  /** View of the bytes being read. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The URI that keyed the row counted last, in the same bytes; NONE if it had none. */
  #lastUriStart = NONE;
  #lastUriEnd = NONE;

  constructor(options: RowKeyOptions, table: KeyTable, drain: () => void) {
    this.#options = options;
    this.#table = table;
    this.#drain = drain;
    this.#rowKey = new RowKey(options);
    this.#plainBytes = plainKeyBytes(options.queries === true);
    const { originals, distinct, datetimeDigits } = options;
    this.#isKeyOnly = !originals && distinct !== true && datetimeDigits === 0;
  }

  found(): IndexCounts {
    return this.counts;
  }

  startPart({ isSample = false }: DetectedFormat): void {
    this.#isSample = isSample;
    this.#table.startRun();
  }

  take(bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#lastUriStart = NONE;
  }

  add(bytes: Uint8Array, capture: Capture): RowKind {
    const { counts } = this;
    if (this.#options.datetimeDigits > 0 && capture.dateStart === NONE) {
      return capture.reject("there is no datetime to split by; leave --by out");
    }
    if (capture.uriStart === NONE || !this.#addUri(bytes, capture)) {
      const { keyStart, keyEnd } = capture;
      if (keyStart === NONE || !looksLikeSurt(bytes, keyStart, keyEnd)) return ROW.nonWeb;
      this.#addSurt(bytes, keyStart, keyEnd, bytes, capture);
      this.#lastUriStart = NONE;
      counts.keyedByColumn++;
    }
    counts.counted++;
    counts.captures += capture.count;
    if (isRevisit(bytes, capture)) counts.revisits++;
    if (this.#isSample || capture.isSample) counts.samples++;
    return ROW.capture;
  }

  /** Counts a row by its URI; false if the URI has neither a host nor a scheme. */
  #addUri(bytes: Uint8Array, capture: Capture): boolean {
    const { uriStart, uriEnd } = capture;
    if (this.#repeatsUri(uriStart, uriEnd)) {
      this.#table.repeat(capture.count);
      return true;
    }
    if (!this.#addPlainUri(bytes, capture)) {
      const surt = this.#surt;
      const end = surt.make(bytes, capture);
      if (!hasHostOrScheme(surt.bytes, end)) return false;
      this.#addSurt(surt.bytes, 0, end, bytes, capture);
    }
    this.#lastUriStart = uriStart;
    this.#lastUriEnd = uriEnd;
    return true;
  }

  /** Counts a row whose URI is an ordinary web address, as nearly all are; false for any other. */
  #addPlainUri(bytes: Uint8Array, capture: Capture): boolean {
    if (!this.#isKeyOnly || capture.hasEscapes || capture.isForeignSurt) return false;
    const { uriStart, uriEnd } = capture;
    if (uriEnd - uriStart > this.#key.length) this.#key = new Uint8Array(2 * (uriEnd - uriStart));
    const end = writePlainUri(bytes, uriStart, uriEnd, this.#key, 0, this.#plainBytes);
    if (end < 0) return false;
    this.#addKey(this.#key, 0, end, capture.count);
    return true;
  }

  #addSurt(surt: Uint8Array, start: number, end: number, row: Uint8Array, capture: Capture): void {
    const rowKey = this.#rowKey;
    rowKey.set(surt, start, end, row, capture);
    this.#addKey(rowKey.bytes, rowKey.start, rowKey.end, capture.count);
  }

  /** Whether a row has the same URI, and so the same key, as the row counted last. */
  #repeatsUri(start: number, end: number): boolean {
    const last = this.#lastUriStart;
    if (last === NONE || !this.#rowKey.isPartOfSurt) return false;
    return equalWithin(this.#view, start, end, last, this.#lastUriEnd);
  }

  #addKey(bytes: Uint8Array, start: number, end: number, count: number): void {
    if (this.#table.add(bytes, start, end, count)) return;
    this.#drain();
    if (this.#table.add(bytes, start, end, count)) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `a key of ${end - start} bytes does not fit into memory; give more with --memory`,
    );
  }
}

function hasHostOrScheme(surt: Uint8Array, end: number): boolean {
  for (let i = 0; i < end; i++) if (surt[i] === CLOSE_PAREN || surt[i] === COLON) return true;
  return false;
}
