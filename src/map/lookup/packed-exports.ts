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
    step: number,
    hostWildcards: number,
    hostSpreads: number,
  ): void;
  addFilter(set: number, firstShard: number, shards: number, bits: number): void;
  findSurt(length: number): number;
  findUri(length: number): number;
}

const DESCRIPTORS_START = 32;

/**
 * Puts a packed map into the memory of a kernel, and checks it; undefined where the kernel is not built, or
 * does not take the map: it has deltas. The lookup reads the same bytes.
 *
 * @throws as `PackedLookup.of`
 */
export function startPackedKernel(
  file: Uint8Array,
  source: string,
  { inputBytes, outputBytes }: { readonly inputBytes: number; readonly outputBytes: number },
): { readonly exports: PackedExports; readonly lookup: PackedLookup } | undefined {
  const { heads } = parseParts(file, source);
  if (heads.length > 1) return undefined;
  // What kernel/packed.ts exports.
  const exports = startKernel("packed", {}) as PackedExports | undefined;
  if (exports === undefined) return undefined;
  const start = exports.openMap(file.length, inputBytes, outputBytes);
  const bytes = new Uint8Array(exports.memory.buffer, start, file.length);
  bytes.set(file);
  openHead(exports, heads[0]);
  return { exports, lookup: PackedLookup.within(bytes, source) };
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
