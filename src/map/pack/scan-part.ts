import { closeSync, openSync } from "node:fs";
import { ioError } from "../../errors.ts";
import type { Fields } from "../../ukvs/header.ts";
import { MapLines } from "../compact/map-lines.ts";
import { blockBytesFor, readBlocks, tooLong } from "../compact/run/line-blocks.ts";
import type { HostPart, HostProfiles } from "./host-profiles.ts";
import { NameLists, NameLog, type NameLogPart } from "./name-log.ts";
import { NameScan } from "./name-scan.ts";
import { KeyTooLong, ScanKernel } from "./pack-kernel.ts";
import type { RowKinds } from "./row-name.ts";

/** A part of an uncompressed map file that begins and ends at line ends. */
export interface MapPart {
  readonly path: string;
  /** Named in errors. */
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** A part whose names are wanted. */
export interface ScanTask extends MapPart {
  readonly fields: Fields;
  readonly kinds: RowKinds;
  /** Names are dealt out to this many lists, as a power of two; undefined if they are not wanted. */
  readonly partitionBits: number | undefined;
  /** Names beyond this go to `scratch`. */
  readonly memoryBytes: number;
  readonly scratch: string;
  /** Whether a kernel does the work; by default for parts that are worth to start one. */
  readonly usesKernel?: boolean | undefined;
}

export interface ScanResult {
  readonly hosts: HostPart;
  readonly names: NameLogPart | undefined;
  readonly rows: number;
  /** Whether the map spells a key otherwise than it was taken: it may belong into another part. */
  readonly hasRespelled: boolean;
}

/** A kernel takes longer to start than less than this to read. */
const BYTES_WORTH_A_KERNEL = 2 ** 16;

/**
 * Reads a part once. Lines in errors are counted from the start of the part.
 *
 * Holds a block, 25 bytes for each host, and names as far as they may stay in memory.
 */
export function scanPart(task: ScanTask): ScanResult {
  try {
    return scanWith(task, task.usesKernel ?? task.end - task.start >= BYTES_WORTH_A_KERNEL);
  } catch (error) {
    if (!(error instanceof KeyTooLong)) throw error;
    return scanWith({ ...task, scratch: `${task.scratch}.long` }, false);
  }
}

function scanWith(task: ScanTask, usesKernel: boolean): ScanResult {
  const { fields, kinds, partitionBits, memoryBytes, source } = task;
  const log =
    partitionBits === undefined ? undefined : new NameLog(partitionBits, memoryBytes, task.scratch);
  const file = openFile(task.path);
  try {
    const isPlain = usesKernel && fields.values.length === 1;
    const blockBytes = blockBytesFor(task);
    const kernel = isPlain ? ScanKernel.open(kinds, log, partitionBits, blockBytes) : undefined;
    const lists = log === undefined ? undefined : new NameLists(log, partitionBits ?? 0);
    const scan = kernel ?? new NameScan(kinds, lists);
    const lines = new MapLines(scan, fields);
    const place = { source, firstLine: 1 };
    const block = kernel?.block ?? new Uint8Array(blockBytes);
    readBlocks(file, task, block, (length, isWhole) => {
      if (!isWhole) throw tooLong(source, lines.lines + 1);
      if (kernel === undefined) lines.read(block.subarray(0, length), place);
      else kernel.takeBlock(length, lines, place);
      return true;
    });
    const profiles: HostProfiles = kernel === undefined ? scan.profiles : kernel.finish();
    lists?.finish();
    profiles.trim();
    return {
      hosts: profiles,
      names: log?.finish(),
      rows: lines.rows,
      hasRespelled: lines.hasRespelled,
    };
  } finally {
    log?.close();
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw ioError(error, path);
  }
}
