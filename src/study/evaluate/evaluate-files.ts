import { stat } from "node:fs/promises";
import { join } from "node:path";
import { BudgetCompaction, type ReadMap } from "../../compact/budget-compaction.ts";
import type { MissList } from "../../compact/misses.ts";
import {
  answersByKey,
  answersOf,
  AskedLookups,
  type Evaluation,
  evaluation,
  type EvaluationReport,
  FreshnessCount,
  type JudgedLookups,
  type PredictorFacts,
  RecallCount,
} from "./evaluation.ts";
import {
  BloomFilter,
  bloomPredictor,
  cutKey,
  FIXED_POLICIES,
  mapPredictor,
  type Predictor,
} from "./predictor.ts";
import { LookupList, lookupTexts } from "../../lookup/lookup-list.ts";
import { compacted, measureBase, paperMaps, traceBase, weightName } from "./paper-maps.ts";
import type { InputFormat } from "../../input/formats.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { headerText, UkvsHeaders } from "../../ukvs/header.ts";
import { readMisses } from "../../compact/budget-files.ts";
import { DEFAULT_MEMORY_BYTES } from "../../generate/key-table.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { openMapFile } from "../../lookup/open-map-file.ts";
import { ScratchSpill, withTempDir } from "../../files/scratch.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { packedMaps } from "./packed-maps.ts";
import {
  forEachHeld,
  forEachLater,
  isPackedFile,
  mapHeaders,
  openTruth,
  type Truth,
} from "./truth.ts";

/** Which maps to make of the truth and evaluate besides. */
export type Sweep = "paper" | "frontier";

export interface EvaluateOptions {
  /** What is held: a map that lists all keys, or an index of any format that `generate` reads. */
  readonly truth: string;
  /** The format of an index, and which of its captures count. */
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** A list of URIs or SURTs; may be left out where `asOf` is given. */
  readonly lookups?: string | undefined;
  /** A list of what was archived after the truth was made. */
  readonly future?: string | undefined;
  /**
   * 4 to 14 digits. The index is split: captures up to and including then are held; those after it
   * show how fresh maps stay.
   */
  readonly asOf?: string | undefined;
  /** Lookups that missed, for the maps of a sweep to learn from. */
  readonly misses?: string | undefined;
  /** Whose misses to take from a log. */
  readonly archive?: string | undefined;
  /** The number of originals for relative cost; overrides that of the truth. */
  readonly originals?: number | undefined;
  readonly sweep?: Sweep | undefined;
  /** Whether to make maps with queries of an index; so it is too where a map to evaluate is one. */
  readonly queries?: boolean | undefined;
  /** Whether to follow a compaction of the base of the paper's sweep, for its figure. */
  readonly traces?: boolean | undefined;
  /** What the maps under evaluation may take together; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: MapStreams;
}

const BASELINE_WEIGHTS: readonly (readonly [number, number])[] = [
  [4, 4],
  [4, 2],
  [4, 1],
  [1, 0.5],
  [0.25, 0.25],
];
/** From a thousandth to half of the keys. */
const FRONTIER_COSTS = [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];
/** What a map of a byte takes in memory, with its index. */
const INDEX_GROWTH = 3;

/** What is held, what is asked for, and what maps are made of. */
interface Setting extends Omit<EvaluateOptions, "misses"> {
  readonly misses: MissList | undefined;
  readonly held: Truth;
  readonly judged: JudgedLookups;
  readonly future: undefined;
  readonly laterKeys: readonly Uint8Array[] | undefined;
  readonly cost: Pick<PredictorFacts, "costBasis" | "costDivisor">;
  readonly memoryBytes: number;
  readonly scratch: string;
}

/**
 * Evaluates maps, and what else is asked for, against one truth.
 *
 * Holds the lookups, the names of held hosts, and as many maps as `memoryBytes` allow, one at least;
 * reads the truth once for each such group, and once for each map made of it.
 *
 * @throws MM_BAD_INPUT for a list or a truth that is something else; MM_IO, MM_USAGE, and what is
 *   wrong with a map
 */
export async function evaluateFiles(
  maps: readonly string[],
  options: EvaluateOptions,
): Promise<EvaluationReport> {
  const { streams } = options;
  const place = { parent: options.scratch, interrupt: streams.interrupt };
  return withTempDir(place, async (scratch) => {
    const memoryBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES;
    const asked = new AskedLookups();
    const later = new AskedLookups();
    const given = await Promise.all(maps.map((path) => hasQueries(path, streams)));
    const truthHasQueries = await hasQueries(options.truth, streams);
    const queries = truthHasQueries ?? (options.queries === true || given.includes(true));
    const misses =
      options.misses === undefined
        ? undefined
        : await readMisses({ path: options.misses, archive: options.archive }, streams, {
            queries,
          });
    const oddLines =
      (await readList(options.lookups, asked, streams)) +
      (await readList(options.future, later, streams)) +
      (misses?.oddLines ?? 0);
    const wanted = given.indexOf(true);
    if (!queries && (wanted >= 0 || options.queries === true)) {
      throw new MementoMapError(
        "MM_USAGE",
        `${quote(options.truth)} is a map without queries, which does not say which URIs are held; ` +
          "give the index, or a full map with queries, with --truth",
      );
    }
    const held = await openTruth(asked, { ...options, path: options.truth, scratch, queries });
    const { judged, laterKeys } = await judge(asked, later, held, memoryBytes, streams);
    const originals = options.originals ?? held.originals;
    const cost = {
      costBasis: originals === undefined ? ("keys" as const) : ("originals" as const),
      costDivisor: originals ?? held.keys,
    };
    const setting: Setting = {
      ...options,
      misses,
      held,
      judged,
      future: undefined,
      laterKeys: options.future === undefined ? undefined : laterKeys,
      cost,
      memoryBytes,
      scratch,
    };
    return {
      all: await evaluateAll(predictorsOf(maps, setting), setting),
      truth: {
        kind: held.kind,
        keys: held.keys,
        originals: held.originals ?? null,
        noUris: held.uriIsHeld === undefined ? ONLY_KEYS : null,
      },
      base: options.sweep === "paper" ? await evaluateBase(setting) : undefined,
      trace:
        options.traces === true && options.sweep === "paper"
          ? await traceBase(held.map, streams, { hostWeight: 4, pathWeight: 2 })
          : undefined,
      oddLines,
    };
  });
}

const ONLY_KEYS =
  "the truth is a map, whose keys have no queries: which URIs are held is not known; give the index with --truth";

/** Whether a file is a map with queries; undefined where it is not a map. */
async function hasQueries(path: string, streams: MapStreams): Promise<boolean | undefined> {
  if (await isPackedFile(path)) {
    return mapPredictor(path, await bytesOf(path, streams)).queries;
  }
  const headers = await mapHeaders(path);
  return headers === undefined ? undefined : headers.fields.queries === true;
}

/** Reads a list, if there is one; returns how many of its lines were left out. */
async function readList(
  path: string | undefined,
  asked: AskedLookups,
  streams: MapStreams,
): Promise<number> {
  if (path === undefined) return 0;
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const list = new LookupList(input.name);
  for await (const texts of lookupTexts(input.chunks, list, input.name)) {
    for (const text of texts) asked.add(text);
  }
  return list.oddLines;
}

/** Finds out which of the lookups are held, and which of the later keys are not. */
async function judge(
  asked: AskedLookups,
  later: AskedLookups,
  held: Truth,
  memoryBytes: number,
  streams: MapStreams,
): Promise<{ judged: JudgedLookups; laterKeys: Uint8Array[] }> {
  const { size } = await stat(held.map);
  const forMany = size * INDEX_GROWTH < memoryBytes;
  const truth = await openMapFile(held.map, streams, { forMany });
  try {
    const isHeld = async (key: string): Promise<boolean> =>
      (await truth.lookup.lookupNow(key, {}, true)).present;
    const keys = asked.keys.texts;
    const [keyIsHeld, keyIsOnHeldHost] = [new Uint8Array(keys.length), new Uint8Array(keys.length)];
    for (const [i, key] of keys.entries()) {
      if (!held.hosts.has(key.slice(0, key.indexOf(")")))) continue;
      keyIsOnHeldHost[i] = 1;
      keyIsHeld[i] = held.keyIsHeld?.[i] ?? ((await isHeld(key)) ? 1 : 0);
    }
    const encoder = new TextEncoder();
    const laterKeys: Uint8Array[] = [];
    for (const key of (held.queries ? later.uris : later.keys).texts) {
      if (!(await isHeld(key))) laterKeys.push(encoder.encode(key));
    }
    return { judged: { asked, keyIsHeld, keyIsOnHeldHost, uriIsHeld: held.uriIsHeld }, laterKeys };
  } finally {
    await truth.close();
  }
}

/** Evaluates predictors, as many at once as there is memory for. */
async function evaluateAll(
  predictors: AsyncIterable<Predictor>,
  setting: Setting,
): Promise<Evaluation[]> {
  const all: Evaluation[] = [];
  let group: Predictor[] = [];
  let bytes = 0;
  const evaluateGroup = async (): Promise<void> => {
    const facts = await factsOf(group, setting);
    for (const [i, predictor] of group.entries()) {
      const answers = answersOf(predictor, setting.judged);
      all.push(evaluation(predictor, setting.judged, answers, facts[i]));
    }
    group = [];
    bytes = 0;
  };
  for await (const predictor of predictors) {
    group.push(predictor);
    bytes += predictor.bytes * INDEX_GROWTH;
    if (bytes >= setting.memoryBytes / 2) await evaluateGroup();
  }
  if (group.length > 0) await evaluateGroup();
  return all;
}

async function factsOf(group: readonly Predictor[], setting: Setting): Promise<PredictorFacts[]> {
  const { held, laterKeys, asOf, cost, streams } = setting;
  const recall = new RecallCount(group);
  await forEachHeld(held.map, streams, (key) => recall.add(key));
  const { recalls } = recall;
  if (asOf === undefined || held.later === undefined) {
    return group.map((predictor, i) => ({
      ...cost,
      recall: recalls[i],
      freshness: shareOf(laterKeys, predictor),
    }));
  }
  const fresh = new FreshnessCount(group);
  await forEachLater(held.later, (key, isNew, months) => fresh.add(key, isNew, months));
  return group.map((_, i) => {
    const result = fresh.result(i, asOf);
    const { newOriginals, newOriginalsPresent } = result;
    const freshness = newOriginals === 0 ? null : newOriginalsPresent / newOriginals;
    return { ...cost, recall: recalls[i], freshness, asOf: result };
  });
}

/** The share of keys that a predictor calls present; null for none. */
function shareOf(keys: readonly Uint8Array[] | undefined, predictor: Predictor): number | null {
  if (keys === undefined || keys.length === 0) return null;
  return keys.filter((key) => predictor.says(key)).length / keys.length;
}

/** The map with all keys: it is right about keys, and not about URIs with queries. */
async function evaluateBase({ held, judged, cost, streams }: Setting): Promise<Evaluation> {
  const measured = await measureBase(held.map, streams);
  const { queries } = held;
  const base = { name: weightName(Infinity, Infinity), queries, ...measured };
  const facts = { ...cost, recall: 1, freshness: null };
  const { asked, keyIsHeld, uriIsHeld } = judged;
  const byKey = answersByKey(keyIsHeld, asked);
  const answers = queries && uriIsHeld !== undefined ? { ...byKey, uris: uriIsHeld } : byKey;
  return evaluation(base, judged, answers, facts);
}

/** Everything to be evaluated: the maps named, what is made of the truth, and rivals. */
async function* predictorsOf(
  maps: readonly string[],
  setting: Setting,
): AsyncGenerator<Predictor, void, undefined> {
  const { sweep, held, streams, asOf } = setting;
  const rivalSizes = new Set<number>();
  for (const path of maps) {
    const predictor = await readPredictor(path, path, streams);
    rivalSizes.add(predictor.gzipBytes);
    yield predictor;
  }
  if (asOf !== undefined && maps.length === 0 && sweep === undefined) {
    yield await readPredictor(`all keys as of ${asOf}`, held.map, streams);
  }
  for await (const predictor of madeOfTruth(setting)) {
    if (predictor.name.startsWith("budget")) rivalSizes.add(predictor.gzipBytes);
    yield predictor;
  }
  if (sweep !== "frontier") return;
  yield* await fixedPolicies(setting);
  const sizes = [...rivalSizes].sort((a, b) => a - b);
  if (sizes.length === 0) return;
  yield* packedMaps(held.map, sizes, setting);
  const filters = sizes.map((bytes) => new BloomFilter(bytes, held.keys));
  await forEachHeld(held.map, streams, (key) => {
    for (const filter of filters) filter.add(key);
  });
  yield* sizes.map((bytes, i) => bloomPredictor(`bloom ${bytes} B`, bytes, filters[i], held));
}

async function readPredictor(name: string, path: string, streams: MapStreams): Promise<Predictor> {
  return mapPredictor(name, await bytesOf(path, streams));
}

async function bytesOf(path: string, streams: MapStreams): Promise<Uint8Array> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  return joined(input.chunks);
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const chunk of chunks) blocks.push(chunk.slice());
  return Buffer.concat(blocks);
}

/** Maps of the truth: by weights, and by budgets. */
async function* madeOfTruth(setting: Setting): AsyncGenerator<Predictor, void, undefined> {
  const { sweep, held, streams } = setting;
  if (sweep === "paper") {
    for await (const { name, map, made } of paperMaps(held.map, streams)) {
      yield mapPredictor(name, map, made);
    }
    return;
  }
  if (sweep !== "frontier") return;
  for (const [hostWeight, pathWeight] of BASELINE_WEIGHTS) {
    const { bytes } = await compacted(reading(setting), { hostWeight, pathWeight }, held.map);
    yield mapPredictor(`weights ${hostWeight}/${pathWeight}`, bytes);
  }
  yield* budgets(setting, undefined);
  if (setting.misses !== undefined) yield* budgets(setting, setting.misses);
}

/** Reads the map of what is held, from the start at each call. */
function reading({ held, streams }: Setting): ReadMap {
  return async function* read() {
    const input = await openInput(held.map, streams, { signal: streams.interrupt?.signal });
    yield* input.chunks;
  };
}

async function* budgets(
  setting: Setting,
  misses: MissList | undefined,
): AsyncGenerator<Predictor, void, undefined> {
  const {
    held,
    scratch,
    cost: { costDivisor },
  } = setting;
  const label = misses === undefined ? "budget" : "trained";
  const spill = new ScratchSpill(join(scratch, `${label}-nodes`));
  try {
    const compaction = await BudgetCompaction.survey(reading(setting), {
      source: held.map,
      misses,
      spill,
    });
    for (const cost of FRONTIER_COSTS) {
      const maxRows = Math.floor(cost * costDivisor);
      // No map can keep it.
      if (maxRows < compaction.leastRows) continue;
      const map = await joined(compaction.write(compaction.plan(maxRows)));
      yield mapPredictor(`${label} ${(100 * cost).toFixed(1)}%`, map);
    }
  } finally {
    spill.close();
  }
}

/** The profiles that fixed policies give, as maps. */
async function fixedPolicies({ held, streams }: Setting): Promise<Predictor[]> {
  const kept = FIXED_POLICIES.map(() => new Set<string>());
  const decoder = new TextDecoder();
  await forEachHeld(held.map, streams, (bytes) => {
    const [key = ""] = decoder.decode(bytes).split(held.queries ? "?" : "\n", 1);
    for (const [i, policy] of FIXED_POLICIES.entries()) kept[i].add(cutKey(key, policy));
  });
  const head = headerText(new UkvsHeaders([]));
  return FIXED_POLICIES.map(({ name }, i) => {
    // Keys are ASCII, so this is byte order.
    const rows = [...kept[i]].sort((a, b) => (a < b ? -1 : 1)).map((key) => `${key} 1\n`);
    return mapPredictor(name, Buffer.concat([head, Buffer.from(rows.join(""))]));
  });
}
