import { Learner } from "../../aggregate/learn/learner.ts";
import { type LearningReport, learningReport } from "../../aggregate/learn/learning-report.ts";
import { learntMap } from "../../aggregate/learn/learnt-map.ts";
import { takeLearntMap } from "../../aggregate/learn/learnt-prior.ts";
import { type Archive, parseArchiveList } from "../../aggregate/route/archive.ts";
import { type Decision, isSample } from "../../aggregate/route/decision.ts";
import { MapRouter } from "../../aggregate/route/map-router.ts";
import type { RoutedMap } from "../../aggregate/route/routed-map.ts";
import { MemoryIndex } from "../../map/lookup/memory-index.ts";
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
  /** Where it learns: what it would share with others, by the ids of archives. */
  share?(): ReadonlyMap<string, Uint8Array>;
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

/** Those that have it, as nobody can know: no policy that keeps everything spares more. */
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

/** Archives that have at least this share of all lookups. */
export function probable(world: PolicyWorld, least: number): Policy {
  const asked = world.archives.map((archive) => rateOf(archive, world.stream) >= least);
  return {
    name: `probability ${least}`,
    choose: (_place, _time, out) => out.set(asked.map((isAsked) => (isAsked ? ASK.yes : ASK.no))),
    learn: nothing,
  };
}

/** Archives that had anything of the top-level domain in the first lookups, of which all are asked. */
export function tldProfile({ archives, stream }: PolicyWorld, training: number): Policy {
  const known = archives.map(() => new Set<string>());
  const tldOf = (place: number): string => stream.originals[place].split(/[,)]/, 1)[0];
  let lookups = 0;
  return {
    name: "tld profile",
    choose(place, _time, asked) {
      lookups++;
      const tld = tldOf(place);
      for (const [archive, tlds] of known.entries()) {
        asked[archive] = lookups <= training || tlds.has(tld) ? ASK.yes : ASK.no;
      }
    },
    learn(place, asked, mementos) {
      if (lookups > training) return;
      for (const [archive, tlds] of known.entries()) {
        if (asked[archive] !== ASK.no && mementos(archive) > 0) tlds.add(tldOf(place));
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
  /** Maps of what another aggregator learnt, to begin with; by the ids of archives. */
  readonly shared?: ReadonlyMap<string, Uint8Array> | undefined;
}

const noPause = (): Promise<void> => Promise.resolve();

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
  if (options.maps !== undefined) await router.replaceMaps(options.maps, noPause);
  for (const [id, bytes] of options.shared ?? []) {
    const own = { source: "shared", pause: noPause };
    if (learner !== undefined) await takeLearntMap(learner, id, MemoryIndex.build(bytes), own);
  }
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
    ...(learner === undefined
      ? {}
      : { report: () => learningReport(learner), share: () => sharedBy(learner, now) }),
  };
}

function sharedBy(learner: Learner, now: number): ReadonlyMap<string, Uint8Array> {
  const shared = new Map<string, Uint8Array>();
  for (const { id } of learner.archives) {
    const map = learntMap(learner, id, { id: `https://${id}.invalid/`, name: id, now });
    if (map !== undefined) shared.set(id, map);
  }
  return shared;
}

function listOf(archives: readonly SimulatedArchive[]): Archive[] {
  const entries = archives.map(({ id, probability }, i) => ({
    id,
    timemap: `http://archive-${i}.invalid/`,
    ...(probability === undefined ? {} : { probability }),
  }));
  return parseArchiveList(JSON.stringify(entries));
}
