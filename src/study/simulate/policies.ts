import { Learner, type LearningReport } from "../../aggregate/learn/learner.ts";
import { type Archive, parseArchiveList } from "../../aggregate/route/archive.ts";
import { isSample } from "../../aggregate/route/decision.ts";
import { MapRouter } from "../../aggregate/route/map-router.ts";
import type { RoutedMap } from "../../aggregate/route/routed-map.ts";
import { Random } from "../../bytes/random.ts";
import type { LookupStream } from "./lookup-stream.ts";
import type { SimulatedArchive } from "./simulated-archives.ts";

/** A way to choose the archives to query. */
export interface Policy {
  readonly name: string;
  /** Returns one of {@link ASK} for each archive, and learns from the responses of the queried ones. */
  ask(place: number, time: number): readonly number[];
  /** The measured recall, if the policy has a target. */
  report?(): LearningReport;
}

/** Not queried; queried; queried without waiting for the response. */
export const ASK = { no: 0, yes: 1, sample: 2 } as const;

export interface PolicyWorld {
  readonly archives: readonly SimulatedArchive[];
  readonly stream: LookupStream;
  readonly seed: number;
}

/** Queries the archives that match the predicate. */
function askIf(
  { archives }: PolicyWorld,
  is: (archive: SimulatedArchive, number: number) => boolean,
): readonly number[] {
  return archives.map((archive, number) => (is(archive, number) ? ASK.yes : ASK.no));
}

export function broadcast(world: PolicyWorld): Policy {
  return { name: "broadcast", ask: () => askIf(world, () => true) };
}

/** Perfect knowledge: the upper bound on savings at recall 1. */
export function oracle(world: PolicyWorld): Policy {
  return { name: "oracle", ask: (place) => askIf(world, ({ held }) => held[place] > 0) };
}

/** Always the archives with the highest hit rates, by the list or else by the stream. */
export function topArchives(world: PolicyWorld, count: number): Policy {
  const { archives, stream } = world;
  const hits = ({ held }: SimulatedArchive): number =>
    stream.lookups.reduce((sum, place) => sum + (held[place] > 0 ? 1 : 0), 0);
  const rates = archives.map(
    (archive) => archive.probability ?? hits(archive) / stream.lookups.length,
  );
  const order = [...rates.keys()].sort((a, b) => rates[b] - rates[a]).slice(0, count);
  const asked = askIf(world, (_archive, number) => order.includes(number));
  return { name: `top-${count}`, ask: () => asked };
}

/** The maximum number of training lookups, which go to every archive; at most a tenth of all. */
const MAX_TRAINING = 10_000;

/** Archives with hits for the top-level domain in the training lookups, which go to every archive. */
export function tldPolicy(world: PolicyWorld): Policy {
  const { archives, stream } = world;
  const training = Math.min(MAX_TRAINING, Math.ceil(stream.lookups.length / 10));
  const known = archives.map(() => new Set<string>());
  let lookups = 0;
  return {
    name: `tld profile of ${training}`,
    ask(place) {
      const [tld] = stream.originals[place].split(/[,)]/, 1);
      if (++lookups > training) return askIf(world, (_archive, number) => known[number].has(tld));
      for (const [number, { held }] of archives.entries())
        if (held[place] > 0) known[number].add(tld);
      return askIf(world, () => true);
    },
  };
}

interface RoutedOptions {
  readonly name: string;
  /** The target recall; undefined without learning. */
  readonly recall?: number | undefined;
  /** Maps by archive id. */
  readonly maps?: ReadonlyMap<string, RoutedMap> | undefined;
}

/** The router of the aggregator, with maps, learning, or both. */
export function routed(world: PolicyWorld, { name, recall, maps }: RoutedOptions): Policy {
  const { archives, stream, seed } = world;
  const generator = new Random(seed, name);
  let time = stream.times[0];
  const [now, random] = [() => time, () => generator.real()];
  const learner = recall === undefined ? undefined : new Learner(archives, { recall, random, now });
  const router = new MapRouter(listOf(archives), { learner, random, now });
  if (maps !== undefined) router.replaceMaps(maps);
  const numbers = new Map(archives.map(({ id }, number) => [id, number]));
  return {
    name,
    ask(place, at) {
      time = at;
      const uri = stream.uris[place];
      const asked: number[] = archives.map(() => ASK.no);
      for (const decision of router.route({ uri })) {
        if (!decision.isAsked) break;
        const number = numbers.get(decision.archive.id) ?? 0;
        asked[number] = isSample(decision) ? ASK.sample : ASK.yes;
        const mementos = archives[number].held[place];
        router.learn(decision, uri, mementos > 0, mementos);
      }
      return asked;
    },
    ...(learner === undefined ? {} : { report: () => learner.report() }),
  };
}

function listOf(archives: readonly SimulatedArchive[]): Archive[] {
  const entries = archives.map(({ id, probability }, i) => ({
    id,
    timemap: `http://archive-${i}.invalid/`,
    probability,
  }));
  return parseArchiveList(JSON.stringify(entries));
}
