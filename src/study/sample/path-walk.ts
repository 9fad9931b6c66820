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

/** What a step of the walk stands on: a key's bare path, or its queries. */
interface PathStop {
  /** `/`, `/a/b.html`. */
  readonly path: string;
  readonly resource: Extension;
  /** 0 for the bare path, else how many originals with a query the key has here. */
  readonly queries: number;
  readonly querySeed: number;
  /** Whether this stop is the first of its key: every key has one or two stops. */
  readonly startsKey: boolean;
}

interface PathNode {
  readonly name: string;
  readonly resource: Extension;
  readonly isKey: boolean;
  readonly hasBare: boolean;
  readonly queries: number;
  readonly querySeed: number;
  readonly below: number;
}

interface PathEvent {
  readonly at: string;
  readonly node: PathNode;
  readonly part: "bare" | "below" | "queries";
}

interface Frame {
  readonly prefix: string;
  readonly events: readonly PathEvent[];
  next: number;
}

/** How the keys of a node are dealt to its children, and what the children are, at one depth. */
interface DepthLaw {
  /** A node with keys k below it has 1 + (k - 1) branching children, on average. */
  readonly branching: number;
  /** The share of children with more than one key. */
  readonly large: number;
  /** The chance that a child of one key is that key, and not a way to it. */
  readonly leaf: number;
  /** The chance that a node with children is a key too. */
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
 * Walks the paths of one host in byte order of its keys, holding the siblings of one node at each
 * depth.
 *
 * In byte order a node's bare path, its children and its queries are apart (`/a`, `/a-b`, `/a/b`,
 * `/a0`, `/a?x`). So each node has up to three places among its siblings; they are sorted by the
 * text they start with, and the walk needs no other sort.
 */
class PathWalk {
  readonly #random: Random;
  readonly #stack: Frame[] = [];

  constructor(random: Random, keys: number) {
    this.#random = random;
    const { own } = LAWS[0];
    const isKey = keys === 1 || random.chance(own);
    const root = this.#node("", NO_EXTENSION, { isKey, keys });
    const events = this.#children(1, root.below);
    addKeyEvents(events, root);
    this.#push("/", events);
  }

  /** The next stop, or undefined at the end. */
  next(): PathStop | undefined {
    for (;;) {
      const frame = this.#stack.at(-1);
      if (frame === undefined) return undefined;
      const event = frame.events[frame.next++];
      if (event === undefined) {
        this.#stack.pop();
        continue;
      }
      const { node, part } = event;
      const path = frame.prefix + node.name;
      if (part === "below")
        this.#push(`${path}/`, this.#children(this.#stack.length + 1, node.below));
      else {
        const queries = part === "bare" ? 0 : node.queries;
        const startsKey = part === "bare" || !node.hasBare;
        return { path, resource: node.resource, queries, querySeed: node.querySeed, startsKey };
      }
    }
  }

  #push(prefix: string, events: PathEvent[]): void {
    if (events.length > 1) events.sort((a, b) => compareAscii(a.at, b.at));
    this.#stack.push({ prefix, events, next: 0 });
  }

  #children(depth: number, keys: number): PathEvent[] {
    const random = this.#random;
    const law = LAWS[Math.min(depth, LAWS.length - 1)];
    const events: PathEvent[] = [];
    const taken = new Set<string>();
    let sibling: string | undefined;
    for (const size of childSizes(random, law, keys)) {
      const isLeaf = size === 1 && random.chance(law.leaf);
      const isKey = isLeaf || (size > 1 && random.chance(law.own));
      const resource = isLeaf ? leafResource(random, depth, taken) : NO_EXTENSION;
      let name = resource.suffix;
      if (isWholeName(resource)) taken.add(name);
      else {
        sibling = pathName(random, sibling);
        while (taken.has(sibling + resource.suffix)) sibling += random.below(1000);
        name = sibling + resource.suffix;
        taken.add(name);
      }
      const node = this.#node(name, resource, { isKey, keys: size });
      addKeyEvents(events, node);
      if (node.below > 0) events.push({ at: `${name}/`, node, part: "below" });
    }
    return events;
  }

  #node(
    name: string,
    resource: Extension,
    { isKey, keys }: { isKey: boolean; keys: number },
  ): PathNode {
    const random = this.#random;
    const below = keys - Number(isKey);
    if (!isKey || !resource.takesQueries) {
      return { name, resource, isKey, below, hasBare: isKey, queries: 0, querySeed: 0 };
    }
    const originals = drawPowerLaw(random, QUERY_EXPONENT, MOST_QUERIES);
    const hasBare = random.chance(originals === 1 ? 0.85 : 0.7);
    const queries = originals - Number(hasBare);
    return { name, resource, isKey, below, hasBare, queries, querySeed: random.uint32() };
  }
}

function addKeyEvents(events: PathEvent[], node: PathNode): void {
  if (!node.isKey) return;
  if (node.hasBare) events.push({ at: node.name, node, part: "bare" });
  if (node.queries > 0) events.push({ at: `${node.name}?`, node, part: "queries" });
}

/** Deals keys to children, one to most and the rest to a few. */
function childSizes(random: Random, law: DepthLaw, keys: number): number[] {
  if (keys === 0) return [];
  const count = childCount(random, law, keys);
  const large = count === keys ? 0 : Math.max(1, roundAtRandom(random, count * law.large));
  const sizes = large === 0 ? [] : zipfSplit(keys - count + large, large);
  while (sizes.length < count) sizes.push(1);
  return sizes;
}

/** Few keys lie in one directory all together or not at all; else most nodes would lead deeper. */
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

/** Whether the resource's suffix is the whole name, as of `robots.txt`. */
function isWholeName(resource: Extension): boolean {
  return resource === ROBOTS || resource === FAVICON || resource === BLANK_IMAGE;
}

/** A host of a sample archive, opened for one walk over what it holds. */
interface Site {
  /** As its URLs have it: `www.example.pt`. */
  readonly authority: string;
  readonly walk: PathWalk;
}

/** Opens a host. What it holds depends on the seed and the host only. */
export function openSite(seed: number, host: Host): Site {
  const random = new Random(seed, host.surt);
  // Addresses, ports and single labels have no `www`.
  const canHaveWww = /^[a-z][^:,]*,[^:]*$/.test(host.surt);
  const authority = canHaveWww && random.chance(0.6) ? `www.${host.authority}` : host.authority;
  return { authority, walk: new PathWalk(random, host.keys) };
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
