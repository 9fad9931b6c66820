import { formatHead, parseHead } from "../../packed/packed-file.ts";
import { PackedNames } from "../../packed/packed-map.ts";
import { expectedLookups, lookupsOfSome } from "./host-lookups.ts";
import type { HostYears } from "./host-years.ts";
import { flatLayout, LayoutChooser } from "./layout.ts";
import type { AskResult } from "./held-check.ts";
import type { PackLanes } from "./pack-job.ts";
import { LOOKUPS_ELSEWHERE, type PackDemand, type Prospect, tooSmall } from "./pack-plan.ts";
import { Probes } from "./probes.ts";
import {
  countRows,
  estimatedBytes,
  type PackedInfo,
  type PackedLayout,
  packNames,
  SLOTS_PER_NAME,
} from "./packing.ts";
import type { ScannedMap } from "./scan-map.ts";
import type { MapPart } from "./scan-part.ts";
import { ShardStore } from "./shard-store.ts";

/** The share of the bytes that may stay unused. */
const MAX_SLACK = 0.01;
const MAX_TRIES = 6;
const MAX_ESTIMATES = 3;
const MAX_WIDTH = 255;

const NEW_FILE = "the packed map";

/** A packed map that is complete, and not yet written. */
export class PackedBytes {
  readonly layout: PackedLayout;
  #head: Uint8Array;
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
   * Asks for all that parts of a map hold.
   *
   * Holds all of the packed map, on each thread.
   */
  async ask(
    parts: readonly MapPart[],
    { headers }: ScannedMap,
    lanes: PackLanes,
    onRead?: (bytes: number) => void,
  ): Promise<AskResult> {
    await lanes.useFile(this.bytes(), parts[0].source);
    const results = await lanes.run(parts, async (lane, part) => {
      const result = await lane.ask(part, headers.fields);
      onRead?.(part.end - part.start);
      return result;
    });
    return {
      hidden: results.flatMap(({ hidden }) => hidden),
      lost: results.reduce((sum, { lost }) => sum + lost, 0),
    };
  }

  /** Writes into its head which years its periods stand for. */
  setPeriods(years: HostYears): void {
    const { periods } = this.layout;
    if (periods === undefined) return;
    const bytes = this.bytes();
    const head = parseHead(bytes, bytes.length, NEW_FILE);
    const names = PackedNames.within(bytes, head, NEW_FILE);
    const header = { ...head.header, periods: years.periodsIn(names, periods.count) };
    this.#head = formatHead(header, head.descriptors, head.shards);
  }

  /** Forgets all. */
  close(): void {
    this.#store.close();
  }
}

export interface PackWithinOptions {
  readonly info: PackedInfo;
  readonly prospect: Prospect;
  readonly demand: PackDemand | undefined;
  /** Whether the bits of a row are given. */
  readonly isFixed: boolean;
  /** The years of hosts, where they are kept. */
  readonly years?: HostYears | undefined;
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
  whole: ScannedMap,
  options: PackWithinOptions,
): Promise<PackedBytes> {
  const { prospect, demand, lanes, isFixed } = options;
  const { profiles } = map;
  const ofWhole = demand?.hostLookups ?? expectedLookups(whole.profiles, undefined, 0);
  const lookups = lookupsOfSome(profiles, whole.profiles, ofWhole);
  const notes = { ...prospect, periods: options.years?.numbersFor(profiles) };
  const layouts = layoutsOf(map, whole, lookups, notes, demand);
  let last: PackedLayout | undefined;
  const layoutWith = (width: number): PackedLayout => {
    if (last?.width !== width) last = layouts(width);
    return last;
  };
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
  if (prospect.fingerprintBits !== 0) {
    // It is smallest without a table.
    return packWithin(map, whole, { ...options, prospect: { ...prospect, fingerprintBits: 0 } });
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

/** Gives the best layout for each width. */
function layoutsOf(
  { profiles }: ScannedMap,
  whole: ScannedMap,
  lookups: Float64Array,
  { fingerprintBits, variesBits, ...notes }: Prospect & Pick<PackedLayout, "periods">,
  demand: PackDemand | undefined,
): (width: number) => PackedLayout {
  if (fingerprintBits === 0) return (width) => flatLayout(profiles, width);
  const all = lookups.reduce((sum, count) => sum + count, 0);
  const rows = Math.max(1, profiles.rowCount);
  // The plan knows what lookups of other hosts are worth: so many that these bits paid.
  const worth = (all * profiles.count * 2 ** (fingerprintBits ?? 16)) / rows;
  const elsewhere =
    demand?.isTrained === true ? demand.elsewhere : Math.min(LOOKUPS_ELSEWHERE * all, worth);
  const widthLookups =
    variesBits && demand !== undefined
      ? lookupsOfSome(profiles, whole.profiles, demand.widthLookups)
      : undefined;
  const wanted = { lookups, elsewhere, probes: new Probes(whole.profiles), widthLookups };
  const chooser = new LayoutChooser(profiles, wanted);
  return (width) => {
    // What the last bit of the rows saves, a bit of the table should save too.
    const price = (Math.LN2 * all * 2 ** (-width / 8)) / rows;
    return chooser.choose(width, price, notes, fingerprintBits);
  };
}
