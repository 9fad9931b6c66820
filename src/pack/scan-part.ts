import type { Fields } from "../ukvs/header.ts";
import type { HostPart } from "./host-profiles.ts";
import { type MapPart, readMapRows } from "./map-rows.ts";
import { NameLists, NameLog, type NameLogPart } from "./name-log.ts";
import { NameScan, type RowKinds } from "./name-scan.ts";

/** A part whose names are wanted. */
export interface ScanTask extends MapPart {
  readonly fields: Fields;
  readonly kinds: RowKinds;
  /** Names are dealt out to this many lists, as a power of two; undefined if they are not wanted. */
  readonly partitionBits: number | undefined;
  /** Names beyond this go to `scratch`. */
  readonly memoryBytes: number;
  readonly scratch: string;
}

export interface ScanResult {
  readonly hosts: HostPart;
  readonly names: NameLogPart | undefined;
  readonly rows: number;
  /** Whether the map spells a key otherwise than it was taken: it may belong into another part. */
  readonly hasRespelled: boolean;
}

/**
 * Reads a part once. Lines in errors are counted from the start of the part.
 *
 * Holds a block, 15 bytes for each host, and names as far as they may stay in memory.
 */
export function scanPart(task: ScanTask): ScanResult {
  const { fields, kinds, partitionBits, memoryBytes } = task;
  const log =
    partitionBits === undefined ? undefined : new NameLog(partitionBits, memoryBytes, task.scratch);
  try {
    const lists = log === undefined ? undefined : new NameLists(log, partitionBits ?? 0);
    const scan = new NameScan(kinds, lists);
    const { rows, hasRespelled } = readMapRows(task, fields, scan);
    lists?.finish();
    scan.profiles.trim();
    return { hosts: scan.profiles, names: log?.finish(), rows, hasRespelled };
  } finally {
    log?.close();
  }
}
