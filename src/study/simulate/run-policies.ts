import type { LearningReport } from "../../aggregate/learn/learner.ts";
import { readMap } from "../../aggregate/route/read-map.ts";
import type { RoutedMap } from "../../aggregate/route/routed-map.ts";
import { MementoMapError } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import type { LookupStream } from "./lookup-stream.ts";
import * as policies from "./policies.ts";
import type { SimulatedArchive } from "./simulated-archives.ts";

/** The results of a policy, over all lookups or an interval of them. */
export interface PolicyCounts {
  lookups: number;
  /** Requests to archives, and those of a broadcast. */
  requests: number;
  broadcast: number;
  /** Hits (archives with mementos), and those that reached the client; likewise mementos. */
  hits: number;
  keptHits: number;
  mementos: number;
  keptMementos: number;
}

export interface PolicyResult {
  readonly policy: string;
  /** After the first `from` distinct originals. */
  readonly total: PolicyCounts;
  /** Per interval, up to 100, 200, 500, 1000 lookups and so on. */
  readonly parts: readonly (PolicyCounts & { readonly until: number })[];
  readonly learning: LearningReport | undefined;
}

export interface SimulateOptions {
  readonly stream: LookupStream;
  readonly archives: readonly SimulatedArchive[];
  readonly policies: readonly string[];
  readonly recalls: readonly number[];
  /** Skip this many distinct originals before counting. */
  readonly from: number;
  readonly seed: number;
  readonly streams: MapStreams;
}

export const POLICIES = ["broadcast", "top-k", "tld", "maps", "learner", "both", "oracle"] as const;

/** Runs several policies on the same stream of lookups. Deterministic for a given seed. */
export async function simulate(options: SimulateOptions): Promise<PolicyResult[]> {
  checkFrom(options);
  const results: PolicyResult[] = [];
  for (const name of options.policies) {
    for (const policy of await policiesOf(name, options)) results.push(run(policy, options));
  }
  return results;
}

function checkFrom({ stream, from }: SimulateOptions): void {
  const originals = new Set(stream.lookups).size;
  if (from < originals) return;
  throw new MementoMapError(
    "MM_USAGE",
    `--skip ${from} leaves no lookups to count: there are ${originals} distinct originals`,
  );
}

async function policiesOf(name: string, options: SimulateOptions): Promise<policies.Policy[]> {
  const learners = (label: string, maps?: ReadonlyMap<string, RoutedMap>): policies.Policy[] =>
    options.recalls.map((recall) =>
      policies.routed(options, { name: `${label} ${recall}`, recall, maps }),
    );
  switch (name) {
    case "broadcast":
      return [policies.broadcast(options)];
    case "top-k":
      return [1, 3, 5].map((count) => policies.topArchives(options, count));
    case "tld":
      return [policies.tldPolicy(options)];
    case "maps":
      return [policies.routed(options, { name, maps: await mapsOf(options) })];
    case "learner":
      return learners(name);
    case "both":
      return learners("learner and maps", await mapsOf(options));
    case "oracle":
      return [policies.oracle(options)];
    default:
      throw new MementoMapError("MM_USAGE", `unknown policy "${name}"; use ${POLICIES.join(", ")}`);
  }
}

/**
 * The maps in the list, by archive id.
 *
 * @throws MM_USAGE if there is none: such a policy would be a broadcast
 */
async function mapsOf({ archives }: SimulateOptions): Promise<ReadonlyMap<string, RoutedMap>> {
  const maps = new Map<string, RoutedMap>();
  for (const { id, map } of archives) {
    if (map !== undefined) maps.set(id, { index: await readMap(map), updatedAt: undefined });
  }
  if (maps.size > 0) return maps;
  throw new MementoMapError("MM_USAGE", 'policies with maps need a "mementomap" in the list');
}

function noCounts(): PolicyCounts {
  return {
    lookups: 0,
    requests: 0,
    broadcast: 0,
    hits: 0,
    keptHits: 0,
    mementos: 0,
    keptMementos: 0,
  };
}

function run(policy: policies.Policy, options: SimulateOptions): PolicyResult {
  const { stream, archives, from } = options;
  const seen = new Uint8Array(stream.originals.length);
  const total = noCounts();
  const parts: (PolicyCounts & { until: number })[] = [];
  let part = noCounts();
  let distinct = 0;
  let next = 100;
  for (const [i, place] of stream.lookups.entries()) {
    checkSignal(options.streams.interrupt?.signal);
    if (seen[place] === 0) distinct++;
    seen[place] = 1;
    const asked = policy.ask(place, stream.times[i]);
    count(part, archives, asked, place);
    if (distinct > from) count(total, archives, asked, place);
    if (i + 1 !== next && i + 1 !== stream.lookups.length) continue;
    parts.push({ ...part, until: i + 1 });
    part = noCounts();
    next = nextMark(next);
  }
  return { policy: policy.name, total, parts, learning: policy.report?.() };
}

/** 100, 200, 500, 1000, 2000 and so on. */
function nextMark(mark: number): number {
  const lead = mark / 10 ** Math.floor(Math.log10(mark));
  return lead === 2 ? mark * 2.5 : mark * 2;
}

function count(
  counts: PolicyCounts,
  archives: readonly SimulatedArchive[],
  asked: readonly number[],
  place: number,
): void {
  counts.lookups++;
  counts.broadcast += archives.length;
  for (const [number, { held }] of archives.entries()) {
    const mementos = held[place];
    counts.mementos += mementos;
    if (mementos > 0) counts.hits++;
    if (asked[number] === policies.ASK.no) continue;
    counts.requests++;
    if (asked[number] === policies.ASK.sample) continue;
    if (mementos > 0) counts.keptHits++;
    counts.keptMementos += mementos;
  }
}
