import {
  drawPowerLaw,
  exponentForMean,
  ORIGINALS_PER_KEY,
  PATH_DEPTHS,
  zipfSplit,
} from "./archive-shape.ts";
import {
  BLANK_IMAGE,
  compareAscii,
  drawExtension,
  type Extension,
  FAVICON,
  NO_EXTENSION,
  pathName,
  queries,
  QUERYABLE_PAGE_SHARE,
  ROBOTS,
} from "./names.ts";
import { Random } from "../../bytes/random.ts";
import type { Host } from "./host-walk.ts";

/** A position of the walk: a key's bare path, or its queries. */
interface PathStop {
  /** `/`, `/a/b.html`. */
  readonly path: string;
  readonly resource: Extension;
  /** 0 for the bare path, otherwise the number of originals with a query. */
  readonly queries: number;
  readonly querySeed: number;
  /** Whether this stop is the first of its key: every key has one or two stops. */
  readonly startsKey: boolean;
}

/** A position of a node among its siblings: a stop, or the keys below it. */
interface Place extends Omit<PathStop, "path"> {
  /** The prefix of its text, which determines the order. */
  readonly at: string;
  readonly name: string;
  readonly below: number;
}

/** The distribution of a node's keys over its children, and the kinds of children, at one depth. */
interface DepthLaw {
  /** A node with keys k below it has 1 + (k - 1) branching children, on average. */
  readonly branching: number;
  /** The share of children with more than one key. */
  readonly large: number;
  /** The probability that a child with one key is that key, not a prefix of it. */
  readonly leaf: number;
  /** The probability that a node with children is also a key. */
  readonly own: number;
}

/** This share of nodes with children lead to one key only: `/2015/01/report`. The share is ours. */
const CHAIN_SHARE = 0.1;

const LAWS: readonly DepthLaw[] = PATH_DEPTHS.map(({ keys, keysBelow, nodes, parents }, depth) => {
  const above = depth === 0 ? nodes : PATH_DEPTHS[depth - 1].parents;
  const leaves = nodes - parents;
  const large = (parents * (1 - CHAIN_SHARE)) / nodes;
  return {
    branching: parents === 0 ? 1 : (nodes - above) / (keysBelow - above),
    large,
    leaf: leaves / nodes / (1 - large),
    own: parents === 0 ? 1 : (keys - leaves) / parents,
  };
});

const FEW_KEYS = 6;

const QUERY_EXPONENT = exponentForMean(1 + (ORIGINALS_PER_KEY - 1) / QUERYABLE_PAGE_SHARE);
const MOST_QUERIES = 20_000;

/**
 * Yields the paths of one host in byte order of its keys, holding the siblings of one node at each
 * depth.
 *
 * In byte order a node's bare path, its children and its queries are apart (`/a`, `/a-b`, `/a/b`,
 * `/a0`, `/a?x`). So each node has up to three places among its siblings; they are sorted by the
 * text they start with, and the walk needs no other sort.
 */
function* pathStops(random: Random, keys: number): Generator<PathStop, void, undefined> {
  const isKey = keys === 1 || random.chance(LAWS[0].own);
  const { stops } = places(random, "", NO_EXTENSION, { isKey, keys });
  yield* walk(random, "/", 1, [...children(random, 1, keys - Number(isKey)), ...stops]);
}

function* walk(
  random: Random,
  prefix: string,
  depth: number,
  siblings: Place[],
): Generator<PathStop, void, undefined> {
  siblings.sort((a, b) => compareAscii(a.at, b.at));
  for (const { name, below, ...stop } of siblings) {
    const path = prefix + name;
    if (below === 0) yield { path, ...stop };
    else yield* walk(random, `${path}/`, depth + 1, children(random, depth + 1, below));
  }
}

/** The places of the children of a node at their depth, given the keys below it. */
function children(random: Random, depth: number, keys: number): Place[] {
  const law = LAWS[Math.min(depth, LAWS.length - 1)];
  const all: Place[] = [];
  const taken = new Set<string>();
  let sibling: string | undefined;
  for (const size of childSizes(random, law, keys)) {
    const isLeaf = size === 1 && random.chance(law.leaf);
    const isKey = isLeaf || (size > 1 && random.chance(law.own));
    const resource = isLeaf ? leafResource(random, depth, taken) : NO_EXTENSION;
    let name = resource.suffix;
    if (!isWholeName(resource)) {
      sibling = pathName(random, sibling);
      while (taken.has(sibling + resource.suffix)) sibling += random.below(1000);
      name = sibling + resource.suffix;
    }
    taken.add(name);
    const { stops, below } = places(random, name, resource, { isKey, keys: size });
    all.push(...stops, ...below);
  }
  return all;
}

function places(
  random: Random,
  name: string,
  resource: Extension,
  { isKey, keys }: { isKey: boolean; keys: number },
): { stops: Place[]; below: Place[] } {
  const own = { name, resource, below: 0, queries: 0, querySeed: 0, startsKey: true };
  const stops: Place[] = [];
  if (isKey && resource.takesQueries) {
    const originals = drawPowerLaw(random, QUERY_EXPONENT, MOST_QUERIES);
    const hasBare = random.chance(originals === 1 ? 0.85 : 0.7);
    const queries = originals - Number(hasBare);
    const querySeed = random.uint32();
    if (hasBare) stops.push({ ...own, at: name });
    if (queries > 0) {
      stops.push({ ...own, at: `${name}?`, queries, querySeed, startsKey: !hasBare });
    }
  } else if (isKey) {
    stops.push({ ...own, at: name });
  }
  const below = keys - Number(isKey);
  return { stops, below: below === 0 ? [] : [{ ...own, at: `${name}/`, below }] };
}

/** Distributes keys over children: one to most, and the rest to a few. */
function childSizes(random: Random, law: DepthLaw, keys: number): number[] {
  if (keys === 0) return [];
  const count = childCount(random, law, keys);
  const large = count === keys ? 0 : Math.max(1, roundAtRandom(random, count * law.large));
  const sizes = large === 0 ? [] : zipfSplit(keys - count + large, large);
  while (sizes.length < count) sizes.push(1);
  return sizes;
}

/** A few keys are all in one directory or none is; otherwise most nodes would have children. */
function childCount(random: Random, law: DepthLaw, keys: number): number {
  if (keys <= FEW_KEYS) return random.chance(law.branching) ? keys : 1;
  return 1 + roundAtRandom(random, (keys - 1) * law.branching);
}

function roundAtRandom(random: Random, value: number): number {
  return Math.floor(value + random.real());
}

function leafResource(random: Random, depth: number, taken: ReadonlySet<string>): Extension {
  if (depth === 1) {
    const style = random.below(24);
    if (style === 0 && !taken.has(ROBOTS.suffix)) return ROBOTS;
    if (style === 1 && !taken.has(FAVICON.suffix)) return FAVICON;
  } else if (random.below(1000) === 0 && !taken.has(BLANK_IMAGE.suffix)) return BLANK_IMAGE;
  return drawExtension(random);
}

/** Whether the resource's suffix is the complete name, such as `robots.txt`. */
function isWholeName(resource: Extension): boolean {
  return resource === ROBOTS || resource === FAVICON || resource === BLANK_IMAGE;
}

/** A host of a sample archive, opened for one walk over its keys. */
interface Site {
  /** The host in URLs: `www.example.pt`. */
  readonly authority: string;
  readonly stops: Iterable<PathStop>;
}

/** Opens a host. Its content depends on the seed and the host only. */
export function openSite(seed: number, host: Host): Site {
  const random = new Random(seed, host.surt);
  // Addresses, ports and single labels have no `www`.
  const canHaveWww = /^[a-z][^:,]*,[^:]*$/.test(host.surt);
  const authority = canHaveWww && random.chance(0.6) ? `www.${host.authority}` : host.authority;
  return { authority, stops: pathStops(random, host.keys) };
}

/** Yields the path, or path and query, of each original at a stop, in byte order. */
export function* originalPaths(stop: PathStop): Generator<string> {
  if (stop.queries === 0) yield stop.path;
  else {
    for (const query of queries(new Random(stop.querySeed), stop.queries)) {
      yield `${stop.path}?${query}`;
    }
  }
}
