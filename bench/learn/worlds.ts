import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { sharedData } from "../../test/support/shared-data.ts";
import { modelHoldings, PAPER_ARCHIVES } from "../aggregate/model-archive.ts";
import { benchFolder } from "../bench-folder.ts";

/** A stream of lookups, and what archives hold of its originals. */
export interface World {
  readonly archives: readonly string[];
  /** SURTs, and which of them each lookup is of, at which time. */
  readonly originals: readonly string[];
  readonly lookups: readonly number[];
  readonly times: readonly number[];
  /** By archive, the mementos of each original. */
  readonly held: readonly (readonly number[])[];
  /** From `changeAt` lookups on, other holdings. */
  readonly changeAt?: number;
  readonly heldLater?: readonly (readonly number[])[];
  /** Of the learner; default its own. */
  readonly memoryBytes?: number;
}

export const SETS = ["paper", "real", "nominations", "pressure", "drift"] as const;
export type SetName = (typeof SETS)[number];

const LOOKUPS = 105_000;
const PRESSURE_BYTES = 3 * 2 ** 20;

/** The path of a set, as JSON; made once. */
export async function worldFile(set: SetName, seed: number): Promise<string> {
  const path = join(await benchFolder(), `learn-world-${set}-${seed}.json`);
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(world(set, seed)));
  return path;
}

export function readWorld(path: string): World {
  return JSON.parse(readFileSync(path, "utf8")) as World;
}

function world(set: SetName, seed: number): World {
  const stream = set === "nominations" ? nominations() : posts();
  if (set === "paper") return { ...stream, ...paperHoldings(stream, seed) };
  const rules = { ...stream, ...ruledHoldings(stream, seed, set === "nominations") };
  if (set === "pressure") return { ...rules, memoryBytes: PRESSURE_BYTES };
  if (set !== "drift") return rules;
  // Halfway "hosts" crawls as many hosts again, and "eot" loses everything.
  const later = rules.held.map((held) => [...held]);
  const [eot, hosts] = ["eot", "hosts"].map((id) => rules.archives.indexOf(id));
  later[eot].fill(0);
  for (const [place, key] of stream.originals.entries()) {
    if (uniform(hostOf(key), seed + 99) < 0.05) later[hosts][place] ||= 3;
  }
  return { ...rules, changeAt: Math.floor(LOOKUPS / 2), heldLater: later };
}

type Stream = Pick<World, "originals" | "lookups" | "times">;

function lines(name: string): string[] {
  const path = sharedData(name);
  if (path === undefined) throw new Error(`${name} is not at hand`);
  return gunzipSync(readFileSync(path)).toString().trimEnd().split("\n");
}

function posts(): Stream {
  const rows = lines("congress-a.lookups.tsv.gz").slice(0, LOOKUPS);
  return streamOf(
    rows.map((row) => row.split("\t")[1]),
    rows.map((row) => Date.parse(row.split("\t")[0])),
  );
}

/** URIs that people nominated for an archive, list by list. */
function nominations(): Stream {
  const uris = lines("eot-a.nominations.tsv.gz").map((row) => row.split("\t")[1]);
  const some = uris.slice(0, LOOKUPS);
  return streamOf(
    some,
    some.map((_, place) => Date.UTC(2024, 0, 1) + place * 60_000),
  );
}

function streamOf(uris: readonly string[], times: readonly number[]): Stream {
  const places = new Map<string, number>();
  const lookups = uris.map((uri) => {
    const key = surt(uri);
    const place = places.get(key) ?? places.size;
    places.set(key, place);
    return place;
  });
  return { originals: [...places.keys()], lookups, times };
}

function paperHoldings(stream: Stream, seed: number): Pick<World, "archives" | "held"> {
  const uris = stream.originals;
  const held = PAPER_ARCHIVES.map(({ model }, number) => [
    ...modelHoldings(model, { ...stream, uris }, seed, number),
  ]);
  return { archives: PAPER_ARCHIVES.map(({ id }) => id), held };
}

/** Twelve archives of real holdings, and of rules that the learner does not know. */
function ruledHoldings(
  { originals }: Stream,
  seed: number,
  areNominations: boolean,
): Pick<World, "archives" | "held"> {
  const eot = new Set(lines("eot-a.holdings.tsv.gz").map((row) => row.split("\t")[0]));
  const eotHosts = new Set([...eot].map(hostOf));
  const nominated = new Set(
    areNominations
      ? originals.filter((key) => uniform(key.slice(0, key.indexOf("/")), seed + 1) < 0.1)
      : lines("eot-a.nominations.tsv.gz").map((row) => surt(row.split("\t")[1])),
  );
  const later = new Set(
    lines("congress-a.lookups.tsv.gz")
      .slice(LOOKUPS)
      .map((row) => surt(row.split("\t")[1])),
  );
  const arquivo = new Set(
    lines("arquivo-pwa9609.captures.tsv.gz").map((row) => hostOf(surt(row.split("\t")[1]))),
  );
  const rules: Record<string, (key: string) => boolean> = {
    eot: (key) => eot.has(key),
    "eot-hosts": (key) => eotHosts.has(hostOf(key)) && uniform(hostOf(key), seed + 2) < 0.5,
    nominated: (key) => nominated.has(key),
    later: (key) => later.has(key),
    arquivo: (key) => key.startsWith("pt,") || arquivo.has(hostOf(key)),
    domains: (key) => uniform(domainOf(key), seed + 3) < 0.06,
    hosts: (key) => uniform(hostOf(key), seed + 4) < 0.05,
    pages: (key) => uniform(key, seed + 5) < 0.02,
    shallow: (key) => key.split("/").length <= 2 && uniform(hostOf(key), seed + 6) < 0.5,
    gov: (key) => key.startsWith("gov,") && uniform(key, seed + 7) < 0.5,
    "dead-1": () => false,
    "dead-2": () => false,
  };
  const held = Object.entries(rules).map(([id, holds]) =>
    originals.map((key) =>
      holds(key) ? 1 + Math.floor(1 / (0.005 + uniform(key + id, seed))) : 0,
    ),
  );
  return { archives: Object.keys(rules), held };
}

function hostOf(key: string): string {
  const end = key.indexOf(")");
  return end < 0 ? key : key.slice(0, end);
}

function domainOf(key: string): string {
  return hostOf(key).split(",").slice(0, 2).join(",");
}

/** From 0 to 1, always the same for the same text. */
function uniform(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
