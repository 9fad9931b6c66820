import { join } from "node:path";
import { BudgetCompaction, type ReadMap } from "../compact/budget-compaction.ts";
import { readMisses } from "../compact/budget-files.ts";
import { headOf } from "../compact/compact-files.ts";
import { feedRows } from "../compact/compact-map.ts";
import type { MissList } from "../compact/misses.ts";
import { isMementoMapError, type MementoMapError } from "../errors.ts";
import { fileChunks, FileSource } from "../files/input-file.ts";
import type { Output } from "../files/output-file.ts";
import { ScratchSpill, type SpillStore, withTempDir } from "../files/scratch.ts";
import { digestOf } from "../files/source-digest.ts";
import { type MapStreams, withMapSources } from "../lookup/map-sources.ts";
import { withMapOutput } from "../maps/map-output.ts";
import { HeldCheck } from "./held-check.ts";
import { NAME } from "./name-log.ts";
import {
  fingerprintBitsFor,
  kneeBytes,
  packDemand,
  planPack,
  type Prospect,
  tooSmall,
} from "./pack-plan.ts";
import { packWithin } from "./pack-within.ts";
import { type ScannedMap, scanMap } from "./scan-map.ts";
import { withoutTimes } from "./timeless.ts";
import { VOID_BYTES } from "./write-packed.ts";

export interface PackOptions {
  /** Maximum size of the file; by default the size beyond which accuracy hardly improves. */
  readonly maxBytes?: number | undefined;
  /** Bits per row, 0 to 31.875 in steps of 1/8; by default chosen to suit the rows. */
  readonly bits?: number | undefined;
  /** A list of missed lookups, URIs or SURTs, or a MemGator log. */
  readonly misses?: string | MissList | undefined;
  /** The archive whose misses to read from a log. */
  readonly archive?: string | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  /** Approximate memory for names; the rest goes to scratch files. */
  readonly memoryBytes?: number | undefined;
  readonly streams: MapStreams;
  /** Called with the bytes of the map processed since the last call; see {@link workFor}. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface PackSummary {
  /** Rows of the map, and rows packed. */
  readonly rowsRead: number;
  readonly rows: number;
  readonly hosts: number;
  readonly voids: number;
  readonly bytes: number;
  /** Bits per row. */
  readonly bits: number;
  /** Lines of the misses skipped because they are neither URIs nor SURTs. */
  readonly oddLines: number;
}

/** How many times `onRead` counts the whole map: for names, shards, a survey, and roll-ups or the check. */
export function workFor({ maxBytes, bits }: Pick<PackOptions, "maxBytes" | "bits">): number {
  return maxBytes === undefined ? (bits === undefined ? 3 : 2) : 4;
}

const DEFAULT_MEMORY_BYTES = 2 ** 29;
/** The fraction of memory for names. */
const NAMES_SHARE = 1 / 8;
/** With fewer bits per row, most rows are rolled up. */
const LEAST_ROW_BITS = 1;
/** Bits per row to try if there is no plan. */
const TINY_BITS: readonly number[] = [8, 4, 1, 0];
/** How many plans for fewer bytes are tried, and the factor between them. */
const MAX_PLANS = 8;
const NEXT_PLAN = 0.85;

/** A packed map and its properties. */
export interface PackedMap {
  readonly file: Uint8Array;
  readonly summary: PackSummary;
}

/**
 * Packs a map into the file of the given size with the best expected accuracy. Every URI present in the map is
 * present in the result. The bytes depend on the map and the options, not on memory.
 *
 * Every row of the map is looked up in the result before it is returned. Reads the map two or three times: for its
 * digest, for a survey unless only `bits` is set, and for its names; twice more if rows are rolled up. Holds 15 bytes
 * per host, names as far as memory permits, the result, and the state of `BudgetCompaction`.
 *
 * @throws as BudgetCompaction; MM_BUDGET
 */
export async function packMap(path: string, options: PackOptions): Promise<PackedMap> {
  const { streams, scratch: parent } = options;
  const misses =
    typeof options.misses === "string" ? await readMisses(options.misses, options) : options.misses;
  const { interrupt } = streams;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt }, async (scratch) => {
      const sha256 = await digestOf(fileChunks(source, interrupt?.signal));
      const tools = { sha256, misses, scratch, options };
      return pack(source, tools).catch(async (error: unknown) => {
        if (!isMementoMapError(error) || error.code !== "MM_NOT_SORTED") throw error;
        const sorted = await respelledMap(source, scratch, options);
        try {
          return await pack(sorted, tools);
        } finally {
          await sorted.close();
        }
      });
    }),
  );
}

/** Packs a map into a file, and commits it. @throws as packMap */
export async function writePackedMap(
  path: string,
  output: Output,
  options: PackOptions,
): Promise<PackSummary> {
  const { file, summary } = await packMap(path, options);
  await output.write(file);
  await output.commit();
  return summary;
}

/**
 * A copy of a map with keys in canonical spelling, sorted and unique.
 *
 * @throws MM_NOT_SORTED for a map that is not sorted in its own spelling, either; as mergeMaps
 */
async function respelledMap(
  source: FileSource,
  scratch: string,
  { streams: { interrupt } }: PackOptions,
): Promise<FileSource> {
  const { openLogicalMaps } = await import("../maps/logical-map.ts");
  const { mergeMaps } = await import("../maps/merge-maps.ts");
  const signal = interrupt?.signal;
  const [map] = await openLogicalMaps([source], { signal });
  for await (const _ of map.batches());
  const path = join(scratch, "respelled.ukvs");
  const streams = { stdout: process.stdout, interrupt, isScratch: true };
  await withMapOutput(path, streams, (output) => mergeMaps([source], output, { signal }));
  return FileSource.open(path, source.name);
}

/** The tools for packing a map. */
interface PackingTools {
  readonly sha256: string;
  readonly misses: MissList | undefined;
  /** A folder. */
  readonly scratch: string;
  readonly options: PackOptions;
}

async function pack(map: FileSource, tools: PackingTools): Promise<PackedMap> {
  const { signal } = tools.options.streams.interrupt ?? {};
  const { headers } = await headOf(map);
  const chunks: ReadMap = () => fileChunks(map, signal, tools.options.onRead);
  // A packed map has no datetimes.
  const hasTimes = headers.fields.keys.length > 1;
  const packing = new Packing(
    hasTimes ? () => withoutTimes(chunks(), map.name) : chunks,
    map,
    tools,
  );
  try {
    return await packing.run();
  } finally {
    packing.close();
  }
}

/** The packing of one map. */
class Packing {
  readonly #read: ReadMap;
  readonly #map: FileSource;
  readonly #tools: PackingTools;
  readonly #spills: ScratchSpill[] = [];

  constructor(read: ReadMap, map: FileSource, tools: PackingTools) {
    this.#read = read;
    this.#map = map;
    this.#tools = tools;
  }

  async run(): Promise<PackedMap> {
    const { misses } = this.#tools;
    const { maxBytes, bits } = this.#tools.options;
    const whole = await this.#scan(this.#read);
    // An empty map needs no plan.
    if (whole.rows === 0 || (bits !== undefined && maxBytes === undefined)) {
      return withinLimit(maxBytes ?? Infinity, () => this.#packAllRows(whole, bits ?? 0));
    }
    const options = { source: this.#map.name, misses, spill: this.#newSpill() };
    const compaction = await BudgetCompaction.survey(this.#read, options);
    const voidBytes = VOID_BYTES * whole.names.counts[NAME.void];
    const demand = packDemand(compaction, whole.profiles, misses, voidBytes);
    const packPlanned = (bytes: number): Promise<PackedMap> =>
      this.#packPlanned(whole, compaction, planPack(demand, bytes, bits));
    if (maxBytes === undefined) return packPlanned(kneeBytes(demand));
    return withinLimit(maxBytes, packPlanned).catch((error: unknown) => {
      if (!isTooSmall(error)) throw error;
      return this.#packTiny(whole, maxBytes, error);
    });
  }

  /** Packs all rows into a size that plans consider too small for the head of a file. @throws `failure` */
  async #packTiny(
    whole: ScannedMap,
    maxBytes: number,
    failure: MementoMapError,
  ): Promise<PackedMap> {
    const { bits } = this.#tools.options;
    if (8 * maxBytes < whole.rows * LEAST_ROW_BITS) throw failure;
    for (const tried of bits === undefined ? TINY_BITS : [bits]) {
      const packed = await this.#packAllRows(whole, tried);
      if (packed.file.length <= maxBytes) return packed;
    }
    throw failure;
  }

  /** Packs all rows with this many bits each. */
  #packAllRows(whole: ScannedMap, bits: number): Promise<PackedMap> {
    const fingerprintBits = fingerprintBitsFor(bits, whole.profiles);
    const { rows } = whole;
    const prospect = { bytes: Infinity, rows, bits, fingerprintBits, hasDescriptors: true };
    return this.#pack(whole, whole, prospect);
  }

  async #packPlanned(
    whole: ScannedMap,
    compaction: BudgetCompaction,
    prospect: Prospect,
  ): Promise<PackedMap> {
    if (prospect.rows >= whole.rows) return this.#pack(whole, whole, prospect);
    const maxRows = Math.max(compaction.leastRows, Math.floor(prospect.rows));
    const rollUps = compaction.plan(maxRows, false);
    const { voidDomains } = whole.profiles;
    const smaller = await this.#scan(() => compaction.write(rollUps), voidDomains);
    return this.#pack(smaller, whole, prospect);
  }

  #scan(read: ReadMap, voidDomains?: readonly string[]): Promise<ScannedMap> {
    const { memoryBytes = DEFAULT_MEMORY_BYTES } = this.#tools.options;
    const options = {
      source: this.#map.name,
      bytes: this.#map.size,
      memoryBytes: memoryBytes * NAMES_SHARE,
      newSpill: () => this.#newSpill(),
    };
    return scanMap(read, options, voidDomains);
  }

  /** Packs `rows` and looks up all rows of the whole map in the result. */
  async #pack(rows: ScannedMap, whole: ScannedMap, prospect: Prospect): Promise<PackedMap> {
    const { sha256, misses, options } = this.#tools;
    const { bits, onRead, streams } = options;
    const { bytes: file, layout } = await packWithin(rows, {
      info: { headers: whole.headers.list, sourceRows: whole.rows, sha256 },
      prospect,
      isFixed: bits !== undefined,
      onBuilt: (share) => onRead?.(share * this.#map.size),
      signal: streams.interrupt?.signal,
    });
    const voids = rows.names.counts[NAME.void];
    // If all rows were packed and no void hides any, this was already checked for each shard.
    if (rows !== whole || voids > 0) {
      const check = new HeldCheck(file, this.#map.name);
      for await (const _ of feedRows(this.#read(), this.#map.name, () => check));
      if (check.lost > 0) throw new Error(`${check.lost} held keys are not found`);
    }
    const summary: PackSummary = {
      rowsRead: whole.rows,
      rows: rows.profiles.rowCount,
      hosts: rows.profiles.count,
      voids,
      bytes: file.length,
      bits: layout.width / 8,
      oddLines: misses?.oddLines ?? 0,
    };
    return { file, summary };
  }

  #newSpill(): SpillStore {
    const number = this.#spills.length;
    const spill = new ScratchSpill(join(this.#tools.scratch, `${this.#map.size}-${number}`));
    this.#spills.push(spill);
    return spill;
  }

  close(): void {
    for (const spill of this.#spills) spill.close();
  }
}

/**
 * Packs a map into at most `maxBytes`. Plans only estimate the size; if the file is too large, or there is no
 * plan, one for fewer bytes is tried.
 *
 * @throws MM_BUDGET
 */
async function withinLimit(
  maxBytes: number,
  pack: (bytes: number) => Promise<PackedMap>,
): Promise<PackedMap> {
  let failure: unknown;
  let bytes = maxBytes;
  for (let i = 0; i < MAX_PLANS; i++) {
    try {
      const packed = await pack(Math.floor(bytes));
      const size = packed.file.length;
      if (size <= maxBytes) return packed;
      failure ??= tooSmall(maxBytes);
      bytes *= Math.min(0.99, maxBytes / size);
    } catch (error) {
      if (!isTooSmall(error)) throw error;
      failure ??= error;
      bytes *= NEXT_PLAN;
    }
  }
  throw failure;
}

function isTooSmall(error: unknown): error is MementoMapError {
  return isMementoMapError(error) && error.code === "MM_BUDGET";
}
