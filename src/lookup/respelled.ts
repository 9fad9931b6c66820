import { compareRanges, copyRange, LF } from "../bytes/bytes.ts";
import { ownSpelling } from "../surt/spelling.ts";
import { keyEnd, plainKeyEnd, type RowLayout } from "../ukvs/row.ts";

/** A row that belongs elsewhere, since its key is spelt otherwise. */
interface MovedRow {
  readonly key: Uint8Array;
  /** What stands behind the key, with the line end. */
  readonly rest: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A map of the authors' tool with its keys as they are written here, and its rows in their order.
 * Home pages keep their place; few other keys change.
 *
 * Holds a copy of the map. Rows that are not in order stay so.
 */
export function respelled(
  bytes: Uint8Array,
  recordsOffset: number,
  { fields }: RowLayout,
): Uint8Array<ArrayBuffer> {
  const moved: MovedRow[] = [];
  let size = bytes.length + 1;
  for (let at = recordsOffset; at < bytes.length;) {
    const next = lineAfter(bytes, at);
    const own = ownKey(bytes, at, next, fields.queries === true);
    if (own !== undefined) {
      size += own.key.length;
      if (!own.isHome) moved.push({ key: own.key, rest: bytes.slice(own.end, next) });
    }
    at = next;
  }
  moved.sort((a, b) => compareRanges(a.key, 0, a.key.length, b.key, 0, b.key.length));
  const target = new Uint8Array(size);
  let length = copyRange(bytes, 0, recordsOffset, target, 0);
  const put = (source: Uint8Array, start: number, end: number): void => {
    length = copyRange(source, start, end, target, length);
  };
  let count = 0;
  const putMoved = (until: Uint8Array | undefined, start: number, end: number): void => {
    for (; count < moved.length; count++) {
      const { key, rest } = moved[count];
      if (until !== undefined && compareRanges(key, 0, key.length, until, start, end) >= 0) return;
      put(key, 0, key.length);
      put(rest, 0, rest.length);
      // The last line of a map may have no end.
      if (target[length - 1] !== LF) target[length++] = LF;
    }
  };
  for (let at = recordsOffset; at < bytes.length;) {
    const next = lineAfter(bytes, at);
    const own = ownKey(bytes, at, next, fields.queries === true);
    if (own === undefined) {
      putMoved(bytes, at, keyEnd(bytes, at));
      put(bytes, at, next);
    } else if (own.isHome) {
      putMoved(own.key, 0, own.key.length);
      put(own.key, 0, own.key.length);
      put(bytes, own.end, next);
    }
    if (target[length - 1] !== LF) target[length++] = LF;
    at = next;
  }
  putMoved(undefined, 0, 0);
  return target.slice(0, length);
}

function lineAfter(bytes: Uint8Array, at: number): number {
  const end = bytes.indexOf(LF, at);
  return end === -1 ? bytes.length : end + 1;
}

/** The key of the row `bytes[start, next)`, and where it ends, if it is to be written otherwise. */
function ownKey(
  bytes: Uint8Array,
  start: number,
  next: number,
  queries: boolean,
): { readonly key: Uint8Array; readonly end: number; readonly isHome: boolean } | undefined {
  if (plainKeyEnd(bytes, start, next - 1) !== -1) return undefined;
  const end = keyEnd(bytes, start);
  const text = decoder.decode(bytes.subarray(start, end));
  const key = ownSpelling(text, { queries });
  return key === text ? undefined : { key: encoder.encode(key), end, isHome: key === `${text}/` };
}
