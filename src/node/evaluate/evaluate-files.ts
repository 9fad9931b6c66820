import { gzipSync } from "node:zlib";
import { CLOSE_PAREN, SPACE, STAR } from "../../bytes/ascii.ts";
import { compactMap } from "../../compact/compact-map.ts";
import { BudgetCompaction } from "../../compact/budget/budget-compaction.ts";
import { MementoMapError } from "../../errors.ts";
import type { AskedKeys, Evaluation, EvaluationReport } from "../../evaluate/evaluation.ts";
import { evaluate, RecallCount } from "../../evaluate/evaluation.ts";
import { cutKey, FIXED_POLICIES } from "../../evaluate/fixed-policy.ts";
import { lookupKey, LookupList, lookupTexts } from "../../evaluate/lookup-list.ts";
import type { MadeBy } from "../../evaluate/paper-sweep.ts";
import type { Predictor } from "../../evaluate/predictor.ts";
import { BloomPredictor, MapPredictor } from "../../evaluate/predictor.ts";
import { frequencyIsZero } from "../../ukvs/frequency-sum.ts";
import { headerText, UkvsHeaders } from "../../ukvs/header.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { openInput } from "../input-file.ts";
import type { MapStreams } from "../map-sources.ts";
import { openMap } from "../open-map.ts";
import { readMisses } from "../compact/budget-files.ts";
import { budgetKernels } from "../compact/budget-kernels.ts";
import { paperMaps } from "./paper-maps.ts";

/** Which maps to make of the truth and evaluate besides. */
export type Sweep = "paper" | "frontier";

export interface EvaluateOptions {
  /** The map that lists all keys: what is held. */
  readonly truth: string;
  readonly lookups: string;
  /** What was archived after the truth was made. */
  readonly future?: string | undefined;
  /** Lookups that missed, for the maps of a sweep to learn from. */
  readonly misses?: string | undefined;
  readonly originals?: number | undefined;
  /** Whether a key asked twice counts twice. */
  readonly countsRepeats?: boolean | undefined;
  /** Whether to add weights, fixed policies and Bloom filters. */
  readonly addsBaselines?: boolean | undefined;
  readonly sweep?: Sweep | undefined;
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

/**
 * Evaluates maps, and what else is asked for, against one truth.
 *
 * Holds the lookups, the maps that are evaluated, the names of held hosts, and the truth where it is smaller than 1 GiB;
 * reads the truth once for all maps, and once for each map made of it.
 *
 * @throws MM_IO, MM_USAGE, and what is wrong with a map
 */
export async function evaluateFiles(
  maps: readonly string[],
  options: EvaluateOptions,
): Promise<EvaluationReport> {
  const { streams } = options;
  if (options.truth === "-") {
    throw new MementoMapError("MM_USAGE", "the truth is read more than once; name a file");
  }
  const truth = await openMap(options.truth, streams, { forMany: true });
  try {
    const isHeld = async (key: string): Promise<boolean> =>
      truth.index === undefined
        ? (await truth.lookup.lookupSurt(key)).present
        : truth.index.lookupSurtSync(key).present;
    const asked = await readKeys(options.lookups, streams, options.countsRepeats === true);
    const lookups = await withTruth(asked, isHeld);
    const future =
      options.future === undefined
        ? undefined
        : await notHeld(await readKeys(options.future, streams, false), isHeld);
    const predictors: Predictor[] = [];
    for (const path of maps) predictors.push(await readPredictor(path, streams));
    predictors.push(...(await madeOfTruth(options)));
    if (options.addsBaselines === true || options.sweep === "frontier") {
      predictors.push(...(await fixedPolicies(options)));
    }
    const { keys, hosts } = await heldHosts(options);
    const rivals = predictors.filter(
      ({ name }) => maps.includes(name) || name.startsWith("budget"),
    );
    const filters =
      options.addsBaselines === true || options.sweep === "frontier"
        ? filterSizes(rivals).map((bytes) => new BloomPredictor(`bloom ${bytes} B`, bytes, keys))
        : [];
    if (filters.length > 0) {
      await forEachHeld(options, (key) => {
        for (const filter of filters) filter.add(key);
      });
    }
    const all = [...predictors, ...filters];
    const recall = new RecallCount(all);
    await forEachHeld(options, (key) => {
      recall.add(key);
    });
    const { recalls } = recall;
    const known = onHosts(asked, lookups, hosts);
    const evaluations = (on: AskedKeys): Evaluation[] => {
      const input = { lookups: on, future, originals: options.originals ?? keys };
      return all.map((predictor, i) => evaluate(predictor, input, recalls[i]));
    };
    return { all: evaluations(lookups), onHeldHosts: evaluations(known) };
  } finally {
    await truth.close();
  }
}

/** The sizes of Bloom filters to compare with: those of the maps, each once. */
function filterSizes(predictors: readonly Predictor[]): number[] {
  return [...new Set(predictors.map(({ gzipBytes }) => gzipBytes))].toSorted((a, b) => a - b);
}

async function readKeys(
  path: string,
  streams: MapStreams,
  keepsRepeats: boolean,
): Promise<string[]> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const keys: string[] = [];
  for await (const texts of lookupTexts(input.chunks, new LookupList(input.name), input.name)) {
    for (const text of texts) keys.push(lookupKey(text));
  }
  return keepsRepeats ? keys : [...new Set(keys)];
}

async function withTruth(
  keys: readonly string[],
  isHeld: (key: string) => Promise<boolean>,
): Promise<AskedKeys> {
  const held = new Uint8Array(keys.length);
  for (const [i, key] of keys.entries()) held[i] = (await isHeld(key)) ? 1 : 0;
  const encoder = new TextEncoder();
  return { keys: keys.map((key) => encoder.encode(key)), isHeld: held };
}

/** Those of the lookups whose host is held. */
function onHosts(
  asked: readonly string[],
  lookups: AskedKeys,
  hosts: ReadonlySet<string>,
): AskedKeys {
  const places = [...asked.keys()].filter((i) => hosts.has(hostOf(asked[i])));
  return {
    keys: places.map((i) => lookups.keys[i]),
    isHeld: Uint8Array.from(places, (i) => lookups.isHeld[i]),
  };
}

async function notHeld(
  keys: readonly string[],
  isHeld: (key: string) => Promise<boolean>,
): Promise<Uint8Array[]> {
  const encoder = new TextEncoder();
  const later: Uint8Array[] = [];
  for (const key of keys) if (!(await isHeld(key))) later.push(encoder.encode(key));
  return later;
}

async function heldHosts(options: EvaluateOptions): Promise<{ keys: number; hosts: Set<string> }> {
  const hosts = new Set<string>();
  const decoder = new TextDecoder();
  let keys = 0;
  let last = "";
  await forEachHeld(options, (key) => {
    keys++;
    const host = decoder.decode(key.subarray(0, key.indexOf(CLOSE_PAREN)));
    if (host !== last) hosts.add(host);
    last = host;
  });
  return { keys, hosts };
}

function hostOf(key: string): string {
  return key.slice(0, key.indexOf(")"));
}

/** Visits the keys of the truth that are held; wildcards are no keys that can be asked for. */
async function forEachHeld(
  { truth, streams }: EvaluateOptions,
  visit: (key: Uint8Array) => void,
): Promise<void> {
  const input = await openInput(truth, streams, { signal: streams.interrupt?.signal });
  const reader = await readUkvs(input.chunks, { source: input.name });
  for await (const { bytes, count, keyStarts, keyEnds, tupleEnds } of reader.batches()) {
    for (let i = 0; i < count; i++) {
      let start = tupleEnds[i];
      while (start < bytes.length && bytes[start] <= SPACE) start++;
      let end = start;
      while (end < bytes.length && bytes[end] > SPACE) end++;
      const isWildcard = bytes[keyEnds[i] - 1] === STAR;
      if (isWildcard || frequencyIsZero(bytes, start, end)) continue;
      visit(bytes.subarray(keyStarts[i], keyEnds[i]));
    }
  }
}

async function readPredictor(path: string, streams: MapStreams): Promise<MapPredictor> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  return mapPredictor(path, await joined(input.chunks));
}

function mapPredictor(name: string, map: Uint8Array, made?: MadeBy): MapPredictor {
  return new MapPredictor(name, map, gzipSync(map).length, made);
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const chunk of chunks) blocks.push(chunk.slice());
  return Buffer.concat(blocks);
}

/** Maps of the truth: by weights, and by budgets. */
async function madeOfTruth(options: EvaluateOptions): Promise<Predictor[]> {
  const { sweep, streams } = options;
  if (sweep === "paper") {
    const maps = await paperMaps(options.truth, streams);
    return maps.map(({ name, map, made }) => mapPredictor(name, map, made));
  }
  const pairs = sweep === "frontier" || options.addsBaselines === true ? BASELINE_WEIGHTS : [];
  const predictors: Predictor[] = [];
  for (const [hostWeight, pathWeight] of pairs) {
    const input = await openInput(options.truth, streams, { signal: streams.interrupt?.signal });
    const map = await joined(compactMap(input.chunks, { hostWeight, pathWeight }));
    predictors.push(mapPredictor(`weights ${hostWeight}/${pathWeight}`, map));
  }
  if (sweep !== "frontier") return predictors;
  predictors.push(...(await budgets(options, undefined)));
  if (options.misses !== undefined) predictors.push(...(await budgets(options, options.misses)));
  return predictors;
}

async function budgets(options: EvaluateOptions, misses: string | undefined): Promise<Predictor[]> {
  const { streams } = options;
  const read = async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    const input = await openInput(options.truth, streams, { signal: streams.interrupt?.signal });
    yield* input.chunks;
  };
  const compaction = await BudgetCompaction.survey(read, {
    source: options.truth,
    misses: misses === undefined ? undefined : await readMisses({ path: misses }, streams),
    kernels: budgetKernels,
  });
  const predictors: Predictor[] = [];
  for (const cost of FRONTIER_COSTS) {
    const maxRows = Math.floor(cost * (options.originals ?? compaction.rowsRead));
    const plan = tryPlan(compaction, maxRows);
    if (plan === undefined) continue;
    const label = `${misses === undefined ? "budget" : "trained"} ${(100 * cost).toFixed(1)}%`;
    predictors.push(mapPredictor(label, await joined(compaction.write(plan))));
  }
  return predictors;
}

/** A plan, or undefined for a budget that no map can keep. */
function tryPlan(
  compaction: BudgetCompaction,
  maxRows: number,
): ReturnType<BudgetCompaction["plan"]> | undefined {
  return maxRows < compaction.leastRows ? undefined : compaction.plan(maxRows);
}

/** The profiles that fixed policies give, as maps. */
async function fixedPolicies(options: EvaluateOptions): Promise<Predictor[]> {
  const kept = FIXED_POLICIES.map(() => new Set<string>());
  const decoder = new TextDecoder();
  await forEachHeld(options, (bytes) => {
    const key = decoder.decode(bytes);
    for (const [i, policy] of FIXED_POLICIES.entries()) kept[i].add(cutKey(key, policy));
  });
  const head = headerText(new UkvsHeaders([]));
  return FIXED_POLICIES.map(({ name }, i) => {
    // Keys are ASCII, so this is byte order.
    const rows = [...kept[i]].sort((a, b) => (a < b ? -1 : 1)).map((key) => `${key} 1\n`);
    return mapPredictor(name, Buffer.concat([head, Buffer.from(rows.join(""))]));
  });
}
