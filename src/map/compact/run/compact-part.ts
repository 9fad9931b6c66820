import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { countLines, LF } from "../../../bytes/bytes.ts";
import { MAX_LINE_BYTES } from "../../../bytes/lines.ts";
import { openCompactor } from "../tree-order.ts";
import { MapLines } from "../map-lines.ts";
import { type WeightOptions, WeightPolicy } from "../weight-policy.ts";
import { ioError, MementoMapError, systemCode } from "../../../errors.ts";
import { type Fields, hasPlainFields } from "../../../ukvs/header.ts";
import { becameShorter } from "../../../files/input-file.ts";
import { ScratchSpill } from "../../../files/scratch.ts";
import { CompactKernel } from "./compact-kernel.ts";

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

const READ_BYTES = 1 << 20;

/**
 * Compacts one part. Lines in errors are counted from the start of the part.
 *
 * Holds a read buffer, the longest line and what is undecided (16 MiB at most).
 */
export function compactPart(task: CompactTask): CompactResult {
  const policy = new WeightPolicy(task.weights);
  return compactPlainRows(task, policy) ?? compactAnyRows(task, policy);
}

/** By the kernel; undefined where there is none, or a row is not for it. */
function compactPlainRows(task: CompactTask, policy: WeightPolicy): CompactResult | undefined {
  if (!hasPlainFields(task.fields)) return undefined;
  const { result, bytes } = withFiles(task, (input, write) => {
    const kernel = CompactKernel.open(policy, READ_BYTES + MAX_LINE_BYTES, write);
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

function compactAnyRows(task: CompactTask, policy: WeightPolicy): CompactResult {
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
      const buffer = Buffer.allocUnsafeSlow(READ_BYTES + MAX_LINE_BYTES);
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

/**
 * Reads a part block by block into `buffer` and gives the length of the whole lines in it to `take`,
 * until that returns false. A line that does not fit is given as far as it does, and said not to be
 * whole.
 */
function readBlocks(
  file: number,
  { source, start, end }: CompactTask,
  buffer: Uint8Array,
  take: (length: number, isWhole: boolean) => boolean,
): boolean {
  let offset = start;
  let held = 0;
  while (offset < end) {
    const wanted = Math.min(buffer.length - held, READ_BYTES, end - offset);
    const read = readSync(file, buffer, held, wanted, offset);
    if (read === 0) {
      throw becameShorter(source);
    }
    offset += read;
    const filled = held + read;
    const whole = offset === end ? filled : buffer.subarray(0, filled).lastIndexOf(LF) + 1;
    if (whole === 0 && filled === buffer.length) return take(filled, false);
    if (whole > 0 && !take(whole, true)) return false;
    buffer.copyWithin(0, whole, filled);
    held = filled - whole;
  }
  return true;
}

function tooLong(source: string, line: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the line is longer than ${MAX_LINE_BYTES} bytes`, {
    position: { source, line },
  });
}
