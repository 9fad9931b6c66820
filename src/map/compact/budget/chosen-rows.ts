import { Compactor } from "../compactor.ts";
import { MapLines } from "../map-lines.ts";
import { ChosenPolicy } from "./chosen-policy.ts";
import type { BudgetKernels } from "./kernels.ts";
import type { RowBlock } from "./row-blocks.ts";
import { hasPlainFields, rowBlocks } from "./row-blocks.ts";
import type { ReadMap } from "./survey-map.ts";

const ALL = Number.POSITIVE_INFINITY;

export interface ChosenRowsOptions {
  /** Named in errors. */
  readonly source: string;
  readonly kernels?: BudgetKernels | undefined;
}

/**
 * Rolls up chosen nodes: gives the rows of the smaller map, in blocks of whole ones.
 *
 * Reads the map once, or from the start again if a kernel gives up. Holds what is not decided yet:
 * the pages of a host of which it is not known whether it has chosen sub-domains.
 *
 * @throws as surveyMap
 */
export async function* chosenRows(
  read: ReadMap,
  chosen: readonly number[],
  options: ChosenRowsOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { source, kernels } = options;
  const policy = new ChosenPolicy(chosen);
  let given = yield* plainRows(rowBlocks(read(), source), policy, kernels);
  if (given === ALL) return;
  // The bytes are the same: what was given already is passed over.
  for await (const block of anyRows(rowBlocks(read(), source), policy, source)) {
    if (given < block.length) yield block.subarray(given);
    given = Math.max(0, given - block.length);
  }
}

/** By a kernel; returns how many bytes it gave before it gave up, or ALL. */
async function* plainRows(
  blocks: AsyncIterable<RowBlock>,
  policy: ChosenPolicy,
  kernels: BudgetKernels | undefined,
): AsyncGenerator<Uint8Array, number, undefined> {
  const written: Uint8Array[] = [];
  let given = 0;
  const kernel = kernels?.compact(policy, (bytes) => {
    given += bytes.length;
    written.push(bytes.slice());
  });
  if (kernel === undefined) return given;
  for await (const { headers, bytes, isFirst } of blocks) {
    if (isFirst && !hasPlainFields(headers.fields)) return given;
    const isTaken = kernel.take(bytes);
    yield* written.splice(0);
    if (!isTaken) return given;
  }
  const isDone = kernel.finish();
  yield* written.splice(0);
  return isDone ? ALL : given;
}

async function* anyRows(
  blocks: AsyncIterable<RowBlock>,
  policy: ChosenPolicy,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const written: Uint8Array[] = [];
  let compactor: Compactor | undefined;
  let lines: MapLines | undefined;
  for await (const { headers, headLines, bytes } of blocks) {
    const { fields } = headers;
    compactor ??= new Compactor(policy, (rows) => void written.push(rows.slice()), { fields });
    lines ??= new MapLines(compactor, fields);
    lines.read(bytes, 0, bytes.length, { source, firstLine: headLines + 1 });
    yield* written.splice(0);
  }
  compactor?.end();
  yield* written.splice(0);
}
