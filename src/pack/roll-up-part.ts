import { closeSync, openSync, writeSync } from "node:fs";
import { ioError, systemCode } from "../errors.ts";
import { ScratchSpill } from "../files/scratch.ts";
import type { Fields } from "../ukvs/header.ts";
import { MapLines } from "../compact/map-lines.ts";
import { openCompactor } from "../compact/tree-order.ts";
import { ChosenNodes } from "../compact/weight-policy.ts";
import { BLOCK_BYTES, readBlocks, tooLong } from "./line-blocks.ts";

/** A part of an uncompressed map file, to be rolled up into a file of its own. */
export interface RollUpTask {
  readonly path: string;
  /** Named in errors. */
  readonly source: string;
  /** The part begins and ends at line ends, where a cut is safe. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
  /** Names of the nodes to roll up. */
  readonly chosen: Iterable<number>;
  readonly target: string;
}

export interface RolledUpPart {
  /** Whether the map spells a key otherwise than it was written: it may belong into another part. */
  readonly hasRespelled: boolean;
}

/**
 * Rolls up one part. Lines in errors are counted from the start of the part.
 *
 * Holds a read buffer, the longest line and what is undecided (16 MiB at most).
 */
export function rollUpPart(task: RollUpTask): RolledUpPart {
  const { source, fields, target } = task;
  const spill = new ScratchSpill(`${target}.spill`);
  const input = openFile(task.path, "r");
  const output = openFile(target, "w");
  const write = (block: Uint8Array): void => {
    for (let at = 0; at < block.length;) at += writeSync(output, block, at);
  };
  try {
    const compactor = openCompactor(new ChosenNodes(task.chosen), write, { fields, spill });
    const lines = new MapLines(compactor, fields);
    const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    readBlocks(input, task, buffer, (length, isWhole) => {
      if (!isWhole) throw tooLong(source, lines.lines + 1);
      lines.read(buffer.subarray(0, length), { source, firstLine: 1 });
      return true;
    });
    compactor.end();
    return { hasRespelled: lines.hasRespelled };
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, target);
  } finally {
    closeSync(output);
    closeSync(input);
    spill.close();
  }
}

function openFile(path: string, flags: "r" | "w"): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw ioError(error, path);
  }
}
