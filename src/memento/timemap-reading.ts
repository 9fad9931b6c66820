import { skipBlanks } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { MementoList } from "./memento-list.ts";

/** A link of a TimeMap to a TimeMap: itself, a page, or the same in another format. */
export interface TimeMapLink {
  /** As written; relative to the URL of the TimeMap. */
  readonly uri: string;
  readonly rel: "self" | "timemap" | "next" | "prev";
  /** Its media type, in lower case and without parameters. */
  readonly type: string | undefined;
  /** The period it covers, as 14-digit numbers. */
  readonly from: number | undefined;
  readonly until: number | undefined;
}

/** The content of a TimeMap. */
export interface TimeMapReading {
  /** The original URI, as written. */
  readonly original: string | undefined;
  /** A different original URI, of a TimeMap that was appended; undefined if there is none. */
  readonly otherOriginal: string | undefined;
  /** In the order of appearance, which may not be chronological. */
  readonly mementos: MementoList;
  /** Links to itself and other TimeMaps; see `pagesToFollow`. */
  readonly pages: readonly TimeMapLink[];
  readonly timegate: string | undefined;
  /** Number of invalid links and mementos. */
  readonly faults: number;
  /** The beginning of the first invalid one. */
  readonly firstFault: string | undefined;
}

/** Limits on reading a TimeMap. */
export interface TimeMapLimits {
  /** Max mementos per TimeMap; default 5 million. */
  readonly maxMementos?: number | undefined;
  /** Max bytes of a link, line or JSON value; default 64 KiB. */
  readonly maxLinkBytes?: number | undefined;
}

const DEFAULT_MAX_MEMENTOS = 5_000_000;
const DEFAULT_MAX_LINK_BYTES: number = 64 * 1024;

/** Reads a TimeMap from chunks of any size. */
export interface TimeMapReader {
  /**
   * Reads the next chunk, which the caller may reuse afterwards.
   *
   * @throws MM_LIMIT for too many mementos, or a link that is too long.
   */
  write(chunk: Uint8Array): void;
  /** Returns the result. Call once, after the last chunk. Throws like `write`. */
  end(): TimeMapReading;
}

const MAX_FAULT_BYTES = 200;
const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

/** The content of a TimeMap while it is read. */
export class TimeMapDraft implements TimeMapReading {
  original: string | undefined;
  otherOriginal: string | undefined;
  readonly mementos: MementoList = new MementoList();
  readonly pages: TimeMapLink[] = [];
  timegate: string | undefined;
  faults = 0;
  firstFault: string | undefined;
  readonly #maxMementos: number;

  constructor({ maxMementos = DEFAULT_MAX_MEMENTOS }: TimeMapLimits) {
    this.#maxMementos = maxMementos;
  }

  /** The first original URI is used; a different one is noted. */
  takeOriginal(uri: string): void {
    this.original ??= uri;
    if (uri !== this.original) this.otherOriginal ??= uri;
  }

  /** @throws MM_LIMIT for too many mementos. */
  addMemento(uri: string, datetime: number): void {
    const bytes = ENCODER.encode(uri);
    this.addBytes(bytes, 0, bytes.length, datetime);
  }

  /** Adds a memento with its URI as bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number, datetime: number): void {
    if (skipBlanks(bytes, start, end) >= end) {
      this.addFault(bytes, start, end);
      return;
    }
    if (this.mementos.count >= this.#maxMementos) {
      const message = `the TimeMap has more than ${this.#maxMementos} mementos`;
      throw new MementoMapError("MM_LIMIT", message, { reason: "memento-limit" });
    }
    this.mementos.addBytes(bytes, start, end, datetime);
  }

  /** Counts a fault; stores the beginning of the first one. */
  addFault(bytes: Uint8Array, start: number, end: number): void {
    this.faults++;
    this.firstFault ??= DECODER.decode(
      bytes.subarray(start, Math.min(end, start + MAX_FAULT_BYTES)),
    );
  }
}

/** Buffered data is not scanned again below this size. */
const MIN_SCAN_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * Base class of the readers: fills a draft from chunks. Joins chunks so that `scan` sees complete links, lines or
 * values,
 * wherever the chunk boundaries are.
 *
 * Holds one of them, or 1 KiB. Incomplete data is scanned again only once it has doubled, so that time is linear
 * even for
 * chunks of a single byte.
 */
export abstract class FedReader implements TimeMapReader {
  protected readonly draft: TimeMapDraft;
  readonly #maxBytes: number;
  #pending: Uint8Array = NO_BYTES;
  #length = 0;
  #scanAt = 0;

  constructor(limits: TimeMapLimits = {}) {
    this.draft = new TimeMapDraft(limits);
    this.#maxBytes = limits.maxLinkBytes ?? DEFAULT_MAX_LINK_BYTES;
  }

  /**
   * Reads the complete items in `bytes[0, end)`; returns the offset of the incomplete rest, which is passed again
   * with
   * more bytes. With `isLast` there are no more bytes.
   */
  protected abstract scan(bytes: Uint8Array, end: number, isLast: boolean): number;

  /** @throws MM_LIMIT for a link, line or value that is too long, and errors of `scan`. */
  write(chunk: Uint8Array): void {
    if (this.#length === 0) {
      this.#buffer(chunk, chunk.length, this.scan(chunk, chunk.length, false));
      return;
    }
    const length = this.#length + chunk.length;
    if (length > this.#pending.length) {
      const larger = new Uint8Array(Math.max(length, this.#pending.length * 2));
      larger.set(this.#pending.subarray(0, this.#length));
      this.#pending = larger;
    }
    this.#pending.set(chunk, this.#length);
    this.#length = length;
    if (length >= this.#scanAt) {
      this.#buffer(this.#pending, length, this.scan(this.#pending, length, false));
    }
  }

  /** Scans the rest. Throws like `write`. */
  end(): TimeMapReading {
    // Data not scanned yet may exceed the limit.
    if (this.#length > this.#maxBytes) {
      this.#buffer(this.#pending, this.#length, this.scan(this.#pending, this.#length, false));
    }
    const rest = this.#length;
    this.#length = 0;
    this.scan(this.#pending, rest, true);
    return this.draft;
  }

  /**
   * Checks the length of an item, so that limits do not depend on chunk boundaries.
   *
   * @throws MM_LIMIT when it is too long.
   */
  protected checkLength(length: number): void {
    if (length <= this.#maxBytes) return;
    const message = `the TimeMap has a link, line or value longer than ${this.#maxBytes} bytes`;
    throw new MementoMapError("MM_LIMIT", message, { reason: "bad-timemap" });
  }

  #buffer(bytes: Uint8Array, end: number, from: number): void {
    const rest = end - from;
    this.checkLength(rest);
    this.#length = rest;
    if (rest === 0) return;
    if (bytes === this.#pending) {
      bytes.copyWithin(0, from, end);
    } else {
      if (rest > this.#pending.length) this.#pending = new Uint8Array(rest * 2);
      this.#pending.set(bytes.subarray(from, end));
    }
    this.#scanAt = Math.max(MIN_SCAN_BYTES, rest * 2);
  }
}

/**
 * The other TimeMaps to read for all mementos: the next page, the pages of an index, or TimeMaps with a stated period
 * (RFC 7089, 5.1.1).
 *
 * Excludes the same TimeMap, also in other formats. URIs are as written, and pages link back to their neighbours:
 * follow
 * each only once.
 */
export function pagesToFollow(reading: TimeMapReading): TimeMapLink[] {
  const self = reading.pages.find(({ rel }) => rel === "self");
  const format = self?.type ?? "application/link-format";
  return reading.pages.filter(({ rel, uri, type, from, until }) => {
    if (rel === "self" || rel === "prev" || uri === self?.uri) return false;
    if (type !== undefined && type !== format) return false;
    // Without a period it may be this TimeMap itself, unless this one has a self link or no mementos.
    const isOther = from !== undefined || until !== undefined || self !== undefined;
    return rel === "next" || isOther || reading.mementos.count === 0;
  });
}
