import {
  HOST_DEPTHS,
  IP_SHARE,
  LARGEST_HOST_SHARE,
  LINES_PER_KEY,
  OTHER_TLD_SHARE,
  OTHER_TLDS,
  proportionalSplit,
  REGISTRY_SUFFIXES,
  TOP_TLDS,
  zipfSplit,
} from "./archive-shape.ts";
import { compareAscii, hostLabel } from "./names.ts";
import { Random } from "../../bytes/random.ts";

/** A contiguous range of the archive in byte order, with its exact totals. */
interface HostGroup {
  readonly keys: number;
  readonly lines: number;
  /** The hosts in byte order of their keys; walk them once. */
  readonly hosts: Iterable<Host>;
}

/** A host, optionally with a port, and its number of keys. */
export interface Host {
  /** As in a key: `pt,example` or `pt,example:8080`. */
  readonly surt: string;
  /** As in a URL: `example.pt` or `example.pt:8080`. */
  readonly authority: string;
  readonly keys: number;
}

const PORTS = ["81", "8000", "8080", "8443"] as const;
const SINGLE_LABEL_HOSTS = ["intranet", "localhost"] as const;

/** The largest host grows more slowly than the archive, and reaches the paper's share at its size. */
const PAPER_KEYS = 1_138_923_169;

/** Smaller archives have smaller sites; otherwise they would have too few for a realistic shape. Ours. */
const FULL_SITES_FROM = 1_000_000;

export function keyCount(lines: number): number {
  return Math.max(1, Math.round(lines / LINES_PER_KEY));
}

/**
 * The hosts of a sample archive, group by group, all in byte order of their keys.
 *
 * Holds the labels of one domain at each host depth, and the list of top-level domains.
 */
export function hostGroups(seed: number, lines: number): HostGroup[] {
  const random = new Random(seed, "groups");
  const others = shuffled(random, OTHER_TLDS);
  const otherSizes = zipfSplit(1_000_000, others.length);
  const shares = [
    ...TOP_TLDS.map(({ tld, ...share }) => ({ root: `${tld},`, ...share })),
    ...others.map((tld, i) => {
      const part = otherSizes[i] / 1_000_000;
      return {
        root: `${tld},`,
        originals: OTHER_TLD_SHARE.originals * part,
        mementos: OTHER_TLD_SHARE.mementos * part,
      };
    }),
    // Digits sort before every name, so all addresses together are one group.
    { root: "0", ...IP_SHARE },
    ...SINGLE_LABEL_HOSTS.map((name) => ({ root: `${name})`, originals: 0.001, mementos: 0.001 })),
  ];
  const total = keyCount(lines);
  const keys = proportionalSplit(
    total,
    shares.map(({ originals }) => originals),
  );
  const held = shares
    .map((share, i) => ({ ...share, keys: keys[i] }))
    .filter((group) => group.keys > 0);
  // Every key has a line; the others go where the mementos are.
  const more = proportionalSplit(
    lines - total,
    held.map(({ keys, mementos }) => Math.max(keys / 10, (mementos / 100) * lines - keys)),
  );
  const walk = new HostWalk(seed, total);
  return held
    .map((group, i) => ({ ...group, lines: group.keys + more[i] }))
    .sort((a, b) => compareAscii(a.root, b.root))
    .map(({ root, keys, lines }) => ({ keys, lines, hosts: walk.group(root, keys) }));
}

/** One of up to three positions of a label among its siblings. */
interface Place extends Host {
  readonly at: string;
  /** Whether it stands for the sub-domains. */
  readonly isBelow: boolean;
}

class HostWalk {
  readonly #seed: number;
  readonly #largestHost: number;
  /** The size of sites relative to the paper's. */
  readonly #siteScale: number;
  /** Keys so far at each depth or deeper, and at exactly that depth. */
  readonly #met = new Float64Array(HOST_DEPTHS.length);
  readonly #kept = new Float64Array(HOST_DEPTHS.length);

  constructor(seed: number, keys: number) {
    this.#seed = seed;
    const share = LARGEST_HOST_SHARE * (PAPER_KEYS / keys) ** 0.25;
    this.#siteScale = Math.min(1, Math.sqrt(keys / FULL_SITES_FROM));
    this.#largestHost = Math.max(50, Math.round(keys * share));
  }

  *group(root: string, keys: number): Generator<Host> {
    if (root === "0") yield* this.#addresses(keys);
    else if (root.endsWith(")"))
      yield { surt: root.slice(0, -1), authority: root.slice(0, -1), keys };
    else {
      const tld = root.slice(0, -1);
      const mean = this.#meanNodeKeys(0);
      const domains = Math.ceil(Math.max(keys / mean, Math.sqrt(keys) / 2));
      yield* this.#children({ surt: tld, authority: tld, keys }, 0, domains);
    }
  }

  /** The hosts below a prefix, of at most `nodes` labels; `depth` is counted from the domains. */
  *#children({ surt, authority, keys }: Host, depth: number, nodes: number): Generator<Host> {
    const count = Math.min(keys, nodes);
    const random = new Random(this.#seed, surt);
    const labels = new Set<string>();
    const registry = depth === 0 ? REGISTRY_SUFFIXES.get(surt) : undefined;
    if (registry !== undefined && count > 1) labels.add(registry);
    while (labels.size < count) {
      const label = hostLabel(random);
      labels.add(labels.has(label) ? `${label}${random.below(10_000)}` : label);
    }
    const sizes = zipfSplit(keys, count);
    const places: Place[] = [];
    for (const [rank, label] of [...labels].entries()) {
      const host = { surt: `${surt},${label}`, authority: `${label}.${authority}` };
      let own = label === registry ? 0 : this.#keep(random, depth, sizes[rank]);
      const below = sizes[rank] - own;
      if (below > 0) places.push({ ...host, at: `${label},`, keys: below, isBelow: true });
      if (own > 10 && random.chance(0.01)) {
        const ported = 1 + random.below(own / 5);
        const port = `:${random.pick(PORTS)}`;
        const at = { surt: host.surt + port, authority: host.authority + port };
        places.push({ ...at, at: `${label}${port})`, keys: ported, isBelow: false });
        own -= ported;
      }
      if (own > 0) places.push({ ...host, at: `${label})`, keys: own, isBelow: false });
    }
    places.sort((a, b) => compareAscii(a.at, b.at));
    for (const place of places) {
      if (!place.isBelow) yield place;
      else {
        const nodes = Math.max(1, Math.round(place.keys / this.#meanNodeKeys(depth + 1)));
        yield* this.#children(place, depth + 1, nodes);
      }
    }
  }

  /**
   * The number of a node's own keys, excluding those of its sub-domains: as many as bring the keys of
   * this depth to their share in the paper. Small nodes have no sub-domains.
   */
  #keep(random: Random, depth: number, keys: number): number {
    const row = HOST_DEPTHS[depth];
    const met = this.#met[depth] + keys;
    const kept = this.#kept[depth];
    let own = keys;
    if (row.parents > 0) {
      const wanted = Math.round((row.keys / row.keysBelow) * met - kept);
      const most = Math.max(wanted, Math.ceil(keys * 0.05));
      // A few nodes have many sub-domains, the others none.
      if (keys - most > 2 * this.#meanNodeKeys(depth + 1)) own = most;
      own = Math.min(own, Math.ceil(this.#largestHost * (0.3 + 0.7 * random.real())));
    }
    this.#met[depth] = met;
    this.#kept[depth] = kept + own;
    return own;
  }

  #meanNodeKeys(depth: number): number {
    const { keysBelow, nodes } = HOST_DEPTHS[depth];
    return (this.#siteScale * keysBelow) / nodes;
  }

  *#addresses(keys: number): Generator<Host> {
    const random = new Random(this.#seed, "addresses");
    const count = Math.ceil(Math.sqrt(keys));
    const addresses = new Set<string>();
    while (addresses.size < count) {
      addresses.add(
        [1 + random.below(254), random.below(256), random.below(256), 1 + random.below(222)].join(),
      );
    }
    const sorted = Array.from(addresses).sort((a, b) => compareAscii(`${a})`, `${b})`));
    const sizes = zipfSplit(keys, count);
    for (const [i, surt] of sorted.entries()) {
      yield { surt, authority: surt.split(",").reverse().join("."), keys: sizes[i] };
    }
  }
}

function shuffled(random: Random, values: readonly string[]): string[] {
  const order = values.map((value) => ({ value, at: random.uint32() }));
  return order.sort((a, b) => a.at - b.at).map(({ value }) => value);
}
