// What compaction keeps of open nodes, and when it rolls them up: src/map/compact/roll-ups.ts.
import { appendBytes, appendRollUpRow, hasRoom, outputEnd, takeBack, writeOut } from "./output";
import {
  CHILDREN, DEPTH, HOST, LAYER, leafEnd, node, NONE, PARENT, PATH, ROOT, SEPARATOR, size, TEXT_END,
} from "./nodes";
import { cutoffOf, isByName, maxHostDepth, maxPathDepth } from "./policy";

const IS_PRESENT: usize = 14;
const HAS_WILDCARD: usize = 15;
const IS_ROLLED_UP: usize = 28;
const CUTOFF: usize = 32;
const TOTAL: usize = 40;
const WILDCARD_TOTAL: usize = 48;
const HEAD_START: usize = 56;
const HEAD_END: usize = 60;
const CHILDREN_START: usize = 64;

const RELEASE_BYTES: i32 = 1 << 19;
const MAX_TOTAL: f64 = 9007199254740991;

let rolledUp: i32 = NONE;
export let rollUpCount: i32 = 0;
let leafStart: i32 = 0;
let leafCount: f64 = 0;

/** Whether all below is decided: the key is below a node that is rolled up, and no depth matters. */
@inline
export function isSettled(): bool {
  return rolledUp != NONE && isByName();
}

/** A node was opened; if it is known to be above the key, its own row and pages are over. */
export function openNode(index: i32, isAbove: bool): void {
  const pointer = node(index);
  store<u8>(pointer, 0, IS_PRESENT);
  store<u8>(pointer, 0, HAS_WILDCARD);
  store<i32>(pointer, 0, CHILDREN);
  store<i32>(pointer, 0, IS_ROLLED_UP);
  store<f64>(pointer, cutoffOf(index), CUTOFF);
  store<f64>(pointer, 0, TOTAL);
  store<i32>(pointer, outputEnd, HEAD_START);
  store<i32>(pointer, isAbove ? outputEnd : NONE, HEAD_END);
  store<i32>(pointer, isAbove ? outputEnd : NONE, CHILDREN_START);
}

/** The next key begins with the text of the node and then has `next`. */
@inline
export function stayInNode(index: i32, next: u8): void {
  const pointer = node(index);
  if (load<i32>(pointer, HEAD_END) == NONE) store<i32>(pointer, outputEnd, HEAD_END);
  if (next == load<u8>(pointer, SEPARATOR) && load<i32>(pointer, CHILDREN_START) == NONE) {
    store<i32>(pointer, outputEnd, CHILDREN_START);
  }
}

/** A page that may turn out to have something below it. */
@inline
export function addLeaf(parent: i32, count: f64): void {
  markPresent(parent);
  addChild(parent);
  leafCount = count;
  leafStart = outputEnd;
}

@inline
export function countLeaf(parent: i32): void {
  addCount(parent, leafCount);
}

/** The leaf became a node. */
export function openLeaf(index: i32): void {
  store<i32>(node(index), leafStart, HEAD_START);
  store<u8>(node(index), 1, IS_PRESENT);
  store<f64>(node(index), leafCount, TOTAL);
}

@inline
function addCount(index: i32, count: f64): void {
  const pointer = node(index);
  store<f64>(pointer, load<f64>(pointer, TOTAL) + count, TOTAL);
}

/** The node's own row. */
export function addOwnRow(index: i32, count: f64): void {
  addCount(index, count);
  markPresent(index);
}

/** A page below the last level: every such row counts as a child of that level. */
export function addDeepPage(index: i32, count: f64): void {
  store<u8>(node(index), 1, IS_PRESENT);
  store<f64>(node(index), count, TOTAL);
  addChild(cappedNode(index));
}

export function addWildcard(index: i32, count: f64): void {
  const pointer = node(index);
  // A second row of the same key is out of order, so there is none yet.
  store<u8>(pointer, 1, HAS_WILDCARD);
  store<f64>(pointer, count, WILDCARD_TOTAL);
  markPresent(index);
  addChild(cappedNode(index));
}

function cappedNode(index: i32): i32 {
  const isHost = load<u8>(node(index), LAYER) == HOST;
  const last = (isHost ? maxHostDepth : maxPathDepth) - 1;
  let capped = index;
  while (load<i32>(node(capped), DEPTH) > last && load<i32>(node(capped), PARENT) != NONE) {
    const parent = load<i32>(node(capped), PARENT);
    if ((load<u8>(node(parent), LAYER) == HOST) != isHost) break;
    capped = parent;
  }
  return capped;
}

export function markPresent(from: i32): void {
  let index = from;
  while (index != NONE) {
    const pointer = node(index);
    if (load<u8>(pointer, IS_PRESENT) == 1) return;
    store<u8>(pointer, 1, IS_PRESENT);
    const parent = load<i32>(pointer, PARENT);
    if (parent != NONE) {
      const layer = load<u8>(pointer, LAYER);
      if (layer == PATH) {
        if (load<i32>(pointer, DEPTH) < maxPathDepth) addChild(parent);
      } else if (layer == ROOT) {
        if (load<i32>(node(parent), DEPTH) >= maxHostDepth) addChild(cappedNode(parent));
      } else if (load<i32>(pointer, DEPTH) < maxHostDepth) {
        addChild(parent);
      }
    }
    index = parent;
  }
}

function addChild(index: i32): void {
  const pointer = node(index);
  const children = load<i32>(pointer, CHILDREN) + 1;
  store<i32>(pointer, children, CHILDREN);
  if (<f64>children > load<f64>(pointer, CUTOFF) && load<i32>(pointer, IS_ROLLED_UP) == 0) {
    rollUp(index);
  }
}

/** Takes back the rows of a node. What others wrote between its own row and its children moves up. */
function rollUp(index: i32): void {
  const pointer = node(index);
  store<i32>(pointer, 1, IS_ROLLED_UP);
  rollUpCount++;
  if (rolledUp != NONE && rolledUp < index) return;
  rolledUp = index;
  const headStart = load<i32>(pointer, HEAD_START);
  const headEnd = load<i32>(pointer, HEAD_END) == NONE ? outputEnd : load<i32>(pointer, HEAD_END);
  const childrenStart =
    load<i32>(pointer, CHILDREN_START) == NONE ? outputEnd : load<i32>(pointer, CHILDREN_START);
  takeBack(headStart, headEnd, childrenStart);
  store<i32>(pointer, headStart, HEAD_END);
  store<i32>(pointer, outputEnd, CHILDREN_START);
}

/** Ends a node; false to give up. */
export function closeNode(index: i32): bool {
  const pointer = node(index);
  if (load<u8>(pointer, IS_PRESENT) == 0) return true;
  const total =
    load<u8>(pointer, HAS_WILDCARD) == 1
      ? load<f64>(pointer, WILDCARD_TOTAL)
      : load<f64>(pointer, TOTAL);
  if (total > MAX_TOTAL) return false;
  if (index == rolledUp) {
    rolledUp = NONE;
    const textEnd = load<i32>(pointer, TEXT_END);
    if (!makeRoom(textEnd + 32)) return false;
    appendRollUpRow(textEnd, load<u8>(pointer, SEPARATOR), <u64>total);
  }
  const parent = load<i32>(pointer, PARENT);
  if (parent != NONE) addCount(parent, total);
  return true;
}

/** Appends a line, unless it is rolled up; false if there is no room. */
export function appendLine(start: usize, end: usize): bool {
  if (rolledUp != NONE) return true;
  const length = <i32>(end - start);
  if (!makeRoom(length)) return false;
  appendBytes(start, length);
  return true;
}

/** Hands out what is decided when there is much of it; false if the rest leaves no room. */
function makeRoom(bytes: i32): bool {
  if (outputEnd >= RELEASE_BYTES) release();
  return hasRoom(bytes);
}

function release(): void {
  let decided = outputEnd;
  for (let index = 0; index < size; index++) {
    const pointer = node(index);
    if (load<f64>(pointer, CUTOFF) == Infinity) continue;
    decided = load<i32>(pointer, HEAD_START);
    break;
  }
  if (leafEnd != NONE && leafStart < decided) decided = leafStart;
  if (decided < outputEnd / 2) return;
  writeOut(decided);
  leafStart -= decided;
  for (let index = 0; index < size; index++) {
    const pointer = node(index);
    shift(pointer + HEAD_START, decided);
    shift(pointer + HEAD_END, decided);
    shift(pointer + CHILDREN_START, decided);
  }
}

function shift(pointer: usize, by: i32): void {
  const position = load<i32>(pointer);
  if (position != NONE) store<i32>(pointer, position > by ? position - by : 0);
}
