import { flatLayout, type PackedLayout, tableLayout } from "./layout.ts";
import { NAME } from "./name-log.ts";
import { type Prospect, tooSmall } from "./pack-plan.ts";
import type { ScannedMap } from "./scan-map.ts";
import {
  countRows,
  estimatedBytes,
  type PackedInfo,
  packNames,
  SLOTS_PER_NAME,
  type WritePackedOptions,
} from "./write-packed.ts";

/** The fraction of the bytes that may stay unused. */
const MAX_SLACK = 0.01;
const MAX_TRIES = 6;
const MAX_ESTIMATES = 3;
const MAX_WIDTH = 255;

/** A complete packed map in memory. */
export interface PackedFile {
  readonly bytes: Uint8Array;
  readonly layout: PackedLayout;
}

export interface PackWithinOptions extends WritePackedOptions {
  readonly info: PackedInfo;
  readonly prospect: Prospect;
  /** Whether the bits per row are fixed by the caller. */
  readonly isFixed: boolean;
}

/** Packs the names of a map repeatedly until the file nearly fills the allowed size. */
export async function packWithin(map: ScannedMap, options: PackWithinOptions): Promise<PackedFile> {
  const { prospect, isFixed, signal } = options;
  const { profiles } = map;
  const { bytes: maxBytes, fingerprintBits, hasDescriptors } = prospect;
  const layoutWith = (width: number): PackedLayout =>
    fingerprintBits === 0
      ? flatLayout(profiles, width)
      : tableLayout(profiles, width, fingerprintBits, hasDescriptors);
  let width = Math.round(8 * prospect.bits);
  const isSized = !isFixed && maxBytes < Infinity;
  // Building is most of the work, so the size is estimated first.
  if (isSized) width = fittingWidth(map, width, layoutWith, prospect);
  let best: PackedFile | undefined;
  // Without a table and without bits, every lookup would be a hit.
  let [fitting, tooLarge] = [fingerprintBits === 0 ? 0 : -1, MAX_WIDTH + 1];
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const layout = layoutWith(width);
    const onBuilt = attempt === 0 ? options.onBuilt : undefined;
    const bytes = await packNames(map, layout, options.info, { onBuilt, signal });
    if (!isSized) return { bytes, layout };
    const size = bytes.length;
    const fits = size <= maxBytes;
    if (fits && (best === undefined || layout.width > best.layout.width)) best = { bytes, layout };
    if (fits && size >= maxBytes * (1 - MAX_SLACK)) break;
    const step = Math.floor((maxBytes - size) / bytesOfAnEighth(map, layout));
    if (fits && step === 0) break;
    if (fits) fitting = Math.max(fitting, width);
    else tooLarge = Math.min(tooLarge, width);
    if (tooLarge - fitting <= 1) break;
    const next = width + (step === 0 ? -1 : step);
    const isBetween = next > fitting && next < tooLarge;
    width = isBetween ? next : (fitting + tooLarge) >> 1;
  }
  if (best !== undefined) return best;
  // Without a table, all rows would need the bits of rows of hosts with voids.
  if (fingerprintBits !== 0 && map.names.counts[NAME.void] === 0) {
    // It is smallest without a table.
    return packWithin(map, { ...options, prospect: { ...prospect, fingerprintBits: 0 } });
  }
  throw tooSmall(maxBytes);
}

/**
 * The largest width for which the file is estimated to fit. If it turns out too large, the next smaller one is built;
 * starting smaller would need a second build to check the larger one.
 */
function fittingWidth(
  map: ScannedMap,
  width: number,
  layoutWith: (width: number) => PackedLayout,
  { bytes }: Prospect,
): number {
  let found = width;
  for (let attempt = 0; attempt < MAX_ESTIMATES; attempt++) {
    const layout = layoutWith(found);
    const size = estimatedBytes(map, layout);
    const step = Math.floor((bytes - size) / bytesOfAnEighth(map, layout));
    if (step === 0) break;
    found = Math.max(0, Math.min(MAX_WIDTH, found + step));
  }
  return found;
}

/** The bytes taken by another eighth of a bit per row. */
function bytesOfAnEighth(map: ScannedMap, layout: PackedLayout): number {
  return Math.max((countRows(map, layout) * SLOTS_PER_NAME) / 64, 1e-9);
}
