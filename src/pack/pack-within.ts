import { flatLayout, type PackedLayout, tableLayout } from "./layout.ts";
import type { PackLanes } from "./pack-job.ts";
import { type Prospect, tooSmall } from "./pack-plan.ts";
import {
  countNames,
  countRows,
  estimatedBytes,
  type PackedInfo,
  packNames,
  SLOTS_PER_NAME,
} from "./packing.ts";
import { LIST } from "./name-log.ts";
import type { ScannedMap } from "./scan-map.ts";
import type { MapPart } from "./map-rows.ts";
import { ShardStore } from "./shard-store.ts";

/** The share of the bytes that may stay unused. */
const MAX_SLACK = 0.01;
const MAX_TRIES = 6;
const MAX_ESTIMATES = 3;
const MAX_WIDTH = 255;

/** A packed map that is complete, and not yet written. */
export class PackedBytes {
  readonly layout: PackedLayout;
  readonly #head: Uint8Array;
  readonly #store: ShardStore;

  constructor(head: Uint8Array, layout: PackedLayout, store: ShardStore) {
    this.layout = layout;
    this.#head = head;
    this.#store = store;
  }

  get size(): number {
    return this.#head.length + this.#store.bytes;
  }

  *chunks(): Generator<Uint8Array, void, undefined> {
    yield this.#head;
    yield* this.#store.data();
  }

  /** All of it. */
  bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.chunks()) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  /**
   * Asks for all that parts of a map hold; gives the number of keys that are not found.
   *
   * Holds all of the packed map, on each thread.
   */
  async ask(
    parts: readonly MapPart[],
    { headers }: ScannedMap,
    lanes: PackLanes,
    onRead?: (bytes: number) => void,
  ): Promise<number> {
    await lanes.useFile(this.bytes(), parts[0].source);
    const results = await lanes.run(parts, async (lane, part) => {
      const result = await lane.ask(part, headers.fields);
      onRead?.(part.end - part.start);
      return result;
    });
    return results.reduce((sum, lost) => sum + lost, 0);
  }

  /** Forgets all. */
  close(): void {
    this.#store.close();
  }
}

export interface PackWithinOptions {
  readonly info: PackedInfo;
  readonly prospect: Prospect;
  /** Whether the bits of a row are given. */
  readonly isFixed: boolean;
  readonly lanes: PackLanes;
  /** What the names of scratch files begin with, for what exceeds the memory. */
  readonly scratch: string;
  readonly memoryBytes: number;
  /** Notified of the share of the shards that was built, in the first attempt. */
  readonly onBuilt?: ((share: number) => void) | undefined;
}

/** Packs the names of a map, again and again until the file is nearly as large as it may be. */
export async function packWithin(
  map: ScannedMap,
  options: PackWithinOptions,
): Promise<PackedBytes> {
  const { prospect, lanes, isFixed } = options;
  const { profiles } = map;
  const { fingerprintBits, hasDescriptors } = prospect;
  const layoutWith = (width: number): PackedLayout =>
    fingerprintBits === 0
      ? flatLayout(profiles, width)
      : tableLayout(profiles, width, fingerprintBits, hasDescriptors);
  let width = Math.round(8 * prospect.bits);
  // To build is most of the work, so the size is estimated first.
  if (!isFixed && prospect.bytes < Infinity) width = fittingWidth(map, width, layoutWith, prospect);
  let best: PackedBytes | undefined;
  // Without a table and without bits, every lookup would find something.
  let [fitting, tooLarge] = [prospect.fingerprintBits === 0 ? 0 : -1, 256];
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const layout = layoutWith(width);
    const store = new ShardStore(`${options.scratch}-${attempt}`, options.memoryBytes);
    const onBuilt = attempt === 0 ? options.onBuilt : undefined;
    const head = await packNames(map, layout, options.info, { lanes, store, onBuilt });
    const packed = new PackedBytes(head, layout, store);
    if (isFixed || prospect.bytes === Infinity) return packed;
    const { size } = packed;
    const fits = size <= prospect.bytes;
    if (fits && (best === undefined || layout.width > best.layout.width)) {
      best?.close();
      best = packed;
    } else {
      packed.close();
    }
    if (fits && size >= prospect.bytes * (1 - MAX_SLACK)) break;
    const step = Math.floor((prospect.bytes - size) / bytesOfAnEighth(map, layout));
    if (fits && step === 0) break;
    if (fits) fitting = Math.max(fitting, width);
    else tooLarge = Math.min(tooLarge, width);
    if (tooLarge - fitting <= 1) break;
    const next = width + (step === 0 ? -1 : step);
    const isBetween = next > fitting && next < tooLarge;
    width = isBetween ? next : (fitting + tooLarge) >> 1;
  }
  if (best !== undefined) return best;
  // Without a table, all rows would have the bits that rows of hosts with voids have.
  if (prospect.fingerprintBits !== 0 && countNames(map, LIST.voids) === 0) {
    // It is smallest without a table.
    return packWithin(map, { ...options, prospect: { ...prospect, fingerprintBits: 0 } });
  }
  throw tooSmall(prospect.bytes);
}

/**
 * The largest width of which the file is about as small as it may be. If it turns out too large, the next smaller
 * one is built; a smaller one at first would have to be followed by this one.
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

/** What one more eighth of a bit for every row takes. */
function bytesOfAnEighth(map: ScannedMap, layout: PackedLayout): number {
  return Math.max((countRows(map, layout) * SLOTS_PER_NAME) / 64, 1e-9);
}
