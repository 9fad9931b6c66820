import { joinBytes, LF } from "../bytes/bytes.ts";

const MAX_KEPT_BYTES = 1 << 24;
/** Released chunks are removed from the lists this many at a time. */
const FORGOTTEN_AT_ONCE = 64;

/** What ends a stream until it is passed: bytes are missing, or a record begins whatever came before. */
export type Stop = "gap" | "record";

/**
 * Walks over a stream of chunks as if it were one array; holds one chunk, what was asked for, and
 * what is kept to go back to. Going back and forth over that costs the same however much it is.
 *
 * A {@link Stop} is an end of the stream until it is passed.
 */
export class ByteCursor {
  readonly #iterator: AsyncIterator<Uint8Array | Stop>;
  /** The chunks that are held, from `#first` on, and where each begins. */
  readonly #chunks: Uint8Array[] = [];
  readonly #starts: number[] = [];
  #first = 0;
  /** The chunk that the next byte is in, if it is held. */
  #current = 0;
  #offset = 0;
  /** Behind the last chunk. */
  #end = 0;
  /** Where the bytes begin that were read last. */
  #lastRead = 0;
  #stop: Stop | undefined;
  #keptFrom: number | undefined;

  constructor(chunks: AsyncIterable<Uint8Array | Stop>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** Bytes read or skipped so far. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Reads up to and including the next `byte`; fewer bytes only at the end of the stream, or when
   * `limit` is reached first. Valid until the next call.
   */
  async readThrough(byte: number, limit: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let room = limit;
    this.#lastRead = this.#offset;
    while (room > 0 && (this.#offset < this.#end || (await this.#fill()))) {
      const at = this.#offset - this.#starts[this.#current];
      const window = this.#chunks[this.#current].subarray(at, at + room);
      const found = window.indexOf(byte);
      const part = found === -1 ? window : window.subarray(0, found + 1);
      parts.push(part);
      room -= part.length;
      this.#goTo(this.#offset + part.length);
      if (found !== -1) break;
    }
    return parts.length === 1 ? parts[0] : joinBytes(parts);
  }

  /** Skips bytes; returns how many there were. */
  async skip(count: number): Promise<number> {
    const from = this.#offset;
    const target = from + count;
    this.#lastRead = from;
    while (this.#offset < target && (this.#offset < this.#end || (await this.#fill()))) {
      this.#goTo(Math.min(target, this.#end));
      this.#lastRead = this.#offset;
    }
    return this.#offset - from;
  }

  /** What ends the stream here. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** Goes on behind the stop. */
  passStop(): void {
    this.#stop = undefined;
  }

  /** Takes back the bytes that were read last. */
  unread(): void {
    this.#goTo(this.#lastRead);
  }

  /** Makes it possible to go {@link back} here from up to 16 MiB further on. */
  keep(): void {
    this.#keptFrom = this.#offset;
  }

  /** Goes back to where {@link keep} was called; returns whether that was possible. */
  back(): boolean {
    if (this.#keptFrom === undefined) return false;
    this.#goTo(this.#keptFrom);
    this.#keptFrom = undefined;
    return true;
  }

  /** Closes the stream. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  /** Goes to an offset that is held, or behind it. */
  #goTo(offset: number): void {
    this.#offset = offset;
    const { [this.#current]: start } = this.#starts;
    if (offset >= start && offset < start + this.#chunks[this.#current].length) return;
    // The last chunk that begins at or before the offset.
    let low = this.#first;
    let high = this.#chunks.length;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle] <= offset) low = middle;
      else high = middle;
    }
    this.#current = low;
  }

  /** Reads the next chunk, when all that is held has been read. */
  async #fill(): Promise<boolean> {
    while (this.#stop === undefined) {
      const next = await this.#iterator.next();
      if (next.done === true) return false;
      const { value } = next;
      if (typeof value === "string") this.#stop = value;
      else if (value.length > 0) return this.#hold(value);
    }
    return false;
  }

  #hold(chunk: Uint8Array): true {
    this.#release();
    this.#chunks.push(chunk);
    this.#starts.push(this.#end);
    this.#end += chunk.length;
    this.#current = this.#chunks.length - 1;
    return true;
  }

  #release(): void {
    if (this.#keptFrom !== undefined && this.#end - this.#keptFrom > MAX_KEPT_BYTES) {
      this.#keptFrom = undefined;
    }
    const needed = Math.min(this.#keptFrom ?? this.#lastRead, this.#lastRead);
    while (
      this.#first < this.#chunks.length &&
      this.#starts[this.#first] + this.#chunks[this.#first].length <= needed
    ) {
      this.#chunks[this.#first++] = EMPTY;
    }
    if (this.#first < FORGOTTEN_AT_ONCE || this.#first * 2 < this.#chunks.length) return;
    this.#chunks.splice(0, this.#first);
    this.#starts.splice(0, this.#first);
    this.#first = 0;
  }
}

const EMPTY: Uint8Array = new Uint8Array(0);

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The first line of a block of header fields, and its fields by name in lower case. */
export interface HeaderBlock {
  readonly firstLine: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the block, with the blank line that ends it. */
  readonly length: number;
  /** Whether the blank line was there. */
  readonly isWhole: boolean;
}

/**
 * Reads a block as WARC and HTTP have it: a line, fields `name: value`, a blank line.
 *
 * Of a field that is repeated the first counts. Reads at most `limit` bytes.
 */
export async function readHeaderBlock(cursor: ByteCursor, limit: number): Promise<HeaderBlock> {
  const lines: string[] = [];
  let length = 0;
  while (length < limit) {
    const bytes = await cursor.readThrough(LF, limit - length);
    length += bytes.length;
    if (bytes.at(-1) !== LF) break;
    const line = headerLine(bytes);
    if (line === "") return { ...headerFields(lines), length, isWhole: true };
    lines.push(line);
  }
  return { ...headerFields(lines), length, isWhole: false };
}

/**
 * The text of a line without its end. Bytes that are not UTF-8, such as those of a URI that a page of
 * another encoding links to, are percent-encoded, which is what a browser that asks for it sends.
 */
export function headerLine(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    text = Array.from(bytes, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`,
    ).join("");
  }
  return text.replace(/\r?\n$/, "");
}

function headerFields(lines: readonly string[]): Pick<HeaderBlock, "firstLine" | "fields"> {
  const [firstLine = "", ...rest] = lines;
  const fields = new Map<string, string>();
  let name = "";
  for (const line of rest) {
    if (/^[ \t]/.test(line)) {
      // A line that begins with a blank goes on with the field before it.
      fields.set(name, `${fields.get(name) ?? ""} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    name = line.slice(0, colon === -1 ? line.length : colon).toLowerCase();
    if (colon !== -1 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return { firstLine, fields };
}

const MAX_HTTP_HEADER_BYTES = 1 << 18;

/** What the head of a stored HTTP response says; an empty text stands for nothing. */
interface HttpHead {
  /** Whether there is a response line. */
  readonly isHttp: boolean;
  readonly status: string;
  readonly mime: string;
  /** Bytes that were read. */
  readonly length: number;
}

/** Reads the head of a response that is `length` bytes long; at most 256 KiB of it. */
export async function readHttpHead(cursor: ByteCursor, length: number): Promise<HttpHead> {
  const block = await readHeaderBlock(cursor, Math.min(length, MAX_HTTP_HEADER_BYTES));
  return {
    isHttp: /^(?:HTTP|ICY)\b/i.test(block.firstLine),
    status: /^\S+\s+(\d{3})\b/.exec(block.firstLine)?.[1] ?? "",
    mime: mediaType(block.fields.get("content-type")),
    length: block.length,
  };
}

/** `text/html; charset=utf-8` → `text/html`. */
export function mediaType(field: string | undefined): string {
  return (field ?? "").split(/[;\s]/, 1)[0].toLowerCase();
}
