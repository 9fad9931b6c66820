import { compareBytes, copyRange, LF } from "../bytes/bytes.ts";
import { ownSpelling } from "../surt/spelling.ts";
import { keyEnd as keyEndAt, plainKeyEnd, type RowLayout } from "../ukvs/row.ts";

/** A line of a map: its key in canonical spelling, and the rest of the line, `bytes[keyEnd, next)`. */
interface Line {
  readonly key: Uint8Array;
  readonly keyEnd: number;
  readonly next: number;
  /** Whether the key differs from the map. */
  readonly isRespelled: boolean;
  /** Whether the row must move to stay sorted; home pages keep their place. */
  readonly isMoved: boolean;
}

const encoder = new TextEncoder();
// A byte order mark that begins a key belongs to it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Converts a map written by the authors' tool: keys in canonical spelling, rows sorted by them. Mostly
 * keys of home pages change.
 *
 * Holds a copy of the map. Unsorted rows stay unsorted.
 */
export function respelled(
  bytes: Uint8Array,
  recordsOffset: number,
  { fields }: RowLayout,
): Uint8Array<ArrayBuffer> {
  const hasQueries = fields.queries === true;
  const moved: Line[] = [];
  let size = bytes.length + 1;
  for (const line of linesOf(bytes, recordsOffset, hasQueries)) {
    if (line.isRespelled) size += line.key.length;
    if (line.isMoved) moved.push(line);
  }
  moved.sort((a, b) => compareBytes(a.key, b.key));
  const target = new Uint8Array(size);
  let length = copyRange(bytes, 0, recordsOffset, target, 0);
  const put = ({ key, keyEnd, next }: Line): void => {
    length = copyRange(key, 0, key.length, target, length);
    length = copyRange(bytes, keyEnd, next, target, length);
    // The last line may lack a line feed.
    if (target[length - 1] !== LF) target[length++] = LF;
  };
  let count = 0;
  for (const line of linesOf(bytes, recordsOffset, hasQueries)) {
    if (line.isMoved) continue;
    while (count < moved.length && compareBytes(moved[count].key, line.key) < 0)
      put(moved[count++]);
    put(line);
  }
  while (count < moved.length) put(moved[count++]);
  return target.slice(0, length);
}

function* linesOf(
  bytes: Uint8Array,
  start: number,
  queries: boolean,
): Generator<Line, void, undefined> {
  for (let at = start, next = start; at < bytes.length; at = next) {
    const lineFeed = bytes.indexOf(LF, at);
    next = lineFeed === -1 ? bytes.length : lineFeed + 1;
    const isPlain = plainKeyEnd(bytes, at, next - 1) !== -1;
    const keyEnd = keyEndAt(bytes, at);
    const written = bytes.subarray(at, keyEnd);
    const text = isPlain ? "" : decoder.decode(written);
    const own = isPlain ? "" : ownSpelling(text, { queries });
    const isRespelled = own !== text;
    const key = isRespelled ? encoder.encode(own) : written;
    yield { key, keyEnd, next, isRespelled, isMoved: isRespelled && own !== `${text}/` };
  }
}
