import type { NodeTable } from "../budget/node-table.ts";
import { FIELD } from "../budget/node-table.ts";
import type { Decision, Solve } from "../budget/solve.ts";
import { DECISION } from "../budget/solve.ts";
import { startCompactKernel } from "./kernel-rows.ts";

/** What a pass reads, in the order of the kernel's columns; two more keep a solution. */
const READ = [FIELD.slot, FIELD.parent, FIELD.rows, FIELD.singles, FIELD.missesWithin];
const DECISION_COLUMN = READ.length;
const LEFT_COLUMN = READ.length + 1;
/** Larger tables stay where they are: 64 MiB in the kernel. */
const MAX_RECORDS = 2 ** 26 / (8 * (READ.length + 2));

/**
 * Copies what a pass over the table needs into a kernel, and gives a function that does there what
 * `solve` does. Undefined where there is no kernel, or the table is too large.
 *
 * Holds 56 bytes a record.
 */
export function openSolver(table: NodeTable): Solve | undefined {
  if (table.size > MAX_RECORDS) return undefined;
  const exports = startCompactKernel({});
  if (exports === undefined) return undefined;
  const { size } = table;
  exports.openTable(size, table.slots);
  const column = (number: number): Float64Array =>
    new Float64Array(exports.memory.buffer, exports.tableColumns() + number * size * 8, size);
  table.forEachPage((page, first, count) => {
    for (const [number, field] of READ.entries()) {
      column(number).set(page.subarray(field, field + count), first);
    }
  });
  const keep = (decision: Decision): void => {
    const [decisions, left] = [column(DECISION_COLUMN), column(LEFT_COLUMN)];
    table.forEachPage((page, first, count) => {
      page.set(decisions.subarray(first, first + count), FIELD.decision);
      if (decision === DECISION.below) page.set(left.subarray(first, first + count), FIELD.scratch);
      else page.fill(1, FIELD.rolledUpRows, FIELD.rolledUpRows + count);
    });
  };
  return (price, decision = DECISION.none) => {
    exports.solve(price, decision);
    const rows = exports.solvedRows();
    if (decision !== DECISION.none) keep(decision);
    return { rows, pricedRows: rows, misses: exports.solvedMisses() };
  };
}
