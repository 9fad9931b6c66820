import type { BudgetKernels } from "../budget/kernels.ts";
import { CompactKernel } from "./compact-kernel.ts";
import { openSolver } from "./solve-kernel.ts";
import { SurveyKernel } from "./survey-kernel.ts";

const BLOCK_BYTES = 1 << 20;

/** The kernels of budgets; where they have not been built, TypeScript does all the work. */
export const budgetKernels: BudgetKernels = {
  survey: (table, misses) => SurveyKernel.open(table, misses, BLOCK_BYTES),
  solver: openSolver,
  compact: (policy, write) => CompactKernel.open(policy, BLOCK_BYTES, write),
};
