// The passes over the table of nodes where there are no exclusions: src/map/compact/budget/solve.ts.
//
// Every column is as a page of the table has it: doubles, children before their parents.

let records: i32 = 0;
let slots: i32 = 0;
/** The columns, one after the other; those that are read, then those that keep a solution. */
export let columns: usize = 0;
/** Sums over the children, by slot: rows, then misses. */
let sums: usize = 0;

const SLOT: i32 = 0;
const PARENT: i32 = 1;
const ROWS: i32 = 2;
const SINGLES: i32 = 3;
const MISSES_WITHIN: i32 = 4;
const DECISION: i32 = 5;
const LEFT: i32 = 6;
const COLUMNS: i32 = 7;

const SUM_BYTES: i32 = 16;
const MISSES: usize = 8;

/** Makes room for a table. */
export function openTable(count: i32, slotCount: i32): void {
  records = count;
  slots = slotCount;
  columns = heap.alloc(<usize>count * <usize>(COLUMNS * 8));
  memory.fill(column(DECISION), 0, <usize>count << 3);
  sums = heap.alloc(<usize>(slotCount * SUM_BYTES));
}

@inline
function column(number: i32): usize {
  return columns + ((<usize>records * <usize>number) << 3);
}

/**
 * Finds the cheapest map at a price of a row. With a `decision`, a bit, it is kept: which nodes are
 * rolled up, and the rows that are left of each.
 */
export function solve(price: f64, decision: i32): void {
  memory.fill(sums, 0, <usize>(slots * SUM_BYTES));
  const slotOf = column(SLOT);
  const parentOf = column(PARENT);
  const rowsOf = column(ROWS);
  const singlesOf = column(SINGLES);
  const missesOf = column(MISSES_WITHIN);
  const decisionOf = column(DECISION);
  const leftOf = column(LEFT);
  for (let i: usize = 0; i < <usize>records << 3; i += 8) {
    const own = sums + <usize>(<i32>load<f64>(slotOf + i) * SUM_BYTES);
    const above = sums + <usize>(<i32>load<f64>(parentOf + i) * SUM_BYTES);
    const open = load<f64>(rowsOf + i) + load<f64>(singlesOf + i) + load<f64>(own);
    const openMisses = load<f64>(own, MISSES);
    const missesWithin = load<f64>(missesOf + i);
    store<f64>(own, 0);
    store<f64>(own, 0, MISSES);
    const isRolledUp = missesWithin < price * (open - 1) + openMisses;
    const left = select<f64>(1, open, isRolledUp);
    const misses = select<f64>(missesWithin, openMisses, isRolledUp);
    store<f64>(above, load<f64>(above) + left);
    store<f64>(above, load<f64>(above, MISSES) + misses, MISSES);
    if (decision != 0) {
      const others = <i32>load<f64>(decisionOf + i) & ~decision;
      store<f64>(decisionOf + i, <f64>(isRolledUp ? others | decision : others));
      store<f64>(leftOf + i, left);
    }
  }
}

export function solvedRows(): f64 {
  return load<f64>(sums);
}

export function solvedMisses(): f64 {
  return load<f64>(sums, MISSES);
}
