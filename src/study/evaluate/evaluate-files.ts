import { DEFAULT_MEMORY_BYTES } from "../../generate/key-table.ts";
import { withTempDir } from "../../files/scratch.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { InputFormat } from "../../input/formats.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { readMisses } from "../../compact/budget-files.ts";
import { AskedLookups } from "./asked-lookups.ts";
import {
  type Evaluation,
  evaluation,
  type EvaluationReport,
  FreshnessCount,
  type JudgedLookups,
} from "./evaluation.ts";
import { BASE_NAME, traceBase } from "./paper-maps.ts";
import { type Predictor, readPredictor } from "./predictor.ts";
import { type PredictorSource, predictorsOf, type Sweep } from "./predictors.ts";
import { forEachHeld, hostOf, isPackedFile, mapHeaders, type Truth, withTruth } from "./truth.ts";

export interface EvaluateOptions {
  /** The holdings: a map that lists all keys, or an index of any format that `generate` reads. */
  readonly truth: string;
  /** The format of an index, and which of its captures count. */
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** A list of URIs or SURTs; optional with `asOf`. */
  readonly lookups?: string | undefined;
  /** A list of URIs archived after the truth was made. */
  readonly future?: string | undefined;
  /**
   * 4 to 14 digits. Splits the index: captures up to and including this time are held; later ones
   * show how fresh maps stay.
   */
  readonly asOf?: string | undefined;
  /** Earlier misses, to train the maps of a sweep. */
  readonly misses?: string | undefined;
  /** The archive whose misses to use from a log. */
  readonly archive?: string | undefined;
  /** The number of originals for relative cost; overrides that of the truth. */
  readonly originals?: number | undefined;
  readonly sweep?: Sweep | undefined;
  /** Whether to make maps with queries from an index; implied by a map with queries to evaluate. */
  readonly queries?: boolean | undefined;
  /** Whether to trace a compaction of the base of the paper's sweep, for its figure. */
  readonly traces?: boolean | undefined;
  /** The memory for all maps under evaluation; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: MapStreams;
}

/** The memory per byte of a map, with its index. */
const INDEX_GROWTH = 3;

const ONLY_KEYS =
  "the truth is a map whose keys have no queries, so held URIs are unknown; give the index with --truth";

/** The data to compare predictors with. */
interface Setting extends PredictorSource {
  readonly judged: JudgedLookups;
  /** Later lookups that are not held. */
  readonly laterKeys: readonly Uint8Array[];
  readonly memoryBytes: number;
}

/**
 * Evaluates maps against one truth.
 *
 * Holds the lookups, and at least one map, or as many as fit into half of `memoryBytes`; reads the truth
 * once for each such group, and once for each map made from it.
 *
 * @throws MM_BAD_INPUT for a list or a truth of another kind; MM_IO, MM_USAGE, and errors in a map
 */
export async function evaluateFiles(
  maps: readonly string[],
  options: EvaluateOptions,
): Promise<EvaluationReport> {
  const { streams, truth: path, memoryBytes = DEFAULT_MEMORY_BYTES } = options;
  const place = { parent: options.scratch, interrupt: streams.interrupt };
  return withTempDir(place, async (scratch) => {
    const queries = await truthHasQueries(maps, options);
    const misses =
      options.misses === undefined
        ? undefined
        : await readMisses(options.misses, options, { queries });
    const [asked, later] = [new AskedLookups(), new AskedLookups()];
    let oddLines = misses?.oddLines ?? 0;
    if (options.lookups !== undefined) oddLines += await asked.read(options.lookups, streams);
    if (options.future !== undefined) oddLines += await later.read(options.future, streams);
    const work = { ...options, path, scratch, queries, memoryBytes };
    return withTruth([asked, later], work, async (held) => {
      const { kind, keys } = held;
      const originals = options.originals ?? held.originals;
      const setting: Setting = {
        ...options,
        maps,
        misses,
        held,
        scratch,
        memoryBytes,
        cost:
          originals === undefined
            ? {
                costBasis: "keys",
                costDivisor: keys,
              }
            : {
                costBasis: "originals",
                costDivisor: originals,
              },
        judged: judge(asked, held),
        laterKeys: keysNotHeld(later, held),
      };
      const isPaper = options.sweep === "paper";
      const base = isPaper ? [await readPredictor(BASE_NAME, held.map, streams)] : [];
      return {
        all: await evaluateAll(setting),
        truth: {
          kind,
          keys,
          originals: held.originals ?? null,
          noUris: held.heldUris === undefined ? ONLY_KEYS : null,
        },
        base: (await evaluateGroup(base, setting)).at(0),
        trace:
          isPaper && options.traces === true
            ? await traceBase(held, streams, { hostWeight: 4, pathWeight: 2 })
            : undefined,
        oddLines,
      };
    });
  });
}

/** Whether the truth is a map with queries, or an index to convert to one. */
async function truthHasQueries(
  maps: readonly string[],
  { truth, queries = false, streams }: EvaluateOptions,
): Promise<boolean> {
  const given = await Promise.all(maps.map((path) => hasQueries(path, streams)));
  const wanted = queries || given.includes(true);
  const has = (await hasQueries(truth, streams)) ?? wanted;
  if (has || !wanted) return has;
  throw new MementoMapError(
    "MM_USAGE",
    `${quote(truth)} is a map without queries, so held URIs are unknown; ` +
      "give the index, or a full map with queries, with --truth",
  );
}

/** Whether a file is a map with queries; undefined if it is not a map. */
async function hasQueries(path: string, streams: MapStreams): Promise<boolean | undefined> {
  if (await isPackedFile(path)) return (await readPredictor(path, path, streams)).queries;
  const headers = await mapHeaders(path);
  return headers === undefined ? undefined : headers.fields.queries === true;
}

function judge(asked: AskedLookups, { heldKeys, heldHosts, heldUris }: Truth): JudgedLookups {
  return {
    asked,
    keyIsHeld: flags(asked.keys, (key) => heldKeys.has(key)),
    keyIsOnHeldHost: flags(asked.keys, (key) => heldHosts.has(hostOf(key))),
    uriIsHeld: heldUris === undefined ? undefined : flags(asked.uris, (uri) => heldUris.has(uri)),
  };
}

function flags(names: ReadonlyMap<string, number>, is: (name: string) => boolean): Uint8Array {
  return Uint8Array.from(names.keys(), (name) => (is(name) ? 1 : 0));
}

/** The entries of a list that are not held: URIs if the truth has them, else keys. */
function keysNotHeld(later: AskedLookups, { queries, heldKeys, heldUris }: Truth): Uint8Array[] {
  const [names, held] = queries ? [later.uris, heldUris] : [later.keys, heldKeys];
  return [...names.keys()]
    .filter((name) => held?.has(name) !== true)
    .map((name) => Buffer.from(name, "latin1"));
}

/** Evaluates predictors, as many at once as fit into memory. */
async function evaluateAll(setting: Setting): Promise<Evaluation[]> {
  const all: Evaluation[] = [];
  let group: Predictor[] = [];
  for await (const predictor of predictorsOf(setting)) {
    group.push(predictor);
    const bytes = group.reduce((sum, each) => sum + each.bytes * INDEX_GROWTH, 0);
    if (bytes < setting.memoryBytes / 2) continue;
    all.push(...(await evaluateGroup(group, setting)));
    group = [];
  }
  return [...all, ...(await evaluateGroup(group, setting))];
}

async function evaluateGroup(
  group: readonly Predictor[],
  { held, judged, laterKeys, asOf, cost, streams }: Setting,
): Promise<Evaluation[]> {
  if (group.length === 0) return [];
  const found = new Float64Array(group.length);
  await forEachHeld(held.map, streams, (key) => {
    for (let i = 0; i < group.length; i++) if (group[i].says(key)) found[i]++;
  });
  const counts = group.map((predictor) => new FreshnessCount(predictor));
  await held.forEachLater?.((...original) => {
    for (const count of counts) count.add(...original);
  });
  return group.map((predictor, i) => {
    const later = asOf === undefined ? undefined : counts[i].result(asOf);
    const freshness =
      later === undefined
        ? ratio(laterKeys.filter((key) => predictor.says(key)).length, laterKeys.length)
        : ratio(later.newOriginalsPresent, later.newOriginals);
    const facts = { ...cost, recall: found[i] / held.keys, freshness, asOf: later };
    return evaluation(predictor, judged, facts);
  });
}

/** Null if the whole is 0. */
function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
