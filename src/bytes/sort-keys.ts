/** Ranges at most this long are sorted by insertion. */
const INSERTION_LIMIT = 12;

/**
 * Sorts key ids by the bytes of their keys, in place.
 *
 * Key `id` is `arena[starts[id], starts[id + 1])` and must not contain a zero byte. This is a
 * caching multikey quicksort (Bentley & Sedgewick; Ng & Kakehi): it compares four bytes at a time
 * and skips prefixes that a group of keys is known to share, which suits SURTs with their long
 * prefixes. Holds four bytes per id in addition to the ids.
 */
export function sortKeys(ids: Uint32Array, arena: Uint8Array, starts: Uint32Array): void {
  const words = new Uint32Array(ids.length);
  fillWords(words, ids, 0, ids.length, 0, arena, starts);
  const stack: number[] = [0, ids.length, 0];
  while (stack.length > 0) {
    const depth = stack.pop() as number; // pushed in threes
    const high = stack.pop() as number;
    const low = stack.pop() as number;
    const size = high - low;
    if (size < 2) continue;
    if (size <= INSERTION_LIMIT) {
      insertionSort(ids, words, low, high, depth, arena, starts);
      continue;
    }
    const pivot = medianOfThree(words[low], words[low + (size >> 1)], words[high - 1]);
    let less = low;
    let greater = high;
    let i = low;
    while (i < greater) {
      const word = words[i];
      if (word < pivot) {
        swap(ids, words, i++, less++);
      } else if (word > pivot) {
        swap(ids, words, i, --greater);
      } else {
        i++;
      }
    }
    stack.push(low, less, depth, greater, high, depth);
    // A zero low byte means that these keys have ended: they are equal.
    if ((pivot & 0xff) !== 0 && greater - less > 1) {
      fillWords(words, ids, less, greater, depth + 4, arena, starts);
      stack.push(less, greater, depth + 4);
    }
  }
}

/** The four bytes of a key at `depth`, big-endian, padded with zeros. */
function wordAt(arena: Uint8Array, at: number, end: number): number {
  if (at + 4 <= end) {
    return ((arena[at] << 24) | (arena[at + 1] << 16) | (arena[at + 2] << 8) | arena[at + 3]) >>> 0;
  }
  let word = 0;
  for (let i = 0; i < 4; i++) word = (word << 8) | (at + i < end ? arena[at + i] : 0);
  return word >>> 0;
}

function fillWords(
  words: Uint32Array,
  ids: Uint32Array,
  low: number,
  high: number,
  depth: number,
  arena: Uint8Array,
  starts: Uint32Array,
): void {
  for (let i = low; i < high; i++) {
    const id = ids[i];
    words[i] = wordAt(arena, starts[id] + depth, starts[id + 1]);
  }
}

function medianOfThree(a: number, b: number, c: number): number {
  if (a < b) return b < c ? b : a < c ? c : a;
  return a < c ? a : b < c ? c : b;
}

function swap(ids: Uint32Array, words: Uint32Array, a: number, b: number): void {
  const id = ids[a];
  ids[a] = ids[b];
  ids[b] = id;
  const word = words[a];
  words[a] = words[b];
  words[b] = word;
}

function insertionSort(
  ids: Uint32Array,
  words: Uint32Array,
  low: number,
  high: number,
  depth: number,
  arena: Uint8Array,
  starts: Uint32Array,
): void {
  for (let i = low + 1; i < high; i++) {
    const id = ids[i];
    const word = words[i];
    let j = i - 1;
    while (j >= low && isAfter(words[j], ids[j], word, id, depth + 4, arena, starts)) {
      ids[j + 1] = ids[j];
      words[j + 1] = words[j];
      j--;
    }
    ids[j + 1] = id;
    words[j + 1] = word;
  }
}

function isAfter(
  aWord: number,
  a: number,
  bWord: number,
  b: number,
  depth: number,
  arena: Uint8Array,
  starts: Uint32Array,
): boolean {
  if (aWord !== bWord) return aWord > bWord;
  if ((aWord & 0xff) === 0) return false;
  const aEnd = starts[a + 1];
  const bEnd = starts[b + 1];
  let i = starts[a] + depth;
  let j = starts[b] + depth;
  while (i < aEnd && j < bEnd) {
    const difference = arena[i++] - arena[j++];
    if (difference !== 0) return difference > 0;
  }
  return i < aEnd;
}
