import { AT, BANG, COMMA, isDigit, OPEN_BRACE, SPACE } from "../bytes/ascii.ts";
import { joinBytes } from "../bytes/join.ts";
import { CdxjTimeMapReader } from "./cdxj-timemap.ts";
import { JsonTimeMapReader } from "./json-timemap.ts";
import { LinkTimeMapReader, mediaType } from "./link-timemap.ts";
import type { TimeMapLimits, TimeMapReader, TimeMapReading } from "./timemap-reading.ts";

export interface TimeMapReaderOptions extends TimeMapLimits {
  /** The header of that name. The content is believed before it. */
  readonly contentType?: string | undefined;
  /** Where the TimeMap comes from; tells where an archive whose answer is an index has mementos. */
  readonly url?: string | undefined;
}

/** The formats of TimeMaps that can be read. */
type TimeMapKind = "link" | "json" | "lines";

const LESS = 0x3c;
const MAX_HEAD_BYTES = 512;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Reads a TimeMap of any format: link-format, JSON, or lines of CDXJ or JSON, told apart by their
 * first bytes.
 *
 * Garbage is counted, never thrown. Needs no order; holds the mementos, at sixteen bytes and their
 * URI each, and one link or line.
 */
export function timeMapReader(options: TimeMapReaderOptions = {}): TimeMapReader {
  return new SniffingReader(options);
}

class SniffingReader implements TimeMapReader {
  readonly #options: TimeMapReaderOptions;
  #reader: TimeMapReader | undefined;
  /** What came before the format was known, without leading blanks. */
  #head = new Uint8Array(0);

  constructor(options: TimeMapReaderOptions) {
    this.#options = options;
  }

  write(chunk: Uint8Array): void {
    if (this.#reader !== undefined) {
      this.#reader.write(chunk);
      return;
    }
    const joined = this.#head.length === 0 ? chunk : joinBytes([this.#head, chunk]);
    const head = joined.subarray(leadingBlanks(joined));
    const kind = kindOf(head, this.#options.contentType);
    // A copy, also of a Buffer, whose `slice` makes none.
    if (kind === undefined) this.#head = new Uint8Array(head);
    else this.#start(kind, head);
  }

  end(): TimeMapReading {
    const reader =
      this.#reader ?? this.#start(this.#head.length === 0 ? "link" : "json", this.#head);
    return reader.end();
  }

  #start(kind: TimeMapKind, head: Uint8Array): TimeMapReader {
    const reader = readerOf(kind, this.#options);
    this.#reader = reader;
    reader.write(head);
    return reader;
  }
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

/** The format that these first bytes begin; `undefined` while they are too few to tell. */
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

/** The number of blanks, and of bytes of a byte order mark, that a TimeMap begins with. */
function leadingBlanks(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] <= SPACE || BYTE_ORDER_MARK.includes(bytes[at]))) at++;
  return at;
}

/** `https://archive.example/web/` of `https://archive.example/web/timemap/cdxj/http://a.example/`. */
function replayPrefix(timeMapUrl: string): string | undefined {
  return /^(.*?\/)timemap\/[a-z]+\//.exec(timeMapUrl)?.[1];
}
