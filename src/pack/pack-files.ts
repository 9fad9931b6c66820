import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { joinBytes } from "../bytes/bytes.ts";
import { ioError, isMementoMapError, type MementoMapError, systemCode } from "../errors.ts";
import { fileChunks, FileSource } from "../files/input-file.ts";
import type { Output } from "../files/output-file.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import { checkSignal } from "../interruption.ts";
import { headerText, type UkvsHeaders } from "../ukvs/header.ts";
import { BudgetCompaction } from "../compact/budget-compaction.ts";
import type { MissList } from "../compact/misses.ts";
import type { Plan } from "../compact/roll-up-plan.ts";
import { feedRows } from "../compact/compact-map.ts";
import { readMisses } from "../compact/budget-files.ts";
import { headOf } from "../compact/compact-files.ts";
import { type MapStreams, withMapSources } from "../lookup/map-sources.ts";
import { PackLanes } from "./pack-job.ts";
import {
  fingerprintBitsFor,
  kneeBytes,
  packDemand,
  type PackDemand,
  planPack,
  type Prospect,
  tooSmall,
} from "./pack-plan.ts";
import { type PackedBytes, packWithin } from "./pack-within.ts";
import { countNames, VOID_BYTES } from "./packing.ts";
import { LIST } from "./name-log.ts";
import { needsPresentKeys, withPresentKeys } from "./present-keys.ts";
import { mapParts, type ScanCut, type ScannedMap, scanMap } from "./scan-map.ts";
import { rolledUpRows } from "./roll-up-parts.ts";
import { Timeless, timelessHeaders } from "./timeless.ts";

export interface PackOptions {
  /** The size of the file; by default one that hardly gains by more. */
  readonly maxBytes?: number | undefined;
  /** Bits of a row, 0 to 31.875 in eighths; chosen with the rows by default. */
  readonly bits?: number | undefined;
  /** A list of lookups that missed, URIs or SURTs, or the log of a MemGator. */
  readonly misses?: string | MissList | undefined;
  /** Whose misses to take from a log. */
  readonly archive?: string | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  /** By default as many as there are cores, and the map is large enough for. */
  readonly threads?: number | undefined;
  /** About how much to hold of names and shards; more goes to scratch files. */
  readonly memoryBytes?: number | undefined;
  /** How the work is cut; chosen by the size of the map by default. */
  readonly cut?: ScanCut | undefined;
  readonly streams: MapStreams;
  /** Notified of the bytes of the map that were worked off since the last call; see {@link workFor}. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface PackSummary {
  /** Rows of the map, and of those that were packed. */
  readonly rowsRead: number;
  readonly rows: number;
  readonly hosts: number;
  readonly voids: number;
  readonly bytes: number;
  /** Bits of a row. */
  readonly bits: number;
  /** Lines of the misses that were left out, because they are neither URIs nor SURTs. */
  readonly oddLines: number;
}

/** How often `onRead` is notified of all bytes: for names, shards, a survey, and roll-ups or the check. */
export function workFor({ maxBytes, bits }: Pick<PackOptions, "maxBytes" | "bits">): number {
  return maxBytes === undefined ? (bits === undefined ? 3 : 2) : 4;
}

const DEFAULT_MEMORY_BYTES = 2 ** 29;
/** The share of memory that names may take, and that shards may take until they are written. */
const NAMES_SHARE = 1 / 8;
const SHARDS_SHARE = 1 / 8;
/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 2 ** 23;
/** Bytes of a row, about; with fewer bits than this for each row, most are rolled up. */
const ROW_BYTES = 64;
const LEAST_ROW_BITS = 1;

/** A packed map that is complete. */
interface PackedMap {
  readonly summary: PackSummary;
  /** All of its bytes, in pieces. */
  readonly chunks: () => Iterable<Uint8Array>;
}

/**
 * Packs a map: the result is expected to answer best of all of its size, and never says absent of
 * anything that the map says is present. Its bytes depend on the map and the options, not on threads or memory.
 *
 * Every row of the map is asked before the result is given. Reads the map two or three times: for its digest,
 * for a survey unless only `bits` are given, and for its names; twice more where rows are rolled up. Holds
 * 15 bytes for each host, names and shards as far as there is memory, and what `BudgetCompaction` holds. Where rows
 * are rolled up or there are voids, it holds the result once on each thread.
 *
 * @throws as BudgetCompaction; MM_BUDGET
 */
async function withPackedMap<T>(
  path: string,
  options: PackOptions,
  use: (packed: PackedMap) => Promise<T>,
): Promise<T> {
  const { streams, scratch: parent } = options;
  const misses =
    typeof options.misses === "string"
      ? await readMisses({ path: options.misses, archive: options.archive }, streams)
      : options.misses;
  const { interrupt } = streams;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt }, async (scratch) => {
      const spill = new ScratchSpill(join(scratch, "nodes"));
      const lanes = new PackLanes(threadsFor(source, options), interrupt?.signal);
      try {
        const sha256 = lanes.digest(source.path, source.name);
        // It may fail while nobody waits for it.
        sha256.catch(() => undefined);
        const tools = { sha256, misses, spill, scratch, lanes, options };
        const packed = await new Packing(source, tools).run().catch(async (error: unknown) => {
          if (!needsPresentKeys(error)) throw error;
          return withPresentKeys(source, scratch, { signal: interrupt?.signal }, (map) =>
            new Packing(map, { ...tools, hasPresentKeys: true }).run(),
          );
        });
        const { summary, file } = packed;
        try {
          return await use({ summary, chunks: () => file.chunks() });
        } finally {
          file.close();
        }
      } finally {
        await lanes.end();
        spill.close();
      }
    }),
  );
}

/** Packs a map into a file, and commits it. @throws as withPackedMap */
export async function writePackedMap(
  path: string,
  output: Output,
  options: PackOptions,
): Promise<PackSummary> {
  const summary = await withPackedMap(path, options, async (packed) => {
    for (const chunk of packed.chunks()) await output.write(chunk);
    return packed.summary;
  });
  await output.commit();
  return summary;
}

/** As {@link withPackedMap}; gives all bytes at once. */
export async function packMap(
  path: string,
  options: PackOptions,
): Promise<{ readonly file: Uint8Array; readonly summary: PackSummary }> {
  return withPackedMap(path, options, async ({ summary, chunks }) => ({
    file: joinBytes([...chunks()]),
    summary,
  }));
}

function threadsFor({ size }: FileSource, { threads }: PackOptions): number {
  return threads ?? Math.min(availableParallelism(), Math.ceil(size / BYTES_WORTH_A_THREAD) || 1);
}

/** Bits of a row that are tried where there is no plan. */
const TINY_BITS: readonly number[] = [8, 4, 1, 0];

/** How often a plan for fewer bytes is tried, and how many fewer. */
const MAX_PLANS = 8;
const NEXT_PLAN = 0.85;

/**
 * Packs a map of at most `maxBytes`. A plan only estimates the size, so one for that size may come out larger, or
 * there may be none: then one for fewer bytes is tried.
 *
 * @throws MM_BUDGET
 */
async function packWithinLimit(
  maxBytes: number,
  pack: (bytes: number) => Promise<Packed>,
): Promise<Packed> {
  let failure: unknown;
  let bytes = maxBytes;
  for (let i = 0; i < MAX_PLANS; i++) {
    try {
      const packed = await pack(Math.floor(bytes));
      const { size } = packed.file;
      if (size <= maxBytes) return packed;
      packed.file.close();
      failure ??= tooSmall(maxBytes);
      bytes *= Math.min(0.99, maxBytes / size);
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_BUDGET") throw error;
      failure ??= error;
      bytes *= NEXT_PLAN;
    }
  }
  throw failure;
}

/** What the packing of a map works with. */
interface PackingTools {
  readonly sha256: Promise<string>;
  readonly misses: MissList | undefined;
  readonly spill: ScratchSpill;
  /** A folder. */
  readonly scratch: string;
  readonly lanes: PackLanes;
  readonly options: PackOptions;
  /** Whether keys are those that lookups ask for, as far as there are such. */
  readonly hasPresentKeys?: boolean | undefined;
}

interface Packed {
  readonly file: PackedBytes;
  readonly summary: PackSummary;
}

/** The packing of one map. */
class Packing {
  readonly #map: FileSource;
  readonly #tools: PackingTools;
  readonly #memoryBytes: number;
  #scratchFiles = 0;

  constructor(map: FileSource, tools: PackingTools) {
    this.#map = map;
    this.#tools = tools;
    this.#memoryBytes = tools.options.memoryBytes ?? DEFAULT_MEMORY_BYTES;
  }

  async run(): Promise<Packed> {
    const { maxBytes, bits } = this.#tools.options;
    const { headers } = await headOf(this.#map);
    if (headers.fields.keys.length > 1) return this.#runWithoutTimes(headers);
    if (bits !== undefined && maxBytes === undefined) {
      return this.#packAllRows(await this.#scanWhole(), bits);
    }
    const surveying = this.#compaction();
    this.#tools.lanes.waitFor(surveying);
    const [scanned, surveyed] = await Promise.allSettled([this.#scanWhole(), surveying]);
    if (scanned.status === "rejected") throw scanned.reason;
    const whole = scanned.value;
    // A map that says that it holds nothing has nothing to plan for.
    if (whole.rows === 0) {
      return packWithinLimit(maxBytes ?? Infinity, () => this.#packAllRows(whole, bits ?? 0));
    }
    if (surveyed.status === "rejected") throw surveyed.reason;
    const { value: compaction } = surveyed;
    const demand = packDemand(
      compaction,
      whole.profiles,
      this.#tools.misses,
      VOID_BYTES * countNames(whole, LIST.voids),
    );
    if (maxBytes === undefined) {
      return this.#packPlanned(whole, compaction, demand, kneeBytes(demand));
    }
    return packWithinLimit(maxBytes, (bytes) =>
      this.#packPlanned(whole, compaction, demand, bytes),
    ).catch((error: unknown) => {
      if (!isMementoMapError(error) || error.code !== "MM_BUDGET") throw error;
      return this.#packTiny(whole, maxBytes, error);
    });
  }

  /** Packs all rows within a size that plans think too small for the head of a file. @throws `failure` */
  async #packTiny(whole: ScannedMap, maxBytes: number, failure: MementoMapError): Promise<Packed> {
    const { bits } = this.#tools.options;
    // Names are missing where the rows are far too many.
    for (const tried of whole.names === undefined ? [] : bits === undefined ? TINY_BITS : [bits]) {
      const packed = await this.#packAllRows(whole, tried);
      if (packed.file.size <= maxBytes) return packed;
      packed.file.close();
    }
    throw failure;
  }

  /** Packs all rows with so many bits each. */
  #packAllRows(whole: ScannedMap, bits: number): Promise<Packed> {
    const prospect = {
      bytes: Infinity,
      rows: whole.rows,
      bits,
      fingerprintBits: fingerprintBitsFor(bits, whole.profiles),
      hasDescriptors: true,
    };
    return this.#pack(this.#map, whole, whole, prospect);
  }

  async #packPlanned(
    whole: ScannedMap,
    compaction: BudgetCompaction,
    demand: PackDemand,
    bytes: number,
  ): Promise<Packed> {
    const prospect = planPack(demand, bytes, this.#tools.options.bits);
    if (prospect.rows >= whole.rows) return this.#pack(this.#map, whole, whole, prospect);
    const rollUps = compaction.plan(
      Math.max(compaction.leastRows, Math.floor(prospect.rows)),
      false,
    );
    const smaller = await this.#rolledUp(compaction, rollUps, whole.headers);
    try {
      return await this.#pack(smaller, await this.#scan(smaller, whole.kinds), whole, prospect);
    } finally {
      await smaller.close();
    }
  }

  /** Scans the whole map; its names, too, if all its rows may be packed. */
  async #scanWhole(): Promise<ScannedMap> {
    const { maxBytes = Infinity, onRead } = this.#tools.options;
    const { headers } = await headOf(this.#map);
    const isSmall = (8 * maxBytes) / (this.#map.size / ROW_BYTES) < LEAST_ROW_BITS;
    const kinds = { queries: headers.fields.queries === true, voidDomains: [] };
    const settings = { wantsNames: !isSmall, onRead };
    const whole = await this.#scan(this.#map, kinds, settings);
    const { voidDomains } = whole.profiles;
    // Hosts in such a domain are known when all of these are.
    return voidDomains.length === 0
      ? whole
      : this.#scan(this.#map, { ...kinds, voidDomains: [...voidDomains] }, settings);
  }

  #scan(
    source: FileSource,
    kinds: ScannedMap["kinds"],
    {
      wantsNames,
      onRead,
    }: { readonly wantsNames: boolean; readonly onRead?: PackOptions["onRead"] } = {
      wantsNames: true,
    },
  ): Promise<ScannedMap> {
    return scanMap(source, {
      lanes: this.#tools.lanes,
      kinds,
      wantsNames,
      hasPresentKeys: this.#tools.hasPresentKeys,
      memoryBytes: this.#memoryBytes * NAMES_SHARE,
      scratch: this.#scratchPath("names"),
      cut: this.#tools.options.cut,
      onRead,
    });
  }

  /** Surveys the map, and finds out what is expected of maps of all sizes, which is kept. */
  async #compaction(): Promise<BudgetCompaction> {
    const { misses, spill } = this.#tools;
    const compaction = await BudgetCompaction.survey(() => this.#chunks(this.#map), {
      source: this.#map.name,
      misses,
      spill,
    });
    // Other threads may wait for their next task.
    await setImmediate();
    compaction.sizes();
    return compaction;
  }

  /** A scratch file of what a plan leaves of the map. */
  async #rolledUp(
    compaction: BudgetCompaction,
    plan: Plan,
    headers: UkvsHeaders,
  ): Promise<FileSource> {
    const { lanes, options } = this.#tools;
    const { recordsOffset } = await headOf(this.#map);
    const rows = rolledUpRows(this.#map, plan.chosen, {
      lanes,
      fields: headers.fields,
      recordsOffset,
      scratch: this.#scratchPath("part"),
      cut: options.cut,
      onRead: options.onRead,
    });
    return this.#scratchMap(headers, compaction.withExclusions(plan, rows));
  }

  /** Packs a map with one row for each SURT, whatever its time: a packed map has no times. */
  async #runWithoutTimes(headers: UkvsHeaders): Promise<Packed> {
    const map = await this.#scratchMap(timelessHeaders(headers), this.#timelessRows());
    try {
      checkSignal(this.#tools.options.streams.interrupt?.signal);
      return await new Packing(map, this.#tools).run();
    } finally {
      await map.close();
    }
  }

  async *#timelessRows(): AsyncGenerator<Uint8Array, void, undefined> {
    const timeless = new Timeless();
    const source = this.#map.name;
    for await (const _ of feedRows(this.#chunks(this.#map), source, () => timeless)) {
      yield timeless.take();
    }
    yield timeless.takeLast();
  }

  /** Packs the rows of a map, and asks the result for all of the whole map. */
  async #pack(
    source: FileSource,
    rows: ScannedMap,
    whole: ScannedMap,
    prospect: Prospect,
  ): Promise<Packed> {
    const made = await this.#packRows(source, rows, whole, prospect);
    const lost = await this.#ask(source, made, whole);
    if (lost > 0) throw new Error(`${lost} held keys are not found`);
    return made;
  }

  async #packRows(
    source: FileSource,
    scanned: ScannedMap,
    whole: ScannedMap,
    prospect: Prospect,
  ): Promise<Packed> {
    const { sha256, misses, lanes, options } = this.#tools;
    const { bits } = options;
    const rows = scanned.names === undefined ? await this.#scan(source, scanned.kinds) : scanned;
    const file = await packWithin(rows, {
      info: {
        headers: whole.headers.list,
        sourceRows: whole.rows,
        sha256: await sha256,
      },
      prospect,
      isFixed: bits !== undefined,
      lanes,
      scratch: this.#scratchPath("shards"),
      memoryBytes: this.#memoryBytes * SHARDS_SHARE,
      onBuilt: (share) => options.onRead?.(share * source.size),
    });
    const { rowCount, count } = rows.profiles;
    const summary: PackSummary = {
      rowsRead: whole.rows,
      rows: rowCount,
      hosts: count,
      voids: countNames(rows, LIST.voids),
      bytes: file.size,
      bits: file.layout.width / 8,
      oddLines: misses?.oddLines ?? 0,
    };
    return { file, summary };
  }

  /**
   * Asks a packed map for all that the whole map holds, unless its shards and its table were asked already for
   * all its rows. Gives the number of keys that are not found.
   */
  async #ask(source: FileSource, { file, summary }: Packed, whole: ScannedMap): Promise<number> {
    if (source === this.#map && summary.voids === 0) return 0;
    const { lanes, options } = this.#tools;
    const { recordsOffset } = await headOf(this.#map);
    const parts = mapParts(this.#map, recordsOffset, lanes.lanes.length, options.cut);
    return file.ask(parts, whole, lanes, options.onRead);
  }

  async #scratchMap(headers: UkvsHeaders, rows: AsyncIterable<Uint8Array>): Promise<FileSource> {
    const path = this.#scratchPath("rows");
    try {
      const file = await open(path, "w");
      try {
        await file.writeFile(headerText(headers));
        for await (const block of rows) await file.writeFile(block);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw systemCode(error) === undefined ? error : ioError(error, path);
    }
    return FileSource.open(path, this.#map.name);
  }

  #scratchPath(what: string): string {
    return join(this.#tools.scratch, `${what}-${this.#map.size}-${this.#scratchFiles++}`);
  }

  #chunks(source: FileSource): AsyncIterable<Uint8Array> {
    const { streams, onRead } = this.#tools.options;
    return fileChunks(source, streams.interrupt?.signal, source === this.#map ? onRead : undefined);
  }
}
