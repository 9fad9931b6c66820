import { QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { frequencyCount, frequencyIsZero } from "../../ukvs/frequency.ts";
import { KEY_KIND, type KeyKind, keyShape } from "../compact/key-tree.ts";
import type { MapRow } from "../compact/map-lines.ts";

/** What a packed map needs to know of a key. */
export interface NameShape {
  readonly kind: KeyKind;
  /** The end of the name of its host: behind the parenthesis, or all of `com,cnn,*`; 0 for opaque keys. */
  readonly hostEnd: number;
  /** Segments of the path, or of the folder before `/*`. */
  readonly depth: number;
  /** The `?`, or the end. */
  readonly pageEnd: number;
}

/** Takes a key apart. */
function nameShape(key: Uint8Array): NameShape {
  const { length } = key;
  const { kind, hostEnd } = keyShape(key, length);
  if (kind === KEY_KIND.opaque) return { kind, hostEnd: 0, depth: 1, pageEnd: length };
  if (kind === KEY_KIND.hostWildcard) return { kind, hostEnd: length, depth: 0, pageEnd: length };
  let [depth, pageEnd] = [0, length];
  for (let at = hostEnd + 1; at < pageEnd; at++) {
    if (key[at] === SLASH) depth++;
    else if (key[at] === QUESTION) pageEnd = at;
  }
  // A home page has a slash and no segment, and the last slash of a wildcard leads to none.
  if (kind === KEY_KIND.pathWildcard || pageEnd - hostEnd <= 2) depth = Math.max(0, depth - 1);
  return { kind, hostEnd: hostEnd + 1, depth, pageEnd };
}

/** Which rows of a map are packed. */
export interface RowKinds {
  /** Whether pages have their queries. */
  readonly queries: boolean;
  /** Whether voids are packed; leaving them out only makes mistakes of the kind that is allowed. */
  readonly keepsVoids: boolean;
}

/** A row that is packed. */
export interface RowName {
  readonly key: Uint8Array;
  readonly shape: NameShape;
  /** 0 for a void. */
  readonly captures: number;
}

/** What of a row is packed; undefined for one that is left out. */
export function rowName(row: MapRow, { queries, keepsVoids }: RowKinds): RowName | undefined {
  const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
  if (keyEnd - start === 1 && bytes[start] === STAR) return undefined;
  const key = bytes.subarray(start, keyEnd);
  const shape = nameShape(key);
  if (!frequencyIsZero(bytes, frequencyStart, frequencyEnd)) {
    const captures = Math.max(1, frequencyCount(bytes, frequencyStart, frequencyEnd));
    return { key, shape, captures };
  }
  // A void of a part of time says nothing of the rest, and one of a query nothing of the page.
  const isOfPart = row.moreKeysEnd > row.moreKeysStart || (!queries && shape.pageEnd < key.length);
  return keepsVoids && !isOfPart ? { key, shape, captures: 0 } : undefined;
}
