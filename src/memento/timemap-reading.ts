import { SPACE } from "../bytes/ascii.ts";
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

export const DEFAULT_MAX_MEMENTOS = 5_000_000;
export const DEFAULT_MAX_LINK_BYTES: number = 64 * 1024;

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

/** What is known of a TimeMap while it is read. */
export class TimeMapDraft {
  readonly mementos: MementoList = new MementoList();
  readonly pages: TimeMapLink[] = [];
  timegate: string | undefined;
  #original: string | undefined;
  #otherOriginal: string | undefined;
  #faults = 0;
  #firstFault: string | undefined;
  readonly #maxMementos: number;

  constructor(limits: TimeMapLimits = {}) {
    this.#maxMementos = limits.maxMementos ?? DEFAULT_MAX_MEMENTOS;
  }

  /** The first one counts. */
  takeOriginal(uri: string): void {
    this.#original ??= uri;
    if (uri !== this.#original) this.#otherOriginal ??= uri;
  }

  /** @throws MM_LIMIT for one too many. */
  addMemento(bytes: Uint8Array, start: number, end: number, datetime: number): void {
    if (isBlank(bytes, start, end)) {
      this.addFault(bytes, start, end);
      return;
    }
    if (this.mementos.count >= this.#maxMementos) {
      throw new MementoMapError(
        "MM_LIMIT",
        `the TimeMap has more than ${this.#maxMementos} mementos`,
        { reason: "memento-limit" },
      );
    }
    this.mementos.addBytes(bytes, start, end, datetime);
  }

  /** Counts a fault; keeps how the first one begins. */
  addFault(bytes: Uint8Array, start: number, end: number): void {
    this.#faults++;
    this.#firstFault ??= DECODER.decode(
      bytes.subarray(start, Math.min(end, start + MAX_FAULT_BYTES)),
    );
  }

  reading(): TimeMapReading {
    return {
      original: this.#original,
      otherOriginal: this.#otherOriginal,
      mementos: this.mementos,
      pages: this.pages,
      timegate: this.timegate,
      faults: this.#faults,
      firstFault: this.#firstFault,
    };
  }
}

/** Whether a URI is empty, which refers to the TimeMap itself, or only blanks. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] <= SPACE) at++;
  return at >= end;
}
