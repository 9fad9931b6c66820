// Which nodes are rolled up: those with more children than a cutoff, by depth or by name.
import { CLOSE_PAREN, COMMA, commonBytes } from "../shared/bytes";
import { DEPTH, HOST, key, LAYER, node, TEXT_END } from "./nodes";
import { hashNode, nameOf } from "./node-name";

export const MAX_DEPTH: i32 = 1024;
const CHOSEN: f64 = -1;

export const hostCutoffs: usize = memory.data(8 * 1024, 16);
export const pathCutoffs: usize = memory.data(8 * 1024, 16);
export let maxHostDepth: i32 = 0;
export let maxPathDepth: i32 = 0;

/** The names of chosen nodes, each plus 1 in a slot by hash; 0 is free. */
let chosen: usize = 0;
let chosenMask: u64 = 0;

export function setDepths(hostDepth: i32, pathDepth: i32): void {
  maxHostDepth = hostDepth;
  maxPathDepth = pathDepth;
}

/** From here on nodes are chosen by name, and depths do not matter. Makes room for `slots` names. */
export function chooseByName(slots: i32): void {
  setDepths(i32.MAX_VALUE, i32.MAX_VALUE);
  chosen = heap.alloc(<usize>slots << 3);
  memory.fill(chosen, 0, <usize>slots << 3);
  chosenMask = <u64>slots - 1;
}

/** Whether nodes are chosen by name. */
@inline
export function isByName(): bool {
  return chosen != 0;
}

export function addChosen(name: u64): void {
  let slot = slotOf(name);
  while (load<u64>(chosen + (<usize>slot << 3)) != 0) slot = (slot + 1) & chosenMask;
  store<u64>(chosen + (<usize>slot << 3), name + 1);
}

@inline
function slotOf(name: u64): u64 {
  return (name ^ (name >> 21)) & chosenMask;
}

function isChosen(name: u64): bool {
  let slot = slotOf(name);
  let found = load<u64>(chosen + (<usize>slot << 3));
  while (found != 0 && found != name + 1) {
    slot = (slot + 1) & chosenMask;
    found = load<u64>(chosen + (<usize>slot << 3));
  }
  return found != 0;
}

/** The cuts that a part of a map begins and ends at, and their lengths; -1 for none. */
const edges: usize = memory.data(2 * (1 << 16) + 16, 16);
const EDGE_BYTES: usize = 1 << 16;
let fromLength: i32 = -1;
let toLength: i32 = -1;

/** Where the text of a cut goes: the first (0) or the last (1) of a part. */
export function openEdge(which: i32, length: i32): usize {
  if (which == 0) fromLength = length;
  else toLength = length;
  return edges + <usize>which * EDGE_BYTES;
}

/** Whether a node can have keys on both sides of a cut: src/map/compact/edges.ts. */
function isCut(index: i32, cut: usize, length: i32): bool {
  const end = load<i32>(node(index), TEXT_END);
  if (end >= length || commonBytes(key, cut, 0, end) < end) return false;
  if (load<u8>(node(index), LAYER) != HOST) return true;
  const next = load<u8>(cut + <usize>end);
  return next >= CLOSE_PAREN && next <= COMMA;
}

@inline
function isOpen(index: i32): bool {
  return isCut(index, edges, fromLength) || isCut(index, edges + EDGE_BYTES, toLength);
}

/** The cutoff of a node that was just opened. */
export function cutoffOf(index: i32): f64 {
  if (chosen != 0) {
    hashNode(index);
    return isChosen(nameOf(index)) && !isOpen(index) ? CHOSEN : Infinity;
  }
  if (isOpen(index)) return Infinity;
  const depth = load<i32>(node(index), DEPTH);
  if (load<u8>(node(index), LAYER) == HOST) {
    return depth < maxHostDepth ? load<f64>(hostCutoffs + (<usize>depth << 3)) : Infinity;
  }
  return depth < maxPathDepth ? load<f64>(pathCutoffs + (<usize>depth << 3)) : Infinity;
}
