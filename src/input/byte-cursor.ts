import { ByteWindow } from "../bytes/byte-window.ts";
import { LF } from "../bytes/bytes.ts";

const MAX_REWIND_BYTES = 1 << 24;

/** A stop in a stream: bytes are missing, or a record begins even if the previous one is incomplete. */
export type Stop = "gap" | "record";

/**
 * Reads a stream of chunks as if it were one array; holds one chunk, the requested bytes, and the
 * bytes since the last mark.
 *
 * A {@link Stop} acts as the end of the stream until {@link passStop} is called.
 */
export class ByteCursor {
  readonly #iterator: AsyncIterator<Uint8Array | Stop>;
  readonly #window = new ByteWindow();
  #offset = 0;
  /** Start of the most recent read. */
  #lastRead = 0;
  #stop: Stop | undefined;
  #mark: number | undefined;

  constructor(chunks: AsyncIterable<Uint8Array | Stop>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** Bytes read or skipped so far. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Reads up to and including the next `byte`; fewer bytes only at the end of the stream, or when
   * `limit` is reached first.
   */
  async readThrough(byte: number, limit: number): Promise<Uint8Array> {
    const from = this.#offset;
    this.#lastRead = from;
    for (let searched = 0; ;) {
      const bytes = this.#window.slice(from, from + limit);
      const found = bytes.indexOf(byte, searched);
      searched = bytes.length;
      if (found === -1 && searched < limit && (await this.#fill())) continue;
      const read = found === -1 ? bytes : bytes.subarray(0, found + 1);
      this.#offset += read.length;
      return read;
    }
  }

  /** Skips bytes; returns how many there were. */
  async skip(count: number): Promise<number> {
    const from = this.#offset;
    const target = from + count;
    this.#lastRead = from;
    while (this.#offset < target && (this.#offset < this.#window.end || (await this.#fill()))) {
      this.#offset = Math.min(target, this.#window.end);
      this.#lastRead = this.#offset;
    }
    return this.#offset - from;
  }

  /** The stop at the current position. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** Continues past the stop. */
  passStop(): void {
    this.#stop = undefined;
  }

  /** Undoes the last read. */
  unread(): void {
    this.#offset = this.#lastRead;
  }

  /** Marks this position for {@link rewind}, which works from up to 16 MiB further on. */
  mark(): void {
    this.#mark = this.#offset;
  }

  /** Returns to the position of the last {@link mark}; false if it is too far back. */
  rewind(): boolean {
    if (this.#mark === undefined) return false;
    this.#offset = this.#mark;
    this.#mark = undefined;
    return true;
  }

  /** Closes the stream. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  /** Reads the next chunk. */
  async #fill(): Promise<boolean> {
    while (this.#stop === undefined) {
      const next = await this.#iterator.next();
      if (next.done === true) return false;
      const { value } = next;
      if (typeof value === "string") {
        this.#stop = value;
      } else if (value.length > 0) {
        const { end } = this.#window;
        if (end - (this.#mark ?? end) > MAX_REWIND_BYTES) this.#mark = undefined;
        this.#window.dropBefore(Math.min(this.#mark ?? this.#lastRead, this.#lastRead));
        this.#window.add(value);
        return true;
      }
    }
    return false;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The first line of a block of header fields, and its fields by name in lower case. */
export interface HeaderBlock {
  readonly firstLine: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the block, with the blank line that ends it. */
  readonly length: number;
  /** Whether the blank line was found. */
  readonly isWhole: boolean;
}

/**
 * Reads a WARC or HTTP header block: a line, fields `name: value`, a blank line.
 *
 * The first of repeated fields wins. Reads at most `limit` bytes.
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
 * The text of a line without its terminator. Bytes that are not UTF-8, such as a URI on a page in
 * another encoding, are percent-encoded, as browsers do in requests.
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
      // A line that begins with a blank continues the previous field.
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

/** The head of a stored HTTP response; absent values are empty. */
interface HttpHead {
  /** Whether there is a response line. */
  readonly isHttp: boolean;
  readonly status: string;
  readonly mime: string;
  /** Bytes read. */
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
