// Branches that hold nothing but were asked for, in lists by the open node above them.
//
// Every branch has misses of its own, so there are never more of them than misses.
import { NONE } from "./nodes";

/** Takes a branch of a record. */
@external("env", "takeBranch")
declare function takeBranch(
  record: i32, miss: i32, textLength: i32, early: i32, misses: i32, isHost: i32,
): void;

// The fields of a branch, as offsets into BRANCH_BYTES.
const BRANCH_BYTES: usize = 24;
const MISS: usize = 0;
const TEXT_LENGTH: usize = 4;
const EARLY: usize = 8;
const MISSES: usize = 12;
const IS_HOST: usize = 16;
const NEXT: usize = 20;

let branches: usize = 0;
/** The first branch that is free, and the first that was never used. */
let free: i32 = NONE;
let unused: i32 = 0;

export function openBranches(count: i32): void {
  branches = heap.alloc(<usize>count * BRANCH_BYTES);
}

@inline
function branch(index: i32): usize {
  return branches + <usize>index * BRANCH_BYTES;
}

/** Adds a branch at the end of a list: a pair of numbers, its first and last branch or NONE. */
export function addBranch(
  list: usize, miss: i32, textLength: i32, early: i32, misses: i32, isHost: bool,
): void {
  let index = free;
  if (index == NONE) index = unused++;
  else free = load<i32>(branch(index), NEXT);
  const pointer = branch(index);
  store<i32>(pointer, miss, MISS);
  store<i32>(pointer, textLength, TEXT_LENGTH);
  store<i32>(pointer, early, EARLY);
  store<i32>(pointer, misses, MISSES);
  store<i32>(pointer, isHost ? 1 : 0, IS_HOST);
  store<i32>(pointer, NONE, NEXT);
  append(list, index, index);
}

@inline
function append(list: usize, first: i32, last: i32): void {
  const end = load<i32>(list, 4);
  if (end == NONE) store<i32>(list, first);
  else store<i32>(branch(end), first, NEXT);
  store<i32>(list, last, 4);
}

@inline
export function clearList(list: usize): void {
  store<i32>(list, NONE);
  store<i32>(list, NONE, 4);
}

export function dropBranches(list: usize): void {
  const last = load<i32>(list, 4);
  if (last == NONE) return;
  store<i32>(branch(last), free, NEXT);
  free = load<i32>(list);
  clearList(list);
}

export function moveBranches(from: usize, to: usize): void {
  const first = load<i32>(from);
  if (first == NONE) return;
  append(to, first, load<i32>(from, 4));
  clearList(from);
}

/** Hands the branches of a list out: they belong to a record. */
export function takeBranches(list: usize, record: i32): void {
  for (let index = load<i32>(list); index != NONE; index = load<i32>(branch(index), NEXT)) {
    const pointer = branch(index);
    takeBranch(
      record,
      load<i32>(pointer, MISS),
      load<i32>(pointer, TEXT_LENGTH),
      load<i32>(pointer, EARLY),
      load<i32>(pointer, MISSES),
      load<i32>(pointer, IS_HOST),
    );
  }
  dropBranches(list);
}
