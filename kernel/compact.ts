// Compaction of plain rows, and what budgets need besides: the survey, and the search for a price.
//
// A translation of src/map/compact/compactor.ts and src/map/compact/budget/tree-survey.ts for rows `key
// count` whose key is a page or a wildcard in ASCII and whose count is a plain number that is not 0: all that
// `generate` and `compact` write, except for exclusions. Anything else makes it give up, and the caller
// starts again in TypeScript. The comments there explain the tree; here are only those about memory.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.
import * as misses from "./compaction/misses";
import { NONE, size } from "./compaction/nodes";
import { lineCount, openOutput, outputEnd, writeOut } from "./compaction/output";
import * as policy from "./compaction/policy";
import { endRecords, page } from "./compaction/records";
import { rollUpCount } from "./compaction/roll-up";
import { takeRow } from "./compaction/rows";
import * as table from "./compaction/solve";
import * as survey from "./compaction/survey";
import * as walk from "./compaction/walk";

let input: usize = 0;
let rowCount: i32 = 0;

/** Makes room for blocks of `bytes`, to compact them; returns where they go. Call it once, first. */
export function open(bytes: i32, hostDepth: i32, pathDepth: i32): usize {
  openOutput();
  policy.setDepths(hostDepth, pathDepth);
  return openInput(bytes);
}

/** Makes room for blocks of `bytes`, to survey them; returns where they go. Call it once, first. */
export function openSurvey(bytes: i32): usize {
  walk.startSurvey();
  return openInput(bytes);
}

function openInput(bytes: i32): usize {
  input = heap.alloc(bytes + 16);
  return input;
}

/** Where the cutoffs by depth go, as doubles. */
export function hostCutoffTable(): usize {
  return policy.hostCutoffs;
}

export function pathCutoffTable(): usize {
  return policy.pathCutoffs;
}

export function maxDepth(): i32 {
  return policy.MAX_DEPTH;
}

/** Rolls up nodes by their names from here on; `slots` is a power of two, and more than the names. */
export function chooseByName(slots: i32): void {
  policy.chooseByName(slots);
}

/** Adds the names that are in the block, as doubles. */
export function addChosen(count: i32): void {
  for (let i = 0; i < count; i++) policy.addChosen(<u64>load<f64>(input + (<usize>i << 3)));
}

/** Where the cut goes that a part of a map begins (0) or ends (1) at: what it cuts is not rolled up. */
export function openEdge(which: i32, length: i32): usize {
  return policy.openEdge(which, length);
}

/** Makes room for missed lookups in a survey; the next three say where they go. */
export function openMisses(count: i32, bytes: i32): void {
  misses.openMisses(count, bytes);
}

export function missTexts(): usize {
  return misses.texts;
}

export function missStarts(): usize {
  return misses.starts;
}

export function missIsLate(): usize {
  return misses.isLate;
}

/** Call it when the misses are in place. */
export function startMisses(): void {
  misses.startMisses();
}

/** Takes the whole lines in the first `length` bytes of the input; false to give up. */
export function take(length: i32): bool {
  // What counts rows and misses has 31 bits.
  if (rowCount > i32.MAX_VALUE - length) return false;
  let at = input;
  const end = input + <usize>length;
  // What is behind the last line must not look like a part of it; but it is the caller's.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  while (at < end) {
    const next = takeRow(at, end);
    if (next == 0) return false;
    at = next;
    rowCount++;
  }
  store<u8>(end, behind);
  return true;
}

/** Closes all nodes and hands out what is left; false to give up. */
export function finish(): bool {
  if (walk.isSurvey && !misses.takeOtherMisses()) return false;
  if (!walk.settleLeaf(NONE, 0)) return false;
  while (size > 0) if (!walk.close()) return false;
  if (walk.isSurvey) endRecords();
  else writeOut(outputEnd);
  return true;
}

export function rows(): i32 {
  return rowCount;
}

/** Rows handed out. */
export function rowsWritten(): i32 {
  return lineCount;
}

export function rollUps(): i32 {
  return rollUpCount;
}

/** Where the records of a survey are when they are handed out. */
export function recordPage(): usize {
  return page;
}

export function topSingles(): i32 {
  return survey.topSingles;
}

export function singleHosts(): i32 {
  return survey.singleHosts;
}

export function hasWildcards(): bool {
  return survey.hasWildcards;
}

/** Makes room for a table of nodes. The columns of a page of it go to `tablePage`. */
export function openTable(records: i32, slots: i32): void {
  table.openTable(records, slots);
}

export function tablePage(): usize {
  return table.page;
}

export function addTablePage(records: i32): void {
  table.addPage(records);
}

export function clearTable(): void {
  table.clear();
}

/** Where the prices of a row go, as doubles, and how many of them at most. */
export function tablePrices(): usize {
  return table.prices;
}

export function maxPrices(): i32 {
  return table.MAX_PRICES;
}

/** Starts to look for the cheapest map at each of so many prices. */
export function beginPass(prices: i32): void {
  table.begin(prices);
}

/** Goes on with all records. */
export function pass(): void {
  table.pass();
}

/** What was found at a price. */
export function solvedRows(price: i32): f64 {
  return table.rowsAt(price);
}

export function solvedMisses(price: i32): f64 {
  return table.missesAt(price);
}
