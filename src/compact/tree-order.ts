import {
  CLOSE_PAREN,
  compareRanges,
  copyRange,
  joinBytes,
  LF,
  QUESTION,
  SLASH,
  withRoom,
} from "../bytes/bytes.ts";
import type { SpillStore } from "../files/scratch.ts";
import { columnEnd } from "../ukvs/record.ts";
import type { Fields } from "../ukvs/header.ts";
import { Compactor, type CompactorOptions } from "./compactor.ts";
import { CurrentKey, QUERY_MARK, rejectOrder } from "../ukvs/key-tree.ts";
import type { MapRow, RowSink } from "./map-lines.ts";
import type { WriteText } from "./pending-text.ts";
import type { RollUpPolicy } from "./weight-policy.ts";

/**
 * The offset of the query of a key, after the first `?` of its path, or -1. Keys without a host are outside
 * the tree and have no query here.
 */
export function queryMarkAt(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && !(bytes[at] === CLOSE_PAREN && bytes[at + 1] === SLASH)) at++;
  while (at < end && bytes[at] !== QUESTION) at++;
  return at < end ? at : -1;
}

/**
 * Sorts the rows of a map with queries into the order of the key tree, in which the queries of a page
 * immediately follow it.
 *
 * In byte order they follow everything below the page: `/a`, `/a-b`, `/a/b`, `/a0`, `/a?x`. Here the `?`
 * is replaced by a byte below all others, `QUERY_MARK`. Holds the rows of a host whose paths begin with
 * the same letters, or those whose paths begin with a digit or a sign.
 */
export class TreeOrder implements RowSink {
  readonly #sink: RowSink;
  readonly #fields: Fields;
  readonly #key = new CurrentKey();
  /** The buffered rows, and the bytes used by them. */
  #held: Omit<MapRow, "bytes">[] = [];
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 16);
  #length = 0;
  #hasQueries = false;
  /** Length of the key prefix shared by all buffered rows. */
  #topEnd = 0;

  constructor(sink: RowSink, fields: Fields) {
    this.#sink = sink;
    this.#fields = fields;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    const key = this.#key;
    const order = key.compare(bytes, start, keyEnd);
    if (order < 0 || (order === 0 && this.#fields.keys.length === 1)) {
      rejectOrder(order, bytes.subarray(start, keyEnd), key.text());
    }
    const isBelow = key.shared >= this.#topEnd;
    if (this.#held.length > 0 && !(isBelow && mayFollow(bytes, start + this.#topEnd, keyEnd))) {
      this.#feed();
    }
    key.set(bytes, start, keyEnd);
    if (this.#held.length === 0) this.#topEnd = topEnd(bytes, start, keyEnd) - start;
    this.#hold(row);
  }

  /** Feeds the buffered rows. Call this after the last row. */
  end(): void {
    this.#feed();
  }

  /** Buffers a copy of a row, and marks its query. */
  #hold(row: MapRow): void {
    const { bytes, start } = row;
    const end = Math.max(row.lineEnd, row.frequencyEnd);
    const at = this.#length;
    const moved = at - start;
    this.#bytes = withRoom(this.#bytes, at + end - start);
    this.#length = copyRange(bytes, start, end, this.#bytes, at);
    const keyEnd = row.keyEnd + moved;
    const mark = queryMarkAt(this.#bytes, at, keyEnd);
    if (mark !== -1) {
      this.#bytes[mark] = QUERY_MARK;
      this.#hasQueries = true;
    }
    this.#held.push({
      start: at,
      keyEnd,
      lineEnd: row.lineEnd + moved,
      shared: -1,
      count: 0,
      tupleEnd: row.tupleEnd + moved,
      frequencyStart: row.frequencyStart + moved,
      frequencyEnd: row.frequencyEnd + moved,
      parts: row.parts,
    });
  }

  #feed(): void {
    const rows = this.#held;
    const bytes = this.#bytes;
    this.#held = [];
    this.#length = 0;
    if (this.#hasQueries) {
      rows.sort((a, b) => compareRanges(bytes, a.start, a.keyEnd, bytes, b.start, b.keyEnd));
    }
    this.#hasQueries = false;
    for (const row of rows) this.#sink.add({ bytes, ...row });
  }
}

/** Whether a key that continues like this at `at` may precede queries of the buffered page in byte order. */
function mayFollow(bytes: Uint8Array, at: number, end: number): boolean {
  return at >= end || bytes[at] <= QUESTION;
}

/** The end of the shortest page whose queries follow a key in byte order: `/a` for `/a-b/c`. */
function topEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && !(bytes[at] === CLOSE_PAREN && bytes[at + 1] === SLASH)) at++;
  at = Math.min(at + 2, end);
  while (at < end && bytes[at] > QUESTION) at++;
  return at;
}

/** Lines of the queries of a page, waiting for their place. */
interface WaitingLines {
  readonly page: Uint8Array;
  readonly lines: Uint8Array[];
}

const FLUSH_BYTES = 1 << 16;

/**
 * Sorts lines from the order of the key tree back into byte order.
 *
 * Holds the queries of pages while lines below these pages may follow.
 */
class ByteOrder {
  readonly #write: WriteText;
  /** Outermost page first; the queries of the last page are written first. */
  readonly #waiting: WaitingLines[] = [];
  #ready: Uint8Array[] = [];
  #readyBytes = 0;
  /** The beginning of an incomplete line. */
  #cut: Uint8Array = new Uint8Array(0);

  constructor(write: WriteText) {
    this.#write = write;
  }

  /** Adds text, which may end within a line. */
  take(text: Uint8Array): void {
    const bytes = this.#cut.length === 0 ? text : joinBytes([this.#cut, text]);
    let at = 0;
    for (let feed = bytes.indexOf(LF); feed !== -1; feed = bytes.indexOf(LF, at)) {
      this.#takeLine(bytes.slice(at, feed + 1));
      at = feed + 1;
    }
    this.#cut = bytes.slice(at);
  }

  /** Writes the remaining lines. */
  end(): void {
    while (this.#waiting.length > 0) this.#giveLast();
    this.#flush();
  }

  #takeLine(line: Uint8Array): void {
    const mark = line.indexOf(QUERY_MARK);
    const keyEnd = columnEnd(line, 0, line.length);
    const isQuery = mark !== -1 && mark < keyEnd;
    const pageEnd = isQuery ? mark : keyEnd;
    for (;;) {
      const last = this.#waiting.at(-1);
      if (last === undefined || isBeforeQueries(line, pageEnd, last.page)) break;
      if (isQuery && isSame(line, pageEnd, last.page)) break;
      this.#giveLast();
    }
    if (!isQuery) {
      this.#give(line);
      return;
    }
    line[mark] = QUESTION;
    const last = this.#waiting.at(-1);
    if (last !== undefined && isSame(line, pageEnd, last.page)) last.lines.push(line);
    else this.#waiting.push({ page: line.slice(0, pageEnd), lines: [line] });
  }

  #giveLast(): void {
    for (const line of this.#waiting.pop()?.lines ?? []) this.#give(line);
  }

  #give(line: Uint8Array): void {
    this.#ready.push(line);
    this.#readyBytes += line.length;
    if (this.#readyBytes >= FLUSH_BYTES) this.#flush();
  }

  #flush(): void {
    if (this.#readyBytes > 0) this.#write(joinBytes(this.#ready));
    this.#ready = [];
    this.#readyBytes = 0;
  }
}

/** Whether the key `line[0, end)` sorts before the queries of a page: it continues with a lower byte. */
function isBeforeQueries(line: Uint8Array, end: number, page: Uint8Array): boolean {
  if (end <= page.length) return false;
  for (let i = 0; i < page.length; i++) if (line[i] !== page[i]) return false;
  return line[page.length] < QUESTION;
}

function isSame(line: Uint8Array, end: number, page: Uint8Array): boolean {
  return end === page.length && compareRanges(line, 0, end, page, 0, end) === 0;
}

/** A compactor of the rows of a map. */
export interface RowCompactor extends RowSink {
  /** Roll-ups written, or replaced by a larger one. */
  readonly rollUps: number;
  /** Releases all output. */
  end(): void;
}

/** A compactor for rows in byte order, with queries or without. */
export function openCompactor(
  policy: RollUpPolicy,
  write: WriteText,
  options: CompactorOptions & { readonly fields: Fields; readonly spill?: SpillStore | undefined },
): RowCompactor {
  if (options.fields.queries !== true) return new Compactor(policy, write, options);
  const output = new ByteOrder(write);
  const compactor = new Compactor(policy, (text) => output.take(text), options);
  const rows = new TreeOrder(compactor, options.fields);
  return {
    get rollUps() {
      return compactor.rollUps;
    },
    add: (row) => rows.add(row),
    end() {
      rows.end();
      compactor.end();
      output.end();
    },
  };
}
