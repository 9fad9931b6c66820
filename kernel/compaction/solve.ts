// The passes over the table of nodes that keep nothing: src/compact/budget/solve.ts.

/** Columns of the table, children before their parents, and sums over children by slot. */
let records: i32 = 0;
export let slotColumn: usize = 0;
export let parentColumn: usize = 0;
export let openColumn: usize = 0;
export let missesColumn: usize = 0;
let sums: usize = 0;
let slots: i32 = 0;

// A sum: rows, then misses.
const SUM_BYTES: i32 = 16;
const MISSES: usize = 8;

/** Makes room for a table. */
export function openTable(count: i32, slotCount: i32): void {
  records = count;
  slots = slotCount;
  openColumn = heap.alloc(<usize>count << 3);
  missesColumn = heap.alloc(<usize>count << 3);
  slotColumn = heap.alloc(<usize>count << 2);
  parentColumn = heap.alloc(<usize>count << 2);
  sums = heap.alloc(<usize>(slotCount * SUM_BYTES));
}

/** Finds the cheapest map at a price of a row. */
export function solve(price: f64): void {
  memory.fill(sums, 0, <usize>(slots * SUM_BYTES));
  for (let i: i32 = 0; i < records; i++) {
    const own = sums + <usize>(load<i32>(slotColumn + (<usize>i << 2)) * SUM_BYTES);
    const above = sums + <usize>(load<i32>(parentColumn + (<usize>i << 2)) * SUM_BYTES);
    const open = load<f64>(openColumn + (<usize>i << 3)) + load<f64>(own);
    const openMisses = load<f64>(own, MISSES);
    const missesWithin = load<f64>(missesColumn + (<usize>i << 3));
    store<f64>(own, 0);
    store<f64>(own, 0, MISSES);
    const isRolledUp = missesWithin < price * (open - 1) + openMisses;
    store<f64>(above, load<f64>(above) + select<f64>(1, open, isRolledUp));
    store<f64>(above, load<f64>(above, MISSES) + select<f64>(missesWithin, openMisses, isRolledUp), MISSES);
  }
}

export function solvedRows(): f64 {
  return load<f64>(sums);
}

export function solvedMisses(): f64 {
  return load<f64>(sums, MISSES);
}
