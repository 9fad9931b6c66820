const AMPERSAND = 0x26;
const EQUALS = 0x3d;

const MAX_PARAMETERS = 64;
const MAX_LENGTH = 4096;

// Scratch space of one call at a time. Parameter i ends before the byte at `starts[i + 1] - 1`.
const starts = new Int32Array(MAX_PARAMETERS + 1);
const order = new Int32Array(MAX_PARAMETERS);
const copy = new Uint8Array(MAX_LENGTH);

/**
 * Sorts the parameters of the canonical query in `bytes[start..end)` in place, in the order of
 * `sortQuery`. Returns false, with the bytes untouched, for a query that may hold a session id, or
 * has more parameters or bytes than the scratch space.
 */
export function sortQueryBytes(bytes: Uint8Array, start: number, end: number): boolean {
  let count = 0;
  starts[0] = start;
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte === AMPERSAND) {
      if (++count === MAX_PARAMETERS) return false;
      starts[count] = i + 1;
    } else if (byte === EQUALS && mayEndSessionName(bytes, i)) {
      return false;
    }
  }
  starts[++count] = end + 1;
  if (isSorted(bytes, count)) return true;
  if (end - start > MAX_LENGTH) return false;

  for (let i = 0; i < count; i++) {
    let j = i;
    for (; j > 0 && compareParameters(bytes, order[j - 1], i) > 0; j--) {
      order[j] = order[j - 1];
    }
    order[j] = i;
  }
  for (let i = start; i < end; i++) copy[i - start] = bytes[i];
  let to = start;
  for (let i = 0; i < count; i++) {
    if (i > 0) bytes[to++] = AMPERSAND;
    const parameter = order[i];
    const last = starts[parameter + 1] - 1 - start;
    for (let from = starts[parameter] - start; from < last; from++) {
      bytes[to++] = copy[from];
    }
  }
  return true;
}

/** Whether the name before an `=` can end in `sid`, `cfid`, `sessionid` or `sessionidabcdefgh`. */
function mayEndSessionName(bytes: Uint8Array, equals: number): boolean {
  if (bytes[equals - 1] === 0x64 && bytes[equals - 2] === 0x69) {
    const before = bytes[equals - 3];
    if (before === 0x73 || before === 0x66) return true;
    if (before === 0x6e && bytes[equals - 4] === 0x6f) return true;
  }
  return bytes[equals - 9] === 0x64 && bytes[equals - 10] === 0x69 && bytes[equals - 11] === 0x6e;
}

function isSorted(bytes: Uint8Array, count: number): boolean {
  for (let i = 1; i < count; i++) if (compareParameters(bytes, i - 1, i) > 0) return false;
  return true;
}

function compareParameters(bytes: Uint8Array, a: number, b: number): number {
  const endA = starts[a + 1] - 1;
  const endB = starts[b + 1] - 1;
  let i = starts[a];
  let j = starts[b];
  // The end of a name comes before every byte of a longer one, and before its own `=`.
  for (let equalsRank = 0; ; i++, j++) {
    const rankA = i === endA ? -1 : rank(bytes[i], equalsRank);
    const rankB = j === endB ? -1 : rank(bytes[j], equalsRank);
    if (rankA !== rankB) return rankA - rankB;
    if (rankA === -1) return 0;
    if (rankA === 0) equalsRank = EQUALS;
  }
}

function rank(byte: number, equalsRank: number): number {
  return byte === EQUALS ? equalsRank : byte;
}
