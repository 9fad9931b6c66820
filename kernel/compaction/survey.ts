// What a survey keeps of open nodes, and what it says of them: src/map/compact/budget/tree-survey.ts.
import { addBranch, clearList, dropBranches, moveBranches, takeBranches } from "./branches";
import {
  DEPTH, HOST, increase, key, LAYER, node, NONE, PARENT, ROOT, TEXT_END,
} from "./nodes";
import { hashNode, nameOf } from "./node-name";
import { lastRecord, setNumber, startRecord } from "./records";

/** Takes the keys and the children of a host. */
@external("env", "takeHost")
declare function takeHost(keys: i32, children: i32): void;

/** How many labels of the host at `pointer` are a public suffix. */
@external("env", "suffixLabels")
declare function suffixLabels(pointer: usize, length: i32): i32;

// The columns of a record, in the order of FIELD.
const SLOT = 0;
const NAME = 1;
const RECORD_LAYER = 2;
const RECORD_IS_SUFFIX = 3;
const FIRST_COUNT = 4;
const RECORD_PARENT = 17;

const IS_SUFFIX: usize = 14;
const HAS_WILDCARDS: usize = 15;
// Counts that go into the record, one column after the other from FIRST_COUNT on.
const COUNTS: usize = 32;
const COUNT_FIELDS: i32 = 9;
const ROWS: usize = 32;
const KEYS: usize = 36;
const KNOWN_CHILDREN: usize = 40;
const SINGLES: usize = 44;
const SINGLE_FOLDERS: usize = 48;
const SUBDOMAINS: usize = 52;
const MISSES: usize = 56;
const OWN_MISSES: usize = 60;
const SINGLE_MISSES: usize = 64;
const EARLY_MISSES: usize = 68;
/** Some miss in the sub-tree: its key begins with the node's. */
const MISS: usize = 72;
const BRANCHES: usize = 76;

export let topSingles: i32 = 0;
export let singleHosts: i32 = 0;
export let hasWildcards: bool = false;

export function openNode(index: i32): void {
  const pointer = node(index);
  store<u8>(pointer, 0, IS_SUFFIX);
  store<u8>(pointer, 0, HAS_WILDCARDS);
  memory.fill(pointer + COUNTS, 0, BRANCHES - COUNTS);
  clearList(pointer + BRANCHES);
  hashNode(index);
  if (load<u8>(pointer, LAYER) == ROOT) markSuffixes(load<i32>(pointer, PARENT));
}

function markSuffixes(host: i32): void {
  if (host == NONE) return;
  const labels = suffixLabels(key, load<i32>(node(host), TEXT_END));
  for (let index = host; index != NONE; index = load<i32>(node(index), PARENT)) {
    if (load<i32>(node(index), DEPTH) <= labels) store<u8>(node(index), 1, IS_SUFFIX);
  }
}

/** A page that has nothing below it. */
@inline
export function countLeaf(parent: i32): void {
  const pointer = node(parent);
  increase(pointer + KEYS, 1);
  increase(pointer + KNOWN_CHILDREN, 1);
  increase(pointer + SINGLES, 1);
}

/** The leaf became a node. */
export function openLeaf(index: i32): void {
  store<i32>(node(index), 1, KEYS);
  store<i32>(node(index), 1, ROWS);
}

/** The node's own row. */
export function addOwnRow(index: i32): void {
  increase(node(index) + KEYS, 1);
  increase(node(index) + ROWS, 1);
}

export function addWildcard(index: i32): void {
  hasWildcards = true;
  countLeaf(index);
  store<u8>(node(index), 1, HAS_WILDCARDS);
}

export function addMiss(index: i32, miss: i32, isLate: bool): void {
  const pointer = node(index);
  increase(pointer + MISSES, 1);
  increase(pointer + OWN_MISSES, 1);
  if (!isLate) increase(pointer + EARLY_MISSES, 1);
  store<i32>(pointer, miss, MISS);
}

/** Ends a node: passes on what it holds, and keeps a record if it may be rolled up. */
export function closeNode(index: i32): void {
  const pointer = node(index);
  const keys = load<i32>(pointer, KEYS);
  const parent = load<i32>(pointer, PARENT);
  const layer = load<u8>(pointer, LAYER);
  const children = load<i32>(pointer, KNOWN_CHILDREN);
  const branches = pointer + BRANCHES;
  if (layer == ROOT && children > 0) takeHost(keys, children);
  if (load<u8>(pointer, HAS_WILDCARDS) == 1) dropBranches(branches);
  if (keys >= 2) {
    record(index);
    if (parent != NONE) passUp(pointer, node(parent));
  } else if (keys == 1) {
    if (layer == ROOT) singleHosts++;
    if (parent == NONE) {
      topSingles++;
      dropBranches(branches);
    } else {
      passUpSingle(pointer, node(parent));
    }
  } else {
    dropBranches(branches);
    if (parent != NONE && load<i32>(pointer, MISSES) > 0) passUpBranch(pointer, node(parent));
  }
}

function passUp(pointer: usize, parent: usize): void {
  increase(parent + KEYS, load<i32>(pointer, KEYS));
  increase(parent + KNOWN_CHILDREN, 1);
  if (load<u8>(pointer, LAYER) == HOST) increase(parent + SUBDOMAINS, 1);
  passUpMisses(pointer, parent);
}

@inline
function passUpMisses(pointer: usize, parent: usize): void {
  increase(parent + MISSES, load<i32>(pointer, MISSES));
  increase(parent + EARLY_MISSES, load<i32>(pointer, EARLY_MISSES));
  store<i32>(parent, load<i32>(pointer, MISS), MISS);
}

function passUpSingle(pointer: usize, parent: usize): void {
  passUp(pointer, parent);
  increase(parent + SINGLES, 1);
  if (load<i32>(pointer, ROWS) == 0) increase(parent + SINGLE_FOLDERS, 1);
  increase(parent + SINGLE_MISSES, load<i32>(pointer, MISSES));
  moveBranches(pointer + BRANCHES, parent + BRANCHES);
}

/** A node that holds nothing is a branch of its parent. */
function passUpBranch(pointer: usize, parent: usize): void {
  addBranch(
    parent + BRANCHES,
    load<i32>(pointer, MISS),
    load<i32>(pointer, TEXT_END),
    load<i32>(pointer, EARLY_MISSES),
    load<i32>(pointer, MISSES),
    load<u8>(pointer, LAYER) == HOST,
  );
  increase(parent + OWN_MISSES, load<i32>(pointer, MISSES));
  passUpMisses(pointer, parent);
}

function record(index: i32): void {
  const pointer = node(index);
  const at = startRecord();
  setNumber(at, SLOT, <f64>(index + 1));
  setNumber(at, NAME, <f64>nameOf(index));
  setNumber(at, RECORD_LAYER, <f64>load<u8>(pointer, LAYER));
  setNumber(at, RECORD_IS_SUFFIX, <f64>load<u8>(pointer, IS_SUFFIX));
  for (let i: i32 = 0; i < COUNT_FIELDS; i++) {
    setNumber(at, FIRST_COUNT + i, <f64>load<i32>(pointer + COUNTS + (<usize>i << 2)));
  }
  setNumber(at, RECORD_PARENT, <f64>(load<i32>(pointer, PARENT) + 1));
  takeBranches(pointer + BRANCHES, lastRecord());
}
