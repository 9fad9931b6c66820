import type { LookupStream } from "../../src/study/simulate/lookup-stream.ts";
import type { SimulatedArchive } from "../../src/study/simulate/simulated-archives.ts";

/** What an invented archive is like. */
interface ArchiveModel {
  /** `large` collects what is popular, `national` a top-level domain, `topical` some domains. */
  readonly kind: "large" | "national" | "topical" | "pages" | "dead";
  /** The share of lookups that it has. */
  readonly hitRate: number;
  /** For `national`: the top-level domain. */
  readonly tld?: string | undefined;
  /** How far it differs from host to host, folder to folder and page to page: 1.5, 1 and 1. */
  readonly byHost?: number | undefined;
  readonly byFolder?: number | undefined;
  readonly byPage?: number | undefined;
}

/** The 14 archives of the paper's table of requests, with what their names say they collect. */
export const PAPER_ARCHIVES: readonly { readonly id: string; readonly model: ArchiveModel }[] = [
  { id: "internet-archive", model: { kind: "large", hitRate: 0.3576 } },
  { id: "archive-it", model: { kind: "topical", hitRate: 0.0914 } },
  { id: "archive-today", model: { kind: "large", hitRate: 0.0844 } },
  { id: "library-of-congress", model: { kind: "national", hitRate: 0.0477, tld: "gov" } },
  { id: "arquivo-pt", model: { kind: "large", hitRate: 0.0335 } },
  { id: "icelandic", model: { kind: "large", hitRate: 0.0222 } },
  { id: "stanford", model: { kind: "topical", hitRate: 0.0154 } },
  { id: "uk-web-archive", model: { kind: "national", hitRate: 0.0149, tld: "uk" } },
  { id: "perma", model: { kind: "pages", hitRate: 0.0132 } },
  { id: "proni", model: { kind: "topical", hitRate: 0.0075 } },
  { id: "uk-parliament", model: { kind: "national", hitRate: 0.0063, tld: "uk" } },
  { id: "nrs", model: { kind: "topical", hitRate: 0.0021 } },
  { id: "uk-national", model: { kind: "national", hitRate: 0.001, tld: "uk" } },
  { id: "pastpages", model: { kind: "dead", hitRate: 0 } },
];

/** The 14 archives with what they hold of a stream, for `simulate`. */
export function paperArchives(stream: LookupStream, seed: number): SimulatedArchive[] {
  return PAPER_ARCHIVES.map(({ id, model }, number) => ({
    id,
    probability: undefined,
    scope: undefined,
    map: undefined,
    held: modelHoldings(model, stream, seed, number),
  }));
}

/**
 * Which of the originals of a stream an invented archive has: the number of mementos of each.
 *
 * Each original has a score: how popular its domain is with all archives and in the stream, how this
 * archive likes its host, folder and page, and how deep it is. The archive has those with the highest
 * scores, as many as make up its share of the lookups. Deterministic by the seed.
 */
export function modelHoldings(
  model: ArchiveModel,
  stream: LookupStream,
  seed: number,
  number: number,
): Uint32Array {
  const { originals, lookups } = stream;
  const held = new Uint32Array(originals.length);
  if (model.kind === "dead" || model.hitRate === 0) return held;
  const times = new Uint32Array(originals.length);
  for (const place of lookups) times[place]++;
  const hosts = new Map<string, number>();
  for (const [place, key] of originals.entries()) {
    const host = hostOf(key);
    hosts.set(host, (hosts.get(host) ?? 0) + times[place]);
  }
  const own = seed * 1000 + number * 17;
  const scores = Float64Array.from(originals, (key, place) => {
    const popularity = 0.25 * Math.log(hosts.get(hostOf(key)) ?? 1);
    return scoreOf(model, key, popularity, Math.log(times[place]), seed, own);
  });
  const order = Uint32Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]);
  let left = model.hitRate * lookups.length;
  for (const place of order) {
    if (left <= 0) break;
    left -= times[place];
    held[place] = 1 + Math.floor(1 / (0.005 + uniform(originals[place], own + 5)));
  }
  return held;
}

function scoreOf(
  model: ArchiveModel,
  key: string,
  popularity: number,
  repeats: number,
  seed: number,
  own: number,
): number {
  const { byHost = 1.5, byFolder = 1, byPage = 1 } = model;
  const host = hostOf(key);
  const labels = host.split(",");
  const domain = labels.slice(0, 2).join(",");
  const [path] = key.slice(host.length + 2).split("?");
  const folders = path === "" ? [] : path.split("/");
  const page = byPage * (0.5 * normal(key, seed + 7) + 0.87 * normal(key, own + 2) + 0.3 * repeats);
  const score =
    0.7 * (0.6 * normal(domain, seed) + popularity) +
    byHost * normal(host, own) +
    (folders.length > 1 ? byFolder * normal(`${host})${folders[0]}`, own + 1) : 0) +
    page -
    0.5 * Math.min(folders.length, 5);
  const isChosen = (share: number): boolean => uniform(domain, own + 3) < share;
  if (model.kind === "topical") return score + (isChosen(0.06) ? 4 : 0);
  if (model.kind === "national") {
    return score + (labels[0] === model.tld ? 5 : isChosen(0.02) ? 3 : 0);
  }
  return model.kind === "pages" ? score + 2 * byPage * normal(key, own + 4) : score;
}

function hostOf(key: string): string {
  const end = key.indexOf(")");
  return end < 0 ? key : key.slice(0, end);
}

function hashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** From 0 to 1, always the same for the same text. */
function uniform(text: string, seed: number): number {
  return hashOf(text, seed) / 0x1_0000_0000;
}

function normal(text: string, seed: number): number {
  const radius = Math.sqrt(-2 * Math.log((hashOf(text, seed) + 1) / 0x1_0000_0001));
  return radius * Math.cos(2 * Math.PI * uniform(text, seed ^ 0x5bd1e995));
}
