import { skipBlanks } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { MementoList } from "./memento-list.ts";

/** Another TimeMap that a TimeMap names: itself, a page, or the same in another format. */
export interface TimeMapLink {
  /** As written: relative to where the TimeMap came from. */
  readonly uri: string;
  readonly rel: "self" | "timemap" | "next" | "prev";
  /** Its media type, in lower case and without parameters. */
  readonly type: string | undefined;
  /** The time it covers, fourteen digits as numbers. */
  readonly from: number | undefined;
  readonly until: number | undefined;
}

/** What a TimeMap says. */
export interface TimeMapReading {
  /** The original URI, as written. */
  readonly original: string | undefined;
  /** Another that it names, of a TimeMap that was joined to it; undefined where there is none. */
  readonly otherOriginal: string | undefined;
  /** In the order of their appearance; the archive's own order is not relied on. */
  readonly mementos: MementoList;
  /** Itself and other TimeMaps; see `pagesToFollow`. */
  readonly pages: readonly TimeMapLink[];
  readonly timegate: string | undefined;
  /** Things that should have been links or mementos, and could not be read. */
  readonly faults: number;
  /** The beginning of the first of them. */
  readonly firstFault: string | undefined;
}

/** How much of a TimeMap is taken. */
export interface TimeMapLimits {
  /** Mementos of one TimeMap; default 5 million. */
  readonly maxMementos?: number | undefined;
  /** Bytes of one link, line or JSON value; default 64 KiB. */
  readonly maxLinkBytes?: number | undefined;
}

const DEFAULT_MAX_MEMENTOS = 5_000_000;
const DEFAULT_MAX_LINK_BYTES: number = 64 * 1024;

/** Takes the bytes of a TimeMap as they come, however they are cut. */
export interface TimeMapReader {
  /**
   * Takes the next bytes, and does not hold on to them.
   *
   * @throws MM_LIMIT for too many mementos, or a link that is too long.
   */
  write(chunk: Uint8Array): void;
  /** Tells what was read, once, when all bytes were taken. Throws as `write` does. */
  end(): TimeMapReading;
}

const MAX_FAULT_BYTES = 200;
const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

/** What is known of a TimeMap while it is read. */
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

  /** The first one counts. */
  takeOriginal(uri: string): void {
    this.original ??= uri;
    if (uri !== this.original) this.otherOriginal ??= uri;
  }

  /** @throws MM_LIMIT for one too many. */
  addMemento(uri: string, datetime: number): void {
    const bytes = ENCODER.encode(uri);
    this.addBytes(bytes, 0, bytes.length, datetime);
  }

  /** The same of a URI in bytes. */
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

  /** Counts a fault; keeps how the first one begins. */
  addFault(bytes: Uint8Array, start: number, end: number): void {
    this.faults++;
    this.firstFault ??= DECODER.decode(
      bytes.subarray(start, Math.min(end, start + MAX_FAULT_BYTES)),
    );
  }
}

/** With something held, below this it is not worth looking whether it is whole now. */
const MIN_SCAN_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * What readers of all formats have in common: chunks come in, and a draft is filled. Joins chunks so
 * that `scan` sees its links, lines or values whole, wherever chunks are cut.
 *
 * Holds one of them, or 1 KiB. Bytes that were not whole are scanned again only when there are twice
 * as many: time is linear also for chunks of a single byte.
 */
export abstract class FedReader implements TimeMapReader {
  protected readonly draft: TimeMapDraft;
  readonly #maxBytes: number;
  #held: Uint8Array = NO_BYTES;
  #length = 0;
  #scanAt = 0;

  constructor(limits: TimeMapLimits = {}) {
    this.draft = new TimeMapDraft(limits);
    this.#maxBytes = limits.maxLinkBytes ?? DEFAULT_MAX_LINK_BYTES;
  }

  /**
   * Reads what is whole in `bytes[0, end)`; returns the offset of what is not, and has to be given
   * again with more bytes behind it. With `isLast` there will be no more.
   */
  protected abstract scan(bytes: Uint8Array, end: number, isLast: boolean): number;

  /** @throws MM_LIMIT for a link, line or value that is too long, and what the scanner throws. */
  write(chunk: Uint8Array): void {
    if (this.#length === 0) {
      this.#keepFrom(chunk, chunk.length, this.scan(chunk, chunk.length, false));
      return;
    }
    const length = this.#length + chunk.length;
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, this.#held.length * 2));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#length);
    this.#length = length;
    if (length >= this.#scanAt) {
      this.#keepFrom(this.#held, length, this.scan(this.#held, length, false));
    }
  }

  /** Scans what is left. Throws as `write` does. */
  end(): TimeMapReading {
    // What was not worth a scan yet may be too long all the same.
    if (this.#length > this.#maxBytes) {
      this.#keepFrom(this.#held, this.#length, this.scan(this.#held, this.#length, false));
    }
    const rest = this.#length;
    this.#length = 0;
    this.scan(this.#held, rest, true);
    return this.draft;
  }

  /**
   * Says that something has this length, so that limits do not depend on how chunks are cut.
   *
   * @throws MM_LIMIT when it is too long.
   */
  protected checkLength(length: number): void {
    if (length <= this.#maxBytes) return;
    const message = `the TimeMap has a link, line or value longer than ${this.#maxBytes} bytes`;
    throw new MementoMapError("MM_LIMIT", message, { reason: "bad-timemap" });
  }

  #keepFrom(bytes: Uint8Array, end: number, from: number): void {
    const rest = end - from;
    this.checkLength(rest);
    this.#length = rest;
    if (rest === 0) return;
    if (bytes === this.#held) {
      bytes.copyWithin(0, from, end);
    } else {
      if (rest > this.#held.length) this.#held = new Uint8Array(rest * 2);
      this.#held.set(bytes.subarray(from, end));
    }
    this.#scanAt = Math.max(MIN_SCAN_BYTES, rest * 2);
  }
}

/**
 * The other TimeMaps that have to be read for all mementos: the next page, the pages of an index, or
 * those that say which time they cover (RFC 7089, 5.1.1).
 *
 * Not those that are the same TimeMap, or the same in another format. Their addresses are as
 * written, and a page names its neighbours again: follow each once.
 */
export function pagesToFollow(reading: TimeMapReading): TimeMapLink[] {
  const self = reading.pages.find(({ rel }) => rel === "self");
  const format = self?.type ?? "application/link-format";
  return reading.pages.filter(({ rel, uri, type, from, until }) => {
    if (rel === "self" || rel === "prev" || uri === self?.uri) return false;
    if (type !== undefined && type !== format) return false;
    // One that tells no time may be this very TimeMap, unless that names itself or has nothing.
    const isOther = from !== undefined || until !== undefined || self !== undefined;
    return rel === "next" || isOther || reading.mementos.count === 0;
  });
}
