import { startKernel } from "../../files/package-file.ts";
import type { PackedHead } from "../../packed/packed-file.ts";
import { parseParts } from "../../packed/packed-parts.ts";
import { MAX_BITS } from "../../packed/ribbon.ts";
import type { LineExports } from "./kernel-lines.ts";
import { PackedLookup } from "./packed-lookup.ts";

/** What kernel/packed.ts exports. */
export interface PackedExports extends LineExports {
  openMap(bytes: number, inputBytes: number, outputBytes: number): number;
  openHead(
    descriptors: number,
    descriptorCount: number,
    data: number,
    queries: number,
    fingerprintBits: number,
    descriptorBits: number,
    countBits: number,
    step: number,
    hostWildcards: number,
    hostSpreads: number,
  ): void;
  addFilter(set: number, firstShard: number, shards: number, bits: number): void;
  findSurt(length: number): number;
  findUri(length: number): number;
  askRows(from: number, length: number): number;
  absent(): number;
}

const DESCRIPTORS_START = 32;

/** Room for lines and for answers. */
interface KernelRoom {
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/**
 * Puts a packed map into the memory of a kernel, and checks it; undefined where the kernel is not built, or
 * does not take the map: it has deltas. The lookup reads the same bytes.
 *
 * @throws as `PackedLookup.of`
 */
export function startPackedKernel(
  file: Uint8Array,
  source: string,
  room: KernelRoom,
): { readonly exports: PackedExports; readonly lookup: PackedLookup } | undefined {
  const { heads } = parseParts(file, source);
  const kernel = heads.length > 1 ? undefined : startPartKernel(file, heads[0], room);
  return kernel && { ...kernel, lookup: PackedLookup.within(kernel.bytes, source) };
}

/** Puts one part of a packed map into the memory of a kernel; undefined where the kernel is not built. */
export function startPartKernel(
  part: Uint8Array,
  head: PackedHead,
  { inputBytes, outputBytes }: KernelRoom,
): { readonly exports: PackedExports; readonly bytes: Uint8Array } | undefined {
  // What kernel/packed.ts exports.
  const exports = startKernel("packed", {}) as PackedExports | undefined;
  if (exports === undefined) return undefined;
  const start = exports.openMap(part.length, inputBytes, outputBytes);
  const bytes = new Uint8Array(exports.memory.buffer, start, part.length);
  bytes.set(part);
  openHead(exports, head);
  return { exports, bytes };
}

function openHead(exports: PackedExports, { header, descriptors, dataStart }: PackedHead): void {
  const { table } = header;
  exports.openHead(
    DESCRIPTORS_START,
    descriptors.length,
    dataStart,
    header.queries ? 1 : 0,
    table.fingerprint,
    table.descriptor,
    table.count,
    table.count === 0 ? 0 : table.step,
    header.hostWildcards,
    header.hostSpreads,
  );
  let firstShard = 0;
  for (const { kind, bits, shards } of header.filters) {
    const set = { rows: bits, hosts: MAX_BITS + 1, voids: MAX_BITS + 2 }[kind];
    exports.addFilter(set, firstShard, shards, bits);
    firstShard += shards;
  }
}
