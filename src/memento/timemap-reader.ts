import { AT, BANG, COMMA, isDigit, joinBytes, OPEN_BRACE, SPACE } from "../bytes/bytes.ts";
import { CdxjTimeMapReader, JsonTimeMapReader } from "./json-timemap.ts";
import {
  FedReader,
  type TimeMapLimits,
  type TimeMapReader,
  type TimeMapReading,
} from "./timemap-reading.ts";
import { tryReadDatetime } from "./datetime.ts";
import { LinkScanner, targetText, valueText } from "./links.ts";

export interface TimeMapReaderOptions extends TimeMapLimits {
  /** The Content-Type header. The content takes precedence. */
  readonly contentType?: string | undefined;
  /** The URL of the TimeMap, used to derive the URIs of mementos if the response is an index. */
  readonly url?: string | undefined;
}

/** The input formats of TimeMaps. */
type TimeMapKind = "link" | "json" | "lines";

const LESS = 0x3c;
const MAX_HEAD_BYTES = 512;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Reads a TimeMap of any format: link-format, JSON, or lines of CDXJ or JSON, detected by the first bytes.
 *
 * Invalid content is counted, never thrown. Mementos may come in any order. Holds the mementos, at sixteen bytes
 * plus the
 * URI each, and one link or line.
 */
export function timeMapReader(options: TimeMapReaderOptions = {}): TimeMapReader {
  let reader: TimeMapReader | undefined;
  /** Input received before the format is known, without leading blanks. */
  let pending = new Uint8Array(0);
  return {
    write(chunk) {
      if (reader !== undefined) {
        reader.write(chunk);
        return;
      }
      const joined = pending.length === 0 ? chunk : joinBytes([pending, chunk]);
      const head = joined.subarray(leadingBlanks(joined));
      const kind = kindOf(head, options.contentType);
      // A copy, even of a Buffer, whose `slice` does not copy.
      if (kind === undefined) pending = new Uint8Array(head);
      else (reader = readerOf(kind, options)).write(head);
    },
    end() {
      if (reader !== undefined) return reader.end();
      const last = readerOf(pending.length === 0 ? "link" : "json", options);
      last.write(pending);
      return last.end();
    },
  };
}

function readerOf(kind: TimeMapKind, options: TimeMapReaderOptions): TimeMapReader {
  switch (kind) {
    case "link":
      return new LinkTimeMapReader(options);
    case "json":
      return new JsonTimeMapReader(options);
    case "lines":
      return new CdxjTimeMapReader(replayPrefix(options.url ?? ""), options);
  }
}

/** Detects the format by the first bytes; undefined if there are too few. */
function kindOf(head: Uint8Array, contentType: string | undefined): TimeMapKind | undefined {
  if (head.length === 0) return undefined;
  const first = head[0];
  if (first === LESS || first === COMMA) return "link";
  if (first === OPEN_BRACE) {
    const text = new TextDecoder("latin1").decode(head.subarray(0, MAX_HEAD_BYTES));
    const name = /^\{\s*"([^"]*)"/.exec(text)?.[1];
    if (name !== undefined) return /^(?:urlkey|timestamp|url)$/.test(name) ? "lines" : "json";
    return head.length < MAX_HEAD_BYTES ? undefined : "json";
  }
  if (first === BANG || first === AT || isDigit(first)) return "lines";
  const type = mediaType(contentType ?? "");
  if (type.endsWith("link-format")) return "link";
  return type.endsWith("/json") ? "json" : "lines";
}

/** The number of leading blanks and bytes of a byte order mark. */
function leadingBlanks(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] <= SPACE || BYTE_ORDER_MARK.includes(bytes[at]))) at++;
  return at;
}

/** `https://archive.example/web/timemap/cdxj/http://a.example/` → `https://archive.example/web/`. */
function replayPrefix(timeMapUrl: string): string | undefined {
  return /^(.*?\/)timemap\/[a-z]+\//.exec(timeMapUrl)?.[1];
}

/** A word in lower-case ASCII letters. */
type Word = Uint8Array;

const ENCODER = new TextEncoder();
/** Relations are separated by blanks and control characters. */
const BLANKS = /[\0-\u0020]+/;
const REL: Word = ENCODER.encode("rel");
const DATETIME: Word = ENCODER.encode("datetime");
const FROM: Word = ENCODER.encode("from");
const UNTIL: Word = ENCODER.encode("until");
const TYPE: Word = ENCODER.encode("type");
const MEMENTO: Word = ENCODER.encode("memento");

/** Relations to TimeMaps; the first match is used. */
const PAGE_RELATIONS = ["self", "next", "prev", "timemap"] as const;

/**
 * Reads a TimeMap in link-format (RFC 7089, RFC 8288), or the links of a `Link` header.
 *
 * Links with other relations are skipped. A memento without a datetime and a link without a relation are faults.
 * Links
 * may come in any order. Holds the mementos and one link.
 */
class LinkTimeMapReader extends FedReader {
  readonly #scanner = new LinkScanner();

  protected override scan(bytes: Uint8Array, end: number, isLast: boolean): number {
    const scanner = this.#scanner;
    let at = 0;
    for (;;) {
      const faults = scanner.faults;
      const behind = scanner.next(bytes, at, end, isLast);
      this.checkLength(scanner.longestFault);
      for (let i = faults; i < scanner.faults; i++) {
        this.draft.addFault(bytes, scanner.faultStart, end);
      }
      if (behind === -1) return scanner.resumeAt;
      this.checkLength(behind - scanner.resumeAt);
      this.#take(bytes, scanner.resumeAt, behind);
      at = behind;
    }
  }

  #take(bytes: Uint8Array, start: number, end: number): void {
    const scanner = this.#scanner;
    const rel = parameterNamed(scanner, bytes, REL);
    if (rel === -1) {
      this.draft.addFault(bytes, start, end);
      return;
    }
    // Most links have `memento` as their only relation.
    const isPlain = isWord(bytes, scanner.valueStart(rel), scanner.valueEnd(rel), MEMENTO);
    const rels = isPlain ? [] : this.#text(bytes, rel).toLowerCase().split(BLANKS);
    const isMemento = isPlain || rels.includes("memento");
    if (isMemento) {
      const datetime = this.#datetime(bytes, DATETIME);
      if (datetime === undefined) this.draft.addFault(bytes, start, end);
      else this.draft.addBytes(bytes, scanner.targetStart, scanner.targetEnd, datetime);
    }
    if (!isPlain) this.#takeOther(bytes, rels, isMemento);
  }

  /** Reads the less common links. */
  #takeOther(bytes: Uint8Array, rels: readonly string[], isMemento: boolean): void {
    const draft = this.draft;
    const { targetStart, targetEnd } = this.#scanner;
    const uri = targetText(bytes, targetStart, targetEnd);
    if (rels.includes("original")) draft.takeOriginal(uri);
    if (rels.includes("timegate")) draft.timegate ??= uri;
    // For mementos, next and prev refer to mementos.
    const rel = isMemento ? undefined : PAGE_RELATIONS.find((each) => rels.includes(each));
    if (rel === undefined) return;
    const type = parameterNamed(this.#scanner, bytes, TYPE);
    draft.pages.push({
      uri,
      rel,
      type: type === -1 ? undefined : mediaType(this.#text(bytes, type)),
      from: this.#datetime(bytes, FROM),
      until: this.#datetime(bytes, UNTIL),
    });
  }

  #text(bytes: Uint8Array, parameter: number): string {
    return valueText(bytes, this.#scanner.valueStart(parameter), this.#scanner.valueEnd(parameter));
  }

  #datetime(bytes: Uint8Array, name: Word): number | undefined {
    const scanner = this.#scanner;
    const parameter = parameterNamed(scanner, bytes, name);
    if (parameter === -1) return undefined;
    return tryReadDatetime(bytes, scanner.valueStart(parameter), scanner.valueEnd(parameter));
  }
}

/** The media type without its parameters, in lower case. */
function mediaType(text: string): string {
  const [type = ""] = text.split(";", 1);
  return type.trim().toLowerCase();
}

/** The first parameter of this name, or -1. */
function parameterNamed(scanner: LinkScanner, bytes: Uint8Array, name: Word): number {
  for (let i = 0; i < scanner.parameterCount; i++) {
    if (isWord(bytes, scanner.nameStart(i), scanner.nameEnd(i), name)) return i;
  }
  return -1;
}

/** Whether the bytes equal this word, ignoring case. */
function isWord(bytes: Uint8Array, start: number, end: number, word: Word): boolean {
  const length = word.length;
  if (end - start !== length) return false;
  for (let i = 0; i < length; i++) if ((bytes[start + i] | 0x20) !== word[i]) return false;
  return true;
}

/** Reads the `Link` headers of a TimeGate response or a page. */
export function readLinks(header: string, limits?: TimeMapLimits): TimeMapReading {
  const reader = new LinkTimeMapReader(limits);
  reader.write(ENCODER.encode(header));
  return reader.end();
}
