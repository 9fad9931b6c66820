// The passes over the table of nodes where there are no exclusions, at several prices at once:
// src/map/compact/budget/solve.ts.

/** Records of a page, and its columns as the table has them: doubles, children before their parents. */
const PAGE_RECORDS: i32 = 4096;
const SLOT: i32 = 0;
const PARENT: i32 = 1;
const ROWS: i32 = 2;
const SINGLES: i32 = 3;
const MISSES_WITHIN: i32 = 4;
const COLUMNS: i32 = 5;
export let page: usize = 0;

/** Records one after the other: the slots of the node and of its parent, its rows, its misses. */
let records: usize = 0;
let count: i32 = 0;
const RECORD_BYTES: i32 = 24;
const PARENT_AT: usize = 4;
const ROWS_AT: usize = 8;
const MISSES_AT: usize = 16;

export const MAX_PRICES: i32 = 32;
export let prices: usize = 0;
/** Prices are worked on in pairs. */
let pairs: i32 = 0;

/** Sums over the children, by slot and pair: rows, then misses. */
let sums: usize = 0;
let slots: i32 = 0;
const SUM_BYTES: i32 = 32;
const MISSES: usize = 16;

/** Makes room for so many records. */
export function openTable(capacity: i32, slotCount: i32): void {
  page = heap.alloc(PAGE_RECORDS * COLUMNS * 8);
  records = heap.alloc(<usize>capacity * RECORD_BYTES);
  prices = heap.alloc((MAX_PRICES + 1) * 8);
  slots = slotCount;
  sums = heap.alloc(<usize>slots * (MAX_PRICES / 2) * SUM_BYTES);
}

/** Forgets all records. */
export function clear(): void {
  count = 0;
}

/** Adds the first records of the page. */
export function addPage(added: i32): void {
  let record = records + <usize>(count * RECORD_BYTES);
  for (let i = 0; i < added; i++) {
    store<i32>(record, <i32>numberOf(SLOT, i));
    store<i32>(record, <i32>numberOf(PARENT, i), PARENT_AT);
    store<f64>(record, numberOf(ROWS, i) + numberOf(SINGLES, i), ROWS_AT);
    store<f64>(record, numberOf(MISSES_WITHIN, i), MISSES_AT);
    record += RECORD_BYTES;
  }
  count += added;
}

@inline
function numberOf(column: i32, record: i32): f64 {
  return load<f64>(page + (<usize>(column * PAGE_RECORDS + record) << 3));
}

/** Starts a pass at the first prices; an odd number of them is filled up. */
export function begin(priceCount: i32): void {
  const last = prices + (<usize>(priceCount - 1) << 3);
  store<f64>(last + 8, load<f64>(last));
  pairs = (priceCount + 1) >> 1;
  memory.fill(sums, 0, <usize>(slots * pairs * SUM_BYTES));
}

/** Finds the cheapest map at each price, as far as the records go. */
export function pass(): void {
  const one = f64x2.splat(1);
  const stride = pairs * SUM_BYTES;
  const end = records + <usize>(count * RECORD_BYTES);
  for (let record = records; record < end; record += RECORD_BYTES) {
    let own = sums + <usize>(load<i32>(record) * stride);
    let above = sums + <usize>(load<i32>(record, PARENT_AT) * stride);
    const rows = v128.load64_splat(record, ROWS_AT);
    const missesWithin = v128.load64_splat(record, MISSES_AT);
    const ownEnd = own + stride;
    let price = prices;
    do {
      const open = f64x2.add(rows, v128.load(own));
      const openMisses = v128.load(own, MISSES);
      v128.store(own, f64x2.splat(0));
      v128.store(own, f64x2.splat(0), MISSES);
      const costs = f64x2.mul(v128.load(price), f64x2.sub(open, one));
      const isRolledUp = f64x2.lt(missesWithin, f64x2.add(costs, openMisses));
      const left = v128.bitselect(one, open, isRolledUp);
      const misses = v128.bitselect(missesWithin, openMisses, isRolledUp);
      v128.store(above, f64x2.add(v128.load(above), left));
      v128.store(above, f64x2.add(v128.load(above, MISSES), misses), MISSES);
      own += SUM_BYTES;
      above += SUM_BYTES;
      price += 16;
    } while (own < ownEnd);
  }
}

export function rowsAt(price: i32): f64 {
  return load<f64>(sumsAt(price));
}

export function missesAt(price: i32): f64 {
  return load<f64>(sumsAt(price), MISSES);
}

@inline
function sumsAt(price: i32): usize {
  return sums + <usize>((price >> 1) * SUM_BYTES + ((price & 1) << 3));
}
