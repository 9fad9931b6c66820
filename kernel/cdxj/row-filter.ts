// What filters make of a row, told from its JSON block.
//
// Knows nothing about filters. The caller teaches it how the JSON blocks of an index are laid out
// (see src/input/json-layout.ts), and what it made of each value it has seen. A row with another
// layout, or with a value that is new, is left to the caller.

import { commonBytes } from "../shared/bytes";
import { bareEnd, stringEnd } from "./json-ends";
import { lesson } from "./lesson";
import { isSuspect } from "./suspects";

/** The verdict on a row that the caller must look at. */
export const UNKNOWN: i32 = -1;
/** It may have another of the layouts. */
const OTHER_LAYOUT: i32 = -2;

/** The fact of URIs, which are looked through for suspects; other facts are words. */
const URI: i32 = 1;

/**
 * A layout: the number of its values, -1 until it is complete; the verdict on what it lacks; the
 * length of its tail, -1 if it has none; and how many bytes all its gaps and its tail have. Then
 * its values: length of the gap before it, fact, whether it is a string; i32 each. Then the bytes.
 */
const MAX_LAYOUTS: i32 = 4;
const MAX_VALUES: i32 = 32;
const MAX_GAP_BYTES: i32 = 2048;
const VALUES: usize = 16;
const VALUE_BYTES: usize = 16;
const GAPS: usize = 16 + 32 * 16;
const LAYOUT_BYTES: usize = 16 + 32 * 16 + 2048 + 16;
const layouts: usize = memory.data(4 * (16 + 32 * 16 + 2048 + 16), 16);
/** The layout of the row before. */
let current: i32 = 0;

/** Words: values with a verdict. Each has its fact, length, verdict and bytes. */
const MAX_WORD_BYTES: i32 = 112;
const SLOT_BYTES: usize = 128;
const SLOTS: u32 = 256;
const words: usize = memory.data(256 * 128, 16);

/** Forgets layouts and words. */
export function forget(): void {
  for (let slot: i32 = 0; slot < MAX_LAYOUTS; slot++) openLayout(slot);
  memory.fill(words, 0, SLOT_BYTES * SLOTS);
}

function layoutAt(slot: i32): usize {
  return layouts + <usize>slot * LAYOUT_BYTES;
}

/** Begins a layout; what was in its slot is forgotten. */
export function openLayout(slot: i32): void {
  const layout = layoutAt(slot);
  store<i32>(layout, -1);
  store<i32>(layout, 0, 4);
  store<i32>(layout, -1, 8);
  store<i32>(layout, 0, 12);
  valueCount = 0;
}

let valueCount: i32 = 0;

/** Adds a value, the gap before it being the lesson; 0 if there is no room for it. */
export function learnGap(slot: i32, length: i32, fact: i32, isString: i32): i32 {
  const layout = layoutAt(slot);
  if (valueCount == MAX_VALUES || !addBytes(layout, length)) return 0;
  const value = layout + VALUES + <usize>valueCount * VALUE_BYTES;
  store<i32>(value, length);
  store<i32>(value, fact, 4);
  store<i32>(value, isString, 8);
  valueCount++;
  return 1;
}

/** Adds what must follow the last value, which is the lesson; 0 if there is no room for it. */
export function learnTail(slot: i32, length: i32): i32 {
  const layout = layoutAt(slot);
  if (!addBytes(layout, length)) return 0;
  store<i32>(layout, length, 8);
  return 1;
}

/** Completes a layout. */
export function closeLayout(slot: i32, verdict: i32): void {
  const layout = layoutAt(slot);
  store<i32>(layout, valueCount);
  store<i32>(layout, verdict, 4);
  current = slot;
}

function addBytes(layout: usize, length: i32): bool {
  const used = load<i32>(layout, 12);
  if (used + length > MAX_GAP_BYTES) return false;
  memory.copy(layout + GAPS + <usize>used, lesson, <usize>length);
  store<i32>(layout, used + length, 12);
  return true;
}

/** Learns the verdict on a value, which is the lesson; values that are too long are not learned. */
export function learnWord(fact: i32, length: i32, verdict: i32): void {
  if (length > MAX_WORD_BYTES) return;
  const slot = slotOf(fact, lesson, length);
  store<i32>(slot, fact);
  store<i32>(slot, length, 4);
  store<i32>(slot, verdict, 8);
  memory.copy(slot + 16, lesson, <usize>length);
}

/** All that is known of the values of a block together, or `UNKNOWN`. */
export function verdictOf(block: usize, end: usize): i32 {
  for (let i: i32 = 0; i < MAX_LAYOUTS; i++) {
    const slot = (current + i) % MAX_LAYOUTS;
    const verdict = verdictBy(layoutAt(slot), block, end);
    if (verdict == OTHER_LAYOUT) continue;
    current = slot;
    return verdict;
  }
  return UNKNOWN;
}

function verdictBy(layout: usize, block: usize, end: usize): i32 {
  const count = load<i32>(layout);
  if (count == -1) return OTHER_LAYOUT;
  let verdict = load<i32>(layout, 4);
  let gap = layout + GAPS;
  let at = block;
  const behindLast = layout + VALUES + <usize>count * VALUE_BYTES;
  for (let value = layout + VALUES; value < behindLast; value += VALUE_BYTES) {
    const gapLength = load<i32>(value);
    // A gap has no line feed: a match cannot go beyond the line.
    if (commonBytes(at, gap, 0, gapLength) != gapLength) return OTHER_LAYOUT;
    gap += <usize>gapLength;
    at += <usize>gapLength;
    const valueEnd = load<i32>(value, 8) != 0 ? stringEnd(at, end) : bareEnd(at, end);
    if (valueEnd >= end) return OTHER_LAYOUT;
    const fact = load<i32>(value, 4);
    if (fact != 0) {
      const known = fact == URI ? uriVerdict(at, valueEnd) : wordVerdict(fact, at, <i32>(valueEnd - at));
      verdict = known == UNKNOWN || verdict == UNKNOWN ? UNKNOWN : verdict | known;
    }
    at = valueEnd;
  }
  const tailLength = load<i32>(layout, 8);
  if (tailLength != -1 && commonBytes(at, gap, 0, tailLength) != tailLength) return OTHER_LAYOUT;
  return verdict;
}

function uriVerdict(uri: usize, end: usize): i32 {
  return isSuspect(uri, end) ? UNKNOWN : 0;
}

function wordVerdict(fact: i32, word: usize, length: i32): i32 {
  if (length > MAX_WORD_BYTES) return UNKNOWN;
  const slot = slotOf(fact, word, length);
  if (load<i32>(slot) != fact || load<i32>(slot, 4) != length) return UNKNOWN;
  if (commonBytes(word, slot + 16, 0, length) != length) return UNKNOWN;
  return load<i32>(slot, 8);
}

/** Where a word is, if it is known. */
function slotOf(fact: i32, word: usize, length: i32): usize {
  let hash: u32 = <u32>fact * 31 + <u32>length;
  for (let i: i32 = 0; i < length; i++) hash = (hash ^ load<u8>(word + <usize>i)) * 0x01000193;
  return words + <usize>((hash ^ (hash >> 15)) % SLOTS) * SLOT_BYTES;
}
