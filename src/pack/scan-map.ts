import { closeSync } from "node:fs";
import { compareBytes } from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import { cutAfter, type FileSource } from "../files/input-file.ts";
import { checkSize, refuseNoRecords, type UkvsHeaders } from "../ukvs/header.ts";
import { headOf } from "../compact/compact-files.ts";
import { wholeMapHeaders } from "../ukvs/head.ts";
import type { MapNames } from "./build-shards.ts";
import { HostProfiles } from "./host-profiles.ts";
import type { PackLanes } from "./pack-job.ts";
import { OtherKeys } from "./present-keys.ts";
import { type MapPart, openFile } from "./map-rows.ts";
import type { RowKinds } from "./name-scan.ts";
import type { ScanResult, ScanTask } from "./scan-part.ts";

/** What is packed of a map. */
export interface ScannedMap {
  readonly headers: UkvsHeaders;
  /** Rows of the map. */
  readonly rows: number;
  readonly profiles: HostProfiles;
  readonly kinds: RowKinds;
  /** Undefined where they were not wanted. */
  readonly names: MapNames | undefined;
}

export interface ScanOptions {
  readonly lanes: PackLanes;
  readonly kinds: RowKinds;
  readonly wantsNames: boolean;
  /** Whether keys are taken as they are. */
  readonly hasPresentKeys?: boolean | undefined;
  /** Names beyond this go to files in `scratch`. */
  readonly memoryBytes: number;
  /** What the names of these files begin with. */
  readonly scratch: string;
  /** How large parts of the map and of the names are; chosen by the size of the map by default. */
  readonly cut?: ScanCut | undefined;
  /** Notified of the bytes that were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** How the work is cut; what is made does not depend on it. */
export interface ScanCut {
  readonly partBytes: number;
  readonly partitionBits: number;
}

/** A part is as large as this, or smaller so that no lane has to wait long for another. */
const PART_BYTES = 2 ** 26;
const LEAST_PART_BYTES = 2 ** 21;
const PARTS_PER_LANE = 8;
/** How far a good cut is looked for. */
const SEARCHED_BYTES = 2 ** 20;
/** Bytes of a row, about; and names that are dealt out together, with their limit. */
const ROW_BYTES = 64;
const PARTITION_NAMES = 2 ** 17;
const MAX_PARTITION_BITS = 8;

/**
 * Reads a map sorted by bytes once, in parts on all lanes; again in one part where something is wrong with
 * it, or where keys are spelled otherwise now.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place; MM_PAGE,
 *   MM_CUT, MM_EMPTY; OtherKeys
 */
export async function scanMap(source: FileSource, options: ScanOptions): Promise<ScannedMap> {
  const { path, name, size } = source;
  const { headers: read, recordsLine, recordsOffset, bodyOffset } = await headOf(source);
  const headers = wholeMapHeaders(read, name);
  checkSize(read.size, { bytes: size - bodyOffset }, name);
  const { lanes, cut } = options;
  const bits = cut?.partitionBits ?? partitionBitsFor(size - recordsOffset);
  const partitionBits = options.wantsNames ? bits : undefined;
  const scan = async (parts: readonly MapPart[], pass: string): Promise<ScanResult[]> => {
    const tasks = parts.map((part, i): ScanTask => ({
      ...part,
      fields: headers.fields,
      kinds: options.kinds,
      partitionBits,
      memoryBytes: Math.floor(options.memoryBytes / parts.length),
      scratch: `${options.scratch}-${pass}${i}`,
    }));
    return lanes.run(tasks, async (lane, task) => {
      const result = await lane.scan(task);
      options.onRead?.(task.end - task.start);
      return result;
    });
  };
  const parts = mapParts(source, recordsOffset, lanes.lanes.length, cut);
  const all = [{ path, source: name, start: recordsOffset, end: size }];
  let results = await scan(parts, "").catch((error: unknown) => {
    if (isMementoMapError(error) && error.position?.line !== undefined) return undefined;
    throw error;
  });
  if (results === undefined || (parts.length > 1 && results.some((one) => one.hasRespelled))) {
    results = await scan(all, "whole-").catch((error: unknown) => {
      throw withLinesBefore(error, recordsLine - 1);
    });
  }
  const rows = results.reduce((sum, result) => sum + result.rows, 0);
  checkSize(read.size, { bytes: size - bodyOffset, records: rows }, name);
  if (rows === 0) refuseNoRecords(read.size, name);
  const profiles = new HostProfiles();
  const named = results.flatMap(({ hosts, names }) => {
    const firstHost = profiles.append(hosts);
    return names === undefined ? [] : [{ names, firstHost }];
  });
  if (profiles.hasOtherKeys && options.hasPresentKeys !== true) throw new OtherKeys();
  const names = partitionBits === undefined ? undefined : { partitionBits, parts: named };
  return { headers, rows, profiles: profiles.finish(), kinds: options.kinds, names };
}

/** Cuts the rows of a map into parts: where a cut is good, or nowhere if that is far away. */
export function mapParts(
  { path, name, size }: FileSource,
  recordsOffset: number,
  lanes: number,
  cut?: ScanCut,
  {
    isGood = isInOrder,
    partsPerLane = PARTS_PER_LANE,
  }: {
    readonly isGood?: (before: Uint8Array, key: Uint8Array) => boolean;
    readonly partsPerLane?: number;
  } = {},
): MapPart[] {
  const bytes = size - recordsOffset;
  const shared = lanes === 1 ? 1 : Math.min(lanes * partsPerLane, bytes / LEAST_PART_BYTES);
  const wanted = Math.ceil(
    cut === undefined ? Math.max(shared, bytes / PART_BYTES) : bytes / cut.partBytes,
  );
  const cuts = [recordsOffset];
  if (wanted > 1) {
    const file = openFile(path);
    try {
      for (let part = 1; part < wanted; part++) {
        const at = recordsOffset + Math.floor((bytes * part) / wanted);
        const from = Math.max(at, cuts[cuts.length - 1]);
        const cut = cutAfter(file, from, Math.min(size, from + SEARCHED_BYTES), isGood);
        if (cut !== undefined) cuts.push(cut);
      }
    } finally {
      closeSync(file);
    }
  }
  return cuts.map((start, i) => ({ path, source: name, start, end: cuts[i + 1] ?? size }));
}

function isInOrder(before: Uint8Array, key: Uint8Array): boolean {
  return compareBytes(before, key) < 0;
}

function partitionBitsFor(bytes: number): number {
  const partitions = bytes / ROW_BYTES / PARTITION_NAMES;
  return Math.max(0, Math.min(MAX_PARTITION_BITS, Math.ceil(Math.log2(partitions))));
}

function withLinesBefore(error: unknown, lines: number): unknown {
  if (!isMementoMapError(error) || error.position?.line === undefined) return error;
  return error.at({ source: error.position.source, line: error.position.line + lines });
}
