// The walk over the key tree, for both kinds of work: opens and closes nodes from key to key.
// src/map/compact/key-tree.ts explains it.
import { CLOSE_PAREN, COMMA, SLASH } from "../shared/bytes";
import {
  DEPTH, HOST, isKeyByte, key, LAYER, leafDepth, leafEnd, leafParent, MAX_NODES, node, NONE,
  PARENT, PATH, ROOT, SEPARATOR, size, TEXT_END,
} from "./nodes";
import * as rollUp from "./roll-up";
import * as survey from "./survey";

/** Whether the tree is surveyed, not compacted. */
export let isSurvey: bool = false;

export function startSurvey(): void {
  isSurvey = true;
}

/** Opens a node; NONE if there are too many. */
export function push(end: i32, layer: u8, depth: i32, parent: i32, isAbove: bool): i32 {
  if (size == MAX_NODES) return NONE;
  const pointer = node(size);
  store<i32>(pointer, end, TEXT_END);
  store<i32>(pointer, depth, DEPTH);
  store<i32>(pointer, parent, PARENT);
  store<u8>(pointer, layer, LAYER);
  store<u8>(pointer, layer == HOST ? COMMA : SLASH, SEPARATOR);
  if (isSurvey) survey.openNode(size);
  else rollUp.openNode(size, isAbove);
  return size++;
}

/** Ends the node on top; false to give up. */
export function close(): bool {
  const index = size - 1;
  size = index;
  if (!isSurvey) return rollUp.closeNode(index);
  survey.closeNode(index);
  return true;
}

/** Closes the nodes that do not contain a key that shares this many bytes, and then has `next`. */
export function leave(shared: i32, next: u8): bool {
  if (!settleLeaf(shared, next)) return false;
  while (size > 0 && load<i32>(node(size - 1), TEXT_END) > shared) if (!close()) return false;
  if (size == 0) return true;
  const top = node(size - 1);
  if (load<i32>(top, TEXT_END) < shared) return true;
  if (next > load<u8>(top, SEPARATOR)) return close();
  if (!isSurvey) rollUp.stayInNode(size - 1, next);
  return true;
}

/** Opens a node for the leaf if the next key begins with it, or else counts it. */
export function settleLeaf(shared: i32, next: u8): bool {
  if (leafEnd == NONE) return true;
  const end = leafEnd;
  leafEnd = NONE;
  if (end == shared && next <= SLASH) {
    const index = push(end, PATH, leafDepth, leafParent, false);
    if (index == NONE) return false;
    if (isSurvey) survey.openLeaf(index);
    else rollUp.openLeaf(index);
  } else if (isSurvey) {
    survey.countLeaf(leafParent);
  } else {
    rollUp.countLeaf(leafParent);
  }
  return true;
}

/** Makes a page the leaf, as nearly all have nothing below them. */
@inline
export function setLeaf(end: i32, parent: i32, depth: i32): void {
  leafEnd = end;
  leafParent = parent;
  leafDepth = depth;
}

/**
 * Opens the nodes of the key, up to `nodesEnd`, that are not open yet; returns the last, or NONE if
 * there are too many. `end` is where its host ends.
 */
export function enter(shared: i32, end: i32, nodesEnd: i32): i32 {
  let index = ancestor(nodesEnd);
  let at: i32 = index == NONE ? 0 : load<i32>(node(index), TEXT_END);
  if (at < end) {
    let depth: i32 = index == NONE ? 0 : load<i32>(node(index), DEPTH);
    // Not from `shared` on: the host of the last key may end elsewhere, as in `com,a))/`.
    for (at++; at <= end; at++) {
      if (at < end && !isKeyByte(at, COMMA)) continue;
      index = push(at, HOST, ++depth, index, isKeyByte(at, COMMA));
      if (index == NONE) return NONE;
    }
    at = end;
  }
  if (nodesEnd <= end) return index;
  if (at == end) {
    at = end + 1;
    index = push(at, ROOT, 1, index, true);
    if (index == NONE) return NONE;
  }
  let depth = load<i32>(node(index), DEPTH);
  at = at + 1 > shared ? at + 1 : shared;
  for (; at <= nodesEnd; at++) {
    if (at < nodesEnd && !isKeyByte(at, SLASH)) continue;
    index = push(at, PATH, ++depth, index, true);
    if (index == NONE) return NONE;
  }
  return index;
}

/** The deepest open node that the key, up to `nodesEnd`, lies in. */
export function ancestor(nodesEnd: i32): i32 {
  for (let index = size - 1; index >= 0; index--) {
    const pointer = node(index);
    const textEnd = load<i32>(pointer, TEXT_END);
    if (textEnd > nodesEnd) continue;
    if (textEnd == nodesEnd) return index;
    const next = load<u8>(key + <usize>textEnd);
    if (next == load<u8>(pointer, SEPARATOR)) return index;
    if (next == CLOSE_PAREN && load<u8>(pointer, LAYER) == HOST) return index;
  }
  return NONE;
}
