import type { ReadMap } from "../compact/budget-compaction.ts";
import { feedRows } from "../compact/compact-map.ts";
import type { SpillStore } from "../files/scratch.ts";
import { UkvsHeaders } from "../ukvs/header.ts";
import type { HostProfiles } from "./host-profiles.ts";
import { NameLog } from "./name-log.ts";
import { NameScan } from "./name-scan.ts";

/** The parts of a map to pack. */
export interface ScannedMap {
  readonly headers: UkvsHeaders;
  /** Whether names of pages include queries. */
  readonly queries: boolean;
  /** Rows of the map. */
  readonly rows: number;
  readonly profiles: HostProfiles;
  readonly names: NameLog;
}

export interface ScanOptions {
  /** Named in errors. */
  readonly source: string;
  /** Approximate size of the map. */
  readonly bytes: number;
  /** Names beyond this go to a spill store. */
  readonly memoryBytes: number;
  readonly newSpill: () => SpillStore;
}

/** Approximate bytes of a row; names per partition, and their limit. */
const ROW_BYTES = 64;
const PARTITION_NAMES = 2 ** 17;
const MAX_PARTITION_BITS = 8;

/**
 * Reads a map sorted by bytes; twice if it has voids of domains that were not passed: the hosts in such domains are
 * known only after all of these voids.
 *
 * @throws as feedRows
 */
export async function scanMap(
  read: ReadMap,
  options: ScanOptions,
  voidDomains?: readonly string[],
): Promise<ScannedMap> {
  const { source, bytes, memoryBytes, newSpill } = options;
  const partitionBits = Math.ceil(Math.log2(bytes / ROW_BYTES / PARTITION_NAMES));
  const partitions = 2 ** Math.max(0, Math.min(MAX_PARTITION_BITS, partitionBits));
  const names = new NameLog(partitions, memoryBytes, newSpill);
  let headers = new UkvsHeaders();
  let scan: NameScan | undefined;
  let rows = 0;
  const feeding = feedRows(read(), source, (ofMap) => {
    headers = ofMap;
    const queries = headers.fields.queries === true;
    return (scan = new NameScan({ queries, voidDomains: voidDomains ?? [], names }));
  });
  for await (const read of feeding) rows = read;
  if (scan === undefined) throw new Error("a map has a head");
  const { profiles } = scan;
  if (voidDomains === undefined && profiles.voidDomains.length > 0) {
    return scanMap(read, options, profiles.voidDomains);
  }
  return { headers, queries: headers.fields.queries === true, rows, profiles, names };
}
