import { open } from "node:fs/promises";
import { join } from "node:path";
import { compareBytes, joinBytes } from "../../bytes/bytes.ts";
import { ioError, isMementoMapError, MementoMapError, systemCode } from "../../errors.ts";
import { FileSource } from "../../files/input-file.ts";
import { digestOf } from "../../files/source-digest.ts";
import { ScratchSpill, withTempDir } from "../../files/scratch.ts";
import { BudgetCompaction, RowInserter } from "../compact/budget/budget-compaction.ts";
import type { MissList } from "../compact/budget/misses.ts";
import { rowBlocks } from "../compact/compact-map.ts";
import { MapLines, type RowSink } from "../compact/map-lines.ts";
import { readMisses, sourceChunks } from "../compact/run/budget-files.ts";
import { budgetKernels } from "../compact/run/budget-kernels.ts";
import { type MapStreams, withMapSources } from "../lookup/map-sources.ts";
import { withCanonicalMap } from "../output/map-output.ts";
import { headerText, UkvsHeaders } from "../../ukvs/header.ts";
import { checkSignal } from "../../interruption.ts";
import { HeldCheck } from "./held-check.ts";
import { expectedLookups, HostProfiles } from "./host-profiles.ts";
import { chooseLayout, flatLayout } from "./layout.ts";
import {
  kneeBytes,
  LOOKUPS_ELSEWHERE,
  type PackDemand,
  planPack,
  type Prospect,
} from "./pack-plan.ts";
import { type DeltaPlace, parseHead } from "../../packed/packed-file.ts";
import { PackedNames } from "../../packed/packed-map.ts";
import { type PackedLayout, packNames, RowNames, SLOTS_PER_NAME } from "./packing.ts";
import type { RowKinds } from "./row-name.ts";
import { Timeless, timelessHeaders } from "./timeless.ts";

export interface PackOptions {
  /** The size of the file; by default one that hardly gains by more. */
  readonly maxBytes?: number | undefined;
  /** Bits of a row, 0 to 31.875 in eighths; chosen with the rows by default. */
  readonly bits?: number | undefined;
  /** Bits for the captures of a host. */
  readonly countBits?: number | undefined;
  /** A list of lookups that missed, URIs or SURTs, or the log of a MemGator. */
  readonly misses?: string | MissList | undefined;
  /** Whose misses to take from a log. */
  readonly archive?: string | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  /** Set where the rows that are packed are those of a delta. */
  readonly part?: DeltaPart | undefined;
  readonly streams: MapStreams;
  /** Told how many bytes of the map were read since the last call; it is read several times. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** What a delta says of itself; its rows are only what is new in its map. */
export interface DeltaPart {
  readonly delta: DeltaPlace;
  /** Rows and digest of the whole map. */
  readonly sourceRows: number;
  readonly sha256: string;
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
  /** The share of misses on held hosts that it is expected to answer wrongly; known from misses only. */
  readonly expectedWrong: number | undefined;
  /** Lines of the misses that were left out, because they are neither URIs nor SURTs. */
  readonly oddLines: number;
}

/** Bits for the captures of a host, which routers rank by. */
const COUNT_BITS = 3;
/** The share of the bytes that may stay unused. */
const MAX_SLACK = 0.01;
const MAX_TRIES = 6;

/**
 * Packs a map: the result is expected to answer best of all of its size, and never says absent of
 * anything that the map says is present.
 *
 * Every row of the map is asked before the result is given. Reads the map four times or more. Holds
 * the result twice, 8 bytes for each packed row, and what `BudgetCompaction` holds.
 *
 * @throws as BudgetCompaction; MM_USAGE where no packed map is so small
 */
export async function packMap(
  path: string,
  options: PackOptions,
): Promise<{ readonly file: Uint8Array; readonly summary: PackSummary }> {
  const { streams, scratch: parent } = options;
  const misses =
    typeof options.misses === "string"
      ? await readMisses({ path: options.misses, archive: options.archive }, streams)
      : options.misses;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt: streams.interrupt }, async (scratch) => {
      const spill = new ScratchSpill(join(scratch, "nodes"));
      try {
        const sha256 = options.part?.sha256 ?? (await digestOf(source, streams.interrupt?.signal));
        const pack = (map: FileSource): ReturnType<typeof packMap> =>
          new Packing(map, sha256, misses, spill, scratch, options).run();
        return await pack(source).catch(async (error: unknown) => {
          if (!isMementoMapError(error) || error.code !== "MM_NOT_SORTED") throw error;
          // Keys may belong elsewhere as they are spelled now.
          const { signal } = streams.interrupt ?? {};
          return withCanonicalMap(source, scratch, { signal }, pack);
        });
      } finally {
        spill.close();
      }
    }),
  );
}

/** The packing of one map. */
class Packing {
  readonly #map: FileSource;
  readonly #sha256: string;
  readonly #misses: MissList | undefined;
  readonly #spill: ScratchSpill;
  readonly #scratch: string;
  readonly #options: PackOptions;
  #scratchFiles = 0;
  #kinds: RowKinds = { queries: false, keepsVoids: true };

  constructor(
    map: FileSource,
    sha256: string,
    misses: MissList | undefined,
    spill: ScratchSpill,
    scratch: string,
    options: PackOptions,
  ) {
    this.#map = map;
    this.#sha256 = sha256;
    this.#misses = misses;
    this.#spill = spill;
    this.#scratch = scratch;
    this.#options = options;
  }

  async run(): ReturnType<typeof packMap> {
    const { maxBytes, bits, countBits = COUNT_BITS } = this.#options;
    const headers = await this.#headers();
    if (headers.fields.keys.length > 1) return this.#runWithoutTimes(headers);
    this.#kinds = { queries: headers.fields.queries === true, keepsVoids: true };
    let profiles = new HostProfiles(this.#kinds);
    const { rows: rowsRead } = await this.#feed(this.#map, profiles);
    if (profiles.hasWildcards && profiles.hasVoids) {
      // A void may hide what a wildcard covers, and that cannot be asked for page by page.
      this.#kinds = { ...this.#kinds, keepsVoids: false };
      profiles = new HostProfiles(this.#kinds);
      await this.#feed(this.#map, profiles);
    }
    if (bits !== undefined && maxBytes === undefined) {
      const prospect = {
        bytes: Infinity,
        rows: rowsRead,
        bits,
        hasTable: true,
        countBits,
        wrong: 0,
      };
      return this.#pack(this.#map, headers, rowsRead, profiles, prospect, undefined);
    }
    const compaction = await BudgetCompaction.survey(() => this.#chunks(this.#map), {
      source: this.#map.name,
      misses: this.#misses,
      allowsExclusions: !profiles.hasWildcards,
      spill: this.#spill,
      kernels: budgetKernels,
    });
    const { lookups, misses } = compaction.hostDemand;
    const demand: PackDemand = {
      lookups,
      misses,
      elsewhere:
        this.#misses === undefined
          ? LOOKUPS_ELSEWHERE * lookups
          : Math.max(0, this.#misses.count - compaction.prior.misses),
      hosts: profiles.count,
      heapsExponent: compaction.prior.heapsExponent,
      isTrained: this.#misses !== undefined,
      countBits,
      sizes: compaction.sizes(),
    };
    const prospect = planPack(demand, maxBytes ?? kneeBytes(demand), bits);
    if (prospect.rows >= rowsRead) {
      return this.#pack(this.#map, headers, rowsRead, profiles, prospect, demand);
    }
    const plan = compaction.plan(Math.max(compaction.leastRows, Math.floor(prospect.rows)));
    const smaller = await this.#scratchMap(headers, compaction.rows(plan));
    try {
      return await this.#pack(smaller, headers, rowsRead, profiles, prospect, demand);
    } finally {
      await smaller.close();
    }
  }

  /** Packs a map with one row for each SURT, whatever its time: a packed map has no times. */
  async #runWithoutTimes(headers: UkvsHeaders): ReturnType<typeof packMap> {
    const timeless = new Timeless();
    const feeding = this.#feedInBlocks(this.#map, timeless);
    async function* rows(): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const _ of feeding) yield timeless.take();
      yield timeless.takeLast();
    }
    const map = await this.#scratchMap(timelessHeaders(headers), rows());
    try {
      const { signal } = this.#options.streams.interrupt ?? {};
      checkSignal(signal);
      const [sha256, misses, options] = [this.#sha256, this.#misses, this.#options];
      return await new Packing(map, sha256, misses, this.#spill, this.#scratch, options).run();
    } finally {
      await map.close();
    }
  }

  /**
   * Packs the rows of a map, and asks the result for all of the whole map.
   *
   * Names of held pages may be taken for voids. These pages get a row of their own, which is asked
   * for before any void.
   */
  async #pack(
    map: FileSource,
    headers: UkvsHeaders,
    rowsRead: number,
    whole: HostProfiles,
    prospect: Prospect,
    demand: PackDemand | undefined,
  ): ReturnType<typeof packMap> {
    const made = await this.#packRows(map, headers, rowsRead, whole, prospect, demand);
    if (made.hidden.length === 0) return checked(made);
    const repaired = await this.#withRows(map, headers, made.hidden);
    try {
      return checked(await this.#packRows(repaired, headers, rowsRead, whole, prospect, demand));
    } finally {
      await repaired.close();
    }
  }

  async #packRows(
    rows: FileSource,
    headers: UkvsHeaders,
    rowsRead: number,
    whole: HostProfiles,
    prospect: Prospect,
    demand: PackDemand | undefined,
  ): Promise<Packed> {
    const profiles = rows === this.#map ? whole : new HostProfiles(this.#kinds);
    if (rows !== this.#map) await this.#feed(rows, profiles);
    const made = await this.#packWithin(rows, headers, rowsRead, profiles, whole, prospect, demand);
    const { file, layout } = made;
    const { hidden, lost } = await this.#ask(file);
    const summary: PackSummary = {
      rowsRead,
      rows: profiles.rowCount,
      hosts: profiles.count,
      voids: profiles.voidCount,
      bytes: file.length,
      bits: layout.width / 8,
      expectedWrong: demand?.isTrained === true ? prospect.wrong : undefined,
      oddLines: this.#misses?.oddLines ?? 0,
    };
    return { file, summary, hidden, lost };
  }

  /** Makes files until one is nearly as large as it may be. */
  async #packWithin(
    rows: FileSource,
    headers: UkvsHeaders,
    sourceRows: number,
    profiles: HostProfiles,
    whole: HostProfiles,
    prospect: Prospect,
    demand: PackDemand | undefined,
  ): Promise<{ readonly file: Uint8Array<ArrayBuffer>; readonly layout: PackedLayout }> {
    const lookups = expectedLookups(profiles, whole, demand);
    const { bits, part } = this.#options;
    const isFixed = bits !== undefined;
    let width = Math.round(8 * prospect.bits);
    let best: { file: Uint8Array<ArrayBuffer>; layout: PackedLayout } | undefined;
    const tried = new Set<number>();
    for (let attempt = 0; attempt < MAX_TRIES && !tried.has(width); attempt++) {
      tried.add(width);
      const layout = this.#layout(profiles, width, lookups, prospect, demand);
      const names = new RowNames(profiles, layout, this.#kinds);
      await this.#feed(rows, names);
      const file = packNames(profiles, names, layout, {
        headers: headers.list,
        queries: this.#kinds.queries,
        sourceRows: part?.sourceRows ?? sourceRows,
        sha256: this.#sha256,
        delta: part?.delta,
      });
      const fits = file.length <= prospect.bytes;
      if (fits && (best === undefined || layout.width > best.layout.width)) best = { file, layout };
      if (isFixed || prospect.bytes === Infinity) return { file, layout };
      if (fits && file.length >= prospect.bytes * (1 - MAX_SLACK)) break;
      const rowBytes = (profiles.rowCount * SLOTS_PER_NAME) / 64;
      const step = Math.floor((prospect.bytes - file.length) / Math.max(rowBytes, 1e-9));
      const next = Math.max(0, Math.min(255, width + (step === 0 && !fits ? -1 : step)));
      if (next === width) break;
      width = tried.has(next) && !fits ? width - 1 : next;
    }
    if (best !== undefined) return best;
    throw new MementoMapError(
      "MM_USAGE",
      `no packed map of this archive is as small as ${prospect.bytes} bytes; allow more`,
    );
  }

  #layout(
    profiles: HostProfiles,
    width: number,
    lookups: Float64Array,
    { hasTable, countBits }: Prospect,
    demand: PackDemand | undefined,
  ): PackedLayout {
    if (!hasTable) return flatLayout(profiles, width);
    const all = lookups.reduce((sum, count) => sum + count, 0);
    // What the last bit of the rows saves, a bit of the table should save too.
    const price = (Math.LN2 * all * 2 ** (-width / 8)) / Math.max(1, profiles.rowCount);
    const elsewhere = demand?.elsewhere ?? LOOKUPS_ELSEWHERE * all;
    return chooseLayout(profiles, width, countBits, { lookups, elsewhere, price });
  }

  /** Asks a packed map for all that the map holds. */
  async #ask(file: Uint8Array<ArrayBuffer>): Promise<HeldCheck> {
    const head = parseHead(file, file.length, this.#map.name);
    const data = new Uint32Array(file.buffer, head.dataStart);
    const check = new HeldCheck(new PackedNames(head, this.#map.name, { data }));
    await this.#feed(this.#map, check);
    return check;
  }

  /** A scratch file of a map with more rows. */
  async #withRows(
    rows: FileSource,
    headers: UkvsHeaders,
    keys: readonly Uint8Array[],
  ): Promise<FileSource> {
    const encoder = new TextEncoder();
    const added = keys
      .toSorted(compareBytes)
      .map((key) => joinBytes([key, encoder.encode(" 1\n")]));
    const inserter = new RowInserter(added);
    const chunks = this.#chunks(rows);
    const { name } = this.#map;
    async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const { bytes } of rowBlocks(chunks, name)) yield inserter.insertInto(bytes);
      yield inserter.rest();
    }
    return this.#scratchMap(headers, all());
  }

  async #scratchMap(headers: UkvsHeaders, rows: AsyncIterable<Uint8Array>): Promise<FileSource> {
    const path = join(this.#scratch, `rows-${this.#scratchFiles++}`);
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

  #chunks(source: FileSource): AsyncIterable<Uint8Array> {
    const { streams, onRead } = this.#options;
    return sourceChunks(
      source,
      streams.interrupt?.signal,
      source === this.#map ? onRead : undefined,
    );
  }

  async #headers(): Promise<UkvsHeaders> {
    for await (const { headers } of rowBlocks(this.#chunks(this.#map), this.#map.name)) {
      return headers;
    }
    throw new Error("a map has a block");
  }

  /** Gives all rows of a map to a sink. */
  async #feed(
    source: FileSource,
    sink: RowSink,
  ): Promise<{ readonly headers: UkvsHeaders; readonly rows: number }> {
    let last: { readonly headers: UkvsHeaders; readonly rows: number } | undefined;
    for await (const block of this.#feedInBlocks(source, sink)) last = block;
    if (last === undefined) throw new Error("a map has a block");
    return last;
  }

  /** The same, block by block; gives the headers, and the rows so far. */
  async *#feedInBlocks(
    source: FileSource,
    sink: RowSink,
  ): AsyncGenerator<{ readonly headers: UkvsHeaders; readonly rows: number }, void, undefined> {
    let lines: MapLines | undefined;
    for await (const block of rowBlocks(this.#chunks(source), source.name)) {
      const { headers } = block;
      lines ??= new MapLines(sink, headers.fields);
      lines.read(block.bytes, { source: source.name, firstLine: block.firstLine });
      yield { headers, rows: lines.rows };
    }
  }
}

/** A packed map, and what of the whole map it does not find. */
interface Packed {
  readonly file: Uint8Array;
  readonly summary: PackSummary;
  readonly hidden: readonly Uint8Array[];
  readonly lost: number;
}

function checked(packed: Packed): Packed {
  if (packed.lost > 0) throw new Error(`${packed.lost} held keys are not found`);
  return packed;
}
