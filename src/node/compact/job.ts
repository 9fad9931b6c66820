import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { LF } from "../../bytes/ascii.ts";
import { MAX_LINE_BYTES } from "../../bytes/whole-lines.ts";
import { Compactor } from "../../compact/compactor.ts";
import { MapLines } from "../../compact/map-lines.ts";
import type { WeightOptions } from "../../compact/weight-policy.ts";
import { WeightPolicy } from "../../compact/weight-policy.ts";
import { MementoMapError } from "../../errors.ts";
import type { Fields } from "../../ukvs/header.ts";
import { ioError } from "../io-error.ts";
import { ScratchSpill } from "../scratch-spill.ts";

/** A part of an uncompressed map file, to be compacted into a file of its own. */
export interface CompactTask {
  readonly path: string;
  /** The part begins and ends at line ends, where a cut is safe. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
  readonly weights: WeightOptions;
  readonly target: string;
}

export interface CompactResult {
  readonly lines: number;
  readonly rows: number;
  readonly rollUps: number;
  readonly bytes: number;
}

const READ_BYTES = 1 << 20;

/**
 * Compacts one part. Lines in errors are counted from the start of the part.
 *
 * Holds a read buffer, the longest line and what is undecided (16 MiB at most).
 */
export function compactPart(task: CompactTask): CompactResult {
  const input = openSync(task.path, "r");
  const output = openTarget(task.target);
  const spill = new ScratchSpill(`${task.target}.spill`);
  let bytes = 0;
  const write = (block: Uint8Array): void => {
    bytes += block.length;
    for (let at = 0; at < block.length;) at += writeSync(output, block, at);
  };
  try {
    const compactor = new Compactor(new WeightPolicy(task.weights), write, {
      keyColumns: task.fields.keys.length,
      spill,
    });
    const lines = new MapLines(compactor, task.fields);
    readRange(input, task, lines);
    compactor.end();
    return { lines: lines.lines, rows: lines.rows, rollUps: compactor.rollUps, bytes };
  } catch (error) {
    throw ioError(error, task.target);
  } finally {
    spill.close();
    closeSync(output);
    closeSync(input);
  }
}

function openTarget(path: string): number {
  try {
    return openSync(path, "wx");
  } catch (error) {
    throw ioError(error, path);
  }
}

function readRange(file: number, { path, start, end }: CompactTask, lines: MapLines): void {
  const place = { source: path, firstLine: 1 };
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES + MAX_LINE_BYTES);
  let offset = start;
  let held = 0;
  while (offset < end) {
    const wanted = Math.min(buffer.length - held, READ_BYTES, end - offset);
    const read = readSync(file, buffer, held, wanted, offset);
    if (read === 0) {
      throw new MementoMapError("MM_IO", "the file became shorter while it was read", {
        position: { source: path },
      });
    }
    offset += read;
    const filled = held + read;
    const whole = offset === end ? filled : buffer.subarray(0, filled).lastIndexOf(LF) + 1;
    if (whole === 0 && filled > MAX_LINE_BYTES) throw tooLong(path, lines.lines + 1);
    lines.read(buffer, 0, whole, place);
    buffer.copyWithin(0, whole, filled);
    held = filled - whole;
  }
}

function tooLong(source: string, line: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the line is longer than ${MAX_LINE_BYTES} bytes`, {
    position: { source, line },
  });
}
