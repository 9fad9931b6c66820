import type { LearningReport } from "../../aggregate/learn/learning-report.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import type { MapStreams } from "../../map/lookup/map-sources.ts";
import type { LookupStream } from "./lookup-stream.ts";
import { uniform } from "./model-archive.ts";
import * as policies from "./policies.ts";
import type { SimulatedArchive } from "./simulated-archives.ts";
import { type MapKind, type Maps, simulatedMaps } from "./simulated-maps.ts";

/** What came of a policy, over all lookups or a part of them. */
export interface PolicyCounts {
  lookups: number;
  /** Requests to archives, and those that a broadcast would have made. */
  requests: number;
  broadcast: number;
  /** Archives that had something, and those of them that the client heard of; the same of mementos. */
  hits: number;
  keptHits: number;
  mementos: number;
  keptMementos: number;
  /** The time until the last archive had answered that was waited for, and bytes of answers. */
  latencyMs: number;
  bytes: number;
}

export interface PolicyResult {
  readonly policy: string;
  /** From `from` different originals on. */
  readonly total: PolicyCounts;
  /** Over time: up to 100, 200, 500, 1000 lookups and so on, each since the one before. */
  readonly parts: readonly (PolicyCounts & { readonly until: number })[];
  readonly learning: LearningReport | undefined;
}

export interface SimulateOptions {
  readonly stream: LookupStream;
  readonly archives: readonly SimulatedArchive[];
  readonly policies: readonly string[];
  readonly recalls: readonly number[];
  /** Count from this many different originals on. */
  readonly from: number;
  /** The first lookups that go to another aggregator, which shares what it learns; default 0. */
  readonly others?: number | undefined;
  readonly mapBytes: number;
  /** Ids of archives that have maps; all by default. */
  readonly mapped: readonly string[];
  readonly seed: number;
  readonly scratch: string;
  readonly streams: MapStreams;
}

export const POLICIES = [
  "broadcast",
  "top-k",
  "probability",
  "tld",
  "maps",
  "packed",
  "learner",
  "both",
  "shared",
  "oracle",
] as const;

const TRAINING = 10_000;

/** Runs policies side by side on a stream of lookups. Deterministic by the seed. */
export async function simulate(all: SimulateOptions): Promise<PolicyResult[]> {
  const { stream, others = 0 } = all;
  if (others >= stream.lookups.length) {
    throw new MementoMapError(
      "MM_USAGE",
      `none of ${stream.lookups.length} lookups is left after the ${others} for another aggregator`,
    );
  }
  const options = { ...all, stream: partOf(stream, others) };
  checkOptions(options);
  const before = { ...all, stream: partOf(stream, 0, others), from: 0 };
  const made = new Map<MapKind, Promise<Maps>>();
  const maps = (kind: MapKind): Promise<Maps> => {
    const known = made.get(kind) ?? simulatedMaps(options, kind);
    made.set(kind, known);
    return known;
  };
  const results: PolicyResult[] = [];
  for (const name of options.policies) {
    const policies =
      name === "shared" ? await beginners(options, before) : await policiesOf(name, options, maps);
    for (const policy of policies) results.push(run(policy, options));
  }
  return results;
}

/** @throws MM_USAGE for what would count nothing, and for maps of archives that are not there */
function checkOptions({ stream, from, archives, mapped }: SimulateOptions): void {
  const originals = new Set(stream.lookups).size;
  if (from >= originals) {
    throw new MementoMapError(
      "MM_USAGE",
      `nothing is left to count after ${from} of ${originals} different originals (--from)`,
    );
  }
  const ids = archives.map(({ id }) => id);
  const unknown = mapped.find((id) => !ids.includes(id));
  if (unknown === undefined) return;
  throw new MementoMapError(
    "MM_USAGE",
    `--mapped: there is no archive ${quote(unknown)}; there are ${ids.map(quote).join(", ")}`,
  );
}

function partOf(stream: LookupStream, start: number, end?: number): LookupStream {
  const { lookups, times } = stream;
  return { ...stream, lookups: lookups.slice(start, end), times: times.slice(start, end) };
}

/** Learners that begin with what another shares, which made the same promise for the lookups before. */
async function beginners(
  options: SimulateOptions,
  before: SimulateOptions,
): Promise<policies.Policy[]> {
  if (before.stream.lookups.length === 0) {
    throw new MementoMapError(
      "MM_USAGE",
      "policy shared needs lookups of another aggregator: say how many with --others",
    );
  }
  const made: policies.Policy[] = [];
  for (const recall of options.recalls) {
    const other = await policies.routed(before, { name: `other ${recall}`, recall });
    run(other, before);
    const shared = other.share?.();
    made.push(await policies.routed(options, { name: `shared ${recall}`, recall, shared }));
  }
  return made;
}

async function policiesOf(
  name: string,
  options: SimulateOptions,
  maps: (kind: MapKind) => Promise<Maps>,
): Promise<policies.Policy[]> {
  const learners = (label: string, own?: Maps): Promise<policies.Policy>[] =>
    options.recalls.map((recall) =>
      policies.routed(options, { name: `${label} ${recall}`, recall, maps: own }),
    );
  switch (name) {
    case "broadcast":
      return [policies.broadcast()];
    case "top-k":
      return [1, 3, 5].map((count) => policies.topArchives(options, count));
    case "probability":
      return [policies.probable(options, 0.05)];
    case "tld":
      return [policies.tldProfile(options, TRAINING)];
    case "maps":
      return [await policies.routed(options, { name: "maps", maps: await maps("text") })];
    case "packed":
      return [await policies.routed(options, { name: "packed maps", maps: await maps("packed") })];
    case "learner":
      return Promise.all(learners("learner"));
    case "both":
      return Promise.all(learners("learner and maps", await maps("text")));
    case "oracle":
      return [policies.oracle(options)];
    default:
      throw new MementoMapError("MM_USAGE", `unknown policy "${name}"; use ${POLICIES.join(", ")}`);
  }
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
    latencyMs: 0,
    bytes: 0,
  };
}

/** What an answer and each memento in it weigh. */
const ANSWER_BYTES = 400;
const MEMENTO_BYTES = 120;

function run(policy: policies.Policy, options: SimulateOptions): PolicyResult {
  const { stream, archives, from } = options;
  const asked = new Uint8Array(archives.length);
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
    policy.choose(place, stream.times[i], asked);
    policy.learn(place, asked, (archive) => archives[archive].held[place]);
    count(part, archives, asked, place, i);
    if (distinct > from) count(total, archives, asked, place, i);
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
  asked: Uint8Array,
  place: number,
  lookup: number,
): void {
  counts.lookups++;
  counts.broadcast += archives.length;
  let slowest = 0;
  for (const [number, { held, latencyMs }] of archives.entries()) {
    const mementos = held[place];
    counts.mementos += mementos;
    if (mementos > 0) counts.hits++;
    if (asked[number] === policies.ASK.no) continue;
    counts.requests++;
    counts.bytes += ANSWER_BYTES + mementos * MEMENTO_BYTES;
    if (asked[number] === policies.ASK.sample) continue;
    if (mementos > 0) counts.keptHits++;
    counts.keptMementos += mementos;
    slowest = Math.max(slowest, latencyOf(latencyMs, lookup, number));
  }
  counts.latencyMs += slowest;
}

/** Log-logistic around the median: one in a hundred takes ten times as long. */
function latencyOf(median: number, lookup: number, number: number): number {
  const chance = uniform(String(lookup), number) * 0.998 + 0.001;
  return median * Math.sqrt(chance / (1 - chance));
}
