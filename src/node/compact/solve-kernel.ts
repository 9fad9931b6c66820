import type { NodeTable } from "../../compact/budget/node-table.ts";
import { FIELD } from "../../compact/budget/node-table.ts";
import type { Solution } from "../../compact/budget/solve.ts";
import { startCompactKernel } from "./kernel-rows.ts";

/** Larger tables stay where they are: 64 MiB in the kernel. */
const MAX_RECORDS = 2 ** 26 / 24;

/**
 * Copies what a pass over the table needs into a kernel, and gives a function that finds the cheapest
 * map at a price there, as `solve` does. Undefined where there is no kernel, or the table is too large.
 *
 * Holds 24 bytes a record.
 */
export function openSolver(table: NodeTable): ((price: number) => Solution) | undefined {
  if (table.size > MAX_RECORDS) return undefined;
  const exports = startCompactKernel({});
  if (exports === undefined) return undefined;
  exports.openTable(table.size, table.slots);
  const { buffer } = exports.memory;
  const slots = new Int32Array(buffer, exports.slotColumn(), table.size);
  const parents = new Int32Array(buffer, exports.parentColumn(), table.size);
  const open = new Float64Array(buffer, exports.openColumn(), table.size);
  const misses = new Float64Array(buffer, exports.missesColumn(), table.size);
  table.forEachPage((page, first, count) => {
    for (let at = 0; at < count; at++) {
      slots[first + at] = page[at + FIELD.slot];
      parents[first + at] = page[at + FIELD.parent];
      open[first + at] = page[at + FIELD.rows] + page[at + FIELD.singles];
      misses[first + at] = page[at + FIELD.missesWithin];
    }
  });
  return (price) => {
    exports.solve(price);
    const rows = exports.solvedRows();
    return { rows, pricedRows: rows, misses: exports.solvedMisses() };
  };
}
