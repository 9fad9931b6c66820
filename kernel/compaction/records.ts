// The records of closed nodes: a page of columns, as src/map/compact/budget/budget-survey.ts has them.

/** Takes the first records of the page. */
@external("env", "takePage")
declare function takePage(records: i32): void;

export const PAGE_RECORDS: i32 = 4096;
export const page: usize = memory.data(8 * 18 * 4096, 16);
/** Records on the page, and on those before it. */
let records: i32 = 0;
let recordsBefore: i32 = 0;

/** Begins a record; returns where the first number of it goes. */
export function startRecord(): usize {
  if (records == PAGE_RECORDS) endRecords();
  records++;
  return page + (<usize>(records - 1) << 3);
}

/** The number of the record that was begun last, counted from 0. */
export function lastRecord(): i32 {
  return recordsBefore + records - 1;
}

/** Sets a number of a record. */
@inline
export function setNumber(record: usize, column: i32, number: f64): void {
  store<f64>(record + (<usize>(column * PAGE_RECORDS) << 3), number);
}

/** Hands out the page as far as it is filled. */
export function endRecords(): void {
  if (records > 0) takePage(records);
  recordsBefore += records;
  records = 0;
}
