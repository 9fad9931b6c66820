import { closeSync, openSync, writeSync } from "node:fs";
import { countLines } from "../../../bytes/bytes.ts";
import { EdgePolicy, type Edges } from "../edges.ts";
import { ChosenPolicy, type NodeNames } from "../budget/kernels.ts";
import { openCompactor } from "../tree-order.ts";
import { MapLines } from "../map-lines.ts";
import { type RollUpPolicy, type WeightOptions, WeightPolicy } from "../weight-policy.ts";
import { ioError, systemCode } from "../../../errors.ts";
import { type Fields, hasPlainFields } from "../../../ukvs/header.ts";
import { ScratchSpill } from "../../../files/scratch.ts";
import { CompactKernel } from "./compact-kernel.ts";
import { BLOCK_BYTES, readBlocks, tooLong } from "./line-blocks.ts";

/** A part of an uncompressed map file, to be compacted into a file of its own. */
export interface CompactTask {
  readonly path: string;
  /** Named in errors. */
  readonly source: string;
  /** The part begins and ends at line ends, where a cut is safe. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
  readonly weights: WeightOptions;
  /** Names of the nodes to roll up, in place of weights. */
  readonly chosen?: NodeNames | undefined;
  /** Of the part of a map that the file is, if it is not whole. */
  readonly edges?: Edges | undefined;
  readonly target: string;
}

export interface CompactResult {
  readonly lines: number;
  /** Rows read. */
  readonly rows: number;
  readonly rollUps: number;
  /** What was written. */
  readonly bytes: number;
  readonly rowsWritten: number;
  /** Whether the map spells a key otherwise than it was written: it may belong into another part. */
  readonly hasRespelled: boolean;
}

/**
 * Compacts one part. Lines in errors are counted from the start of the part.
 *
 * Holds a read buffer, the longest line and what is undecided (16 MiB at most).
 */
export function compactPart(task: CompactTask): CompactResult {
  const { edges, chosen } = task;
  const policy = chosen === undefined ? new WeightPolicy(task.weights) : new ChosenPolicy(chosen);
  return (
    compactPlainRows(task, policy) ??
    compactAnyRows(task, edges === undefined ? policy : new EdgePolicy(policy, edges))
  );
}

/** By the kernel; undefined where there is none, or a row is not for it. */
function compactPlainRows(
  task: CompactTask,
  policy: WeightPolicy | ChosenPolicy,
): CompactResult | undefined {
  if (!hasPlainFields(task.fields)) return undefined;
  const { result, bytes } = withFiles(task, (input, write) => {
    const kernel = CompactKernel.open(policy, BLOCK_BYTES, write, task.edges);
    if (kernel === undefined) return undefined;
    const { block } = kernel;
    const isDone = readBlocks(
      input,
      task,
      block,
      (length, isWhole) => isWhole && kernel.takeBlock(length),
    );
    if (!isDone || !kernel.finish()) return undefined;
    const { rows, rollUps, rowsWritten } = kernel;
    return { lines: rows, rows, rollUps, rowsWritten, hasRespelled: false };
  });
  return result === undefined ? undefined : { ...result, bytes };
}

function compactAnyRows(task: CompactTask, policy: RollUpPolicy): CompactResult {
  const spill = new ScratchSpill(`${task.target}.spill`);
  try {
    const { result, bytes } = withFiles(task, (input, write) => {
      let rowsWritten = 0;
      const counted = (rows: Uint8Array): void => {
        rowsWritten += countLines(rows);
        write(rows);
      };
      const compactor = openCompactor(policy, counted, {
        fields: task.fields,
        spill,
      });
      const lines = new MapLines(compactor, task.fields);
      const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const place = { source: task.source, firstLine: 1 };
      readBlocks(input, task, buffer, (length, isWhole) => {
        if (!isWhole) throw tooLong(task.source, lines.lines + 1);
        lines.read(buffer.subarray(0, length), place);
        return true;
      });
      compactor.end();
      const { rollUps } = compactor;
      const { rows, hasRespelled } = lines;
      return { lines: lines.lines, rows, rollUps, rowsWritten, hasRespelled };
    });
    return { ...result, bytes };
  } finally {
    spill.close();
  }
}

/** Runs `use` with the files of a task; gives its result and the number of bytes written. */
function withFiles<Result>(
  task: CompactTask,
  use: (input: number, write: (bytes: Uint8Array) => void) => Result,
): { readonly result: Result; readonly bytes: number } {
  const input = openFile(task.path, "r");
  const output = openFile(task.target, "w");
  let bytes = 0;
  try {
    const result = use(input, (block) => {
      bytes += block.length;
      for (let at = 0; at < block.length;) at += writeSync(output, block, at);
    });
    return { result, bytes };
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, task.target);
  } finally {
    closeSync(output);
    closeSync(input);
  }
}

function openFile(path: string, flags: "r" | "w"): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw ioError(error, path);
  }
}
