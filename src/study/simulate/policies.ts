import { Learner } from "../../aggregate/learn/learner.ts";
import { type LearningReport, learningReport } from "../../aggregate/learn/learning-report.ts";
import { type Archive, parseArchiveList } from "../../aggregate/route/archive.ts";
import { type Decision, isSample } from "../../aggregate/route/decision.ts";
import { MapRouter } from "../../aggregate/route/map-router.ts";
import type { RoutedMap } from "../../aggregate/route/routed-map.ts";
import { Random } from "../../bytes/random.ts";
import type { LookupStream } from "./lookup-stream.ts";
import type { SimulatedArchive } from "./simulated-archives.ts";

/** A way to choose which archives are asked. */
export interface Policy {
  readonly name: string;
  /** Sets, for each archive, one of {@link ASK}. */
  choose(place: number, time: number, asked: Uint8Array): void;
  /** What those that were asked had: mementos by archive. */
  learn(place: number, asked: Uint8Array, mementos: (archive: number) => number): void;
  /** Where the policy promises something. */
  report?(): LearningReport;
}

/** Not asked; asked; asked without waiting for the answer. */
export const ASK = { no: 0, yes: 1, sample: 2 } as const;

export interface PolicyWorld {
  readonly archives: readonly SimulatedArchive[];
  readonly stream: LookupStream;
  readonly seed: number;
}

const nothing = (): void => undefined;

export function broadcast(): Policy {
  return {
    name: "broadcast",
    choose: (_place, _time, asked) => asked.fill(ASK.yes),
    learn: nothing,
  };
}

/** Perfect knowledge: the upper bound on savings at recall 1. */
export function oracle({ archives }: PolicyWorld): Policy {
  return {
    name: "oracle",
    choose(place, _time, asked) {
      for (const [number, { held }] of archives.entries()) {
        asked[number] = held[place] > 0 ? ASK.yes : ASK.no;
      }
    },
    learn: nothing,
  };
}

/** The share of lookups that an archive has; as its list says, or as it is. */
function rateOf({ probability, held }: SimulatedArchive, { lookups }: LookupStream): number {
  if (probability !== undefined) return probability;
  return lookups.reduce((sum, place) => sum + (held[place] > 0 ? 1 : 0), 0) / lookups.length;
}

/** Always the same archives: those that have most. */
export function topArchives(world: PolicyWorld, count: number): Policy {
  const rates = world.archives.map((archive) => rateOf(archive, world.stream));
  const order = [...rates.keys()].sort((a, b) => rates[b] - rates[a]).slice(0, count);
  return {
    name: `top-${count}`,
    choose(_place, _time, asked) {
      asked.fill(ASK.no);
      for (const archive of order) asked[archive] = ASK.yes;
    },
    learn: nothing,
  };
}

/** The first lookups, of which all archives are asked: at most as many, and at most a tenth of all. */
const MAX_TRAINING = 10_000;

/** Archives that had anything of the top-level domain in the first lookups, of which all are asked. */
export function tldPolicy({ archives, stream }: PolicyWorld): Policy {
  const training = Math.min(MAX_TRAINING, Math.ceil(stream.lookups.length / 10));
  const known = archives.map(() => new Set<string>());
  const tldOf = (place: number): string => stream.originals[place].split(/[,)]/, 1)[0];
  let lookups = 0;
  return {
    name: `tld profile of ${training}`,
    choose(place, _time, asked) {
      lookups++;
      const tld = tldOf(place);
      for (const [archive, tlds] of known.entries()) {
        asked[archive] = lookups <= training || tlds.has(tld) ? ASK.yes : ASK.no;
      }
    },
    learn(place, _asked, mementos) {
      if (lookups > training) return;
      for (const [archive, tlds] of known.entries()) {
        if (mementos(archive) > 0) tlds.add(tldOf(place));
      }
    },
  };
}

interface RoutedOptions {
  readonly name: string;
  /** What is to be kept; undefined where nothing is learnt. */
  readonly recall?: number | undefined;
  /** By the ids of archives. */
  readonly maps?: ReadonlyMap<string, RoutedMap> | undefined;
}

/** The router of the aggregator, with maps, what is learnt, or both. */
export async function routed(world: PolicyWorld, options: RoutedOptions): Promise<Policy> {
  const { archives, stream, seed } = world;
  const random = new Random(seed, options.name);
  let now = stream.times[0];
  const list = listOf(archives);
  const learner =
    options.recall === undefined
      ? undefined
      : new Learner(archives, {
          recall: options.recall,
          random: () => random.real(),
          now: () => now,
        });
  const router = new MapRouter(list, { learner, random: () => random.real(), now: () => now });
  if (options.maps !== undefined) router.replaceMaps(options.maps);
  const numbers = new Map(archives.map(({ id }, number) => [id, number]));
  let decisions: readonly Decision[] = [];
  return {
    name: options.name,
    choose(place, time, asked) {
      now = time;
      asked.fill(ASK.no);
      decisions = router.route({ uri: stream.uris[place] });
      for (const decision of decisions) {
        if (!decision.isAsked) break;
        asked[numbers.get(decision.archive.id) ?? 0] = isSample(decision) ? ASK.sample : ASK.yes;
      }
    },
    learn(place, _asked, mementos) {
      for (const decision of decisions) {
        if (!decision.isAsked) break;
        const count = mementos(numbers.get(decision.archive.id) ?? 0);
        router.learn(decision, stream.uris[place], count > 0, count);
      }
    },
    ...(learner === undefined ? {} : { report: () => learningReport(learner) }),
  };
}

function listOf(archives: readonly SimulatedArchive[]): Archive[] {
  const entries = archives.map(({ id, probability }, i) => ({
    id,
    timemap: `http://archive-${i}.invalid/`,
    ...(probability === undefined ? {} : { probability }),
  }));
  return parseArchiveList(JSON.stringify(entries));
}
