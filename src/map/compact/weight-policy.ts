import { MementoMapError } from "../../errors.ts";

/** The cutoff of a node that is rolled up as soon as there is anything below it. */
export const CHOSEN = -1;

/** Says which nodes of a key tree are rolled up: those with more children than their cutoff. */
export interface RollUpPolicy {
  /** Levels told apart; what is deeper belongs to the last one. */
  readonly maxHostDepth: number;
  readonly maxPathDepth: number;
  /** The cutoff of a host, `key[0, end)`, of this many labels. */
  hostCutoff(depth: number, key: Uint8Array, end: number): number;
  /** The cutoff of a folder, `key[0, end)`; the root of a host is at depth 1. */
  pathCutoff(depth: number, key: Uint8Array, end: number): number;
}

/** y = a · x^-k */
export interface PowerLaw {
  readonly a: number;
  readonly k: number;
}

/** How far to roll up: the paper's parameters. */
export interface WeightOptions {
  /** The smaller, the fewer rows; Infinity rolls nothing up. */
  readonly hostWeight?: number | undefined;
  readonly pathWeight?: number | undefined;
  /** The mean number of children by depth; see `fit`. */
  readonly hostPower?: PowerLaw | undefined;
  readonly pathPower?: PowerLaw | undefined;
  /** Levels told apart; what is deeper belongs to the last one. */
  readonly maxHostDepth?: number | undefined;
  readonly maxPathDepth?: number | undefined;
}

/** What the paper used for most of its maps, and measured for Arquivo.pt. */
export const WEIGHT_DEFAULTS = {
  hostWeight: 4,
  pathWeight: 2,
  hostPower: { a: 16.329, k: 0.714 },
  pathPower: { a: 24.546, k: 1.429 },
  maxHostDepth: 8,
  maxPathDepth: 9,
} as const satisfies WeightOptions;

/**
 * The paper's policy: a node is rolled up when it has more children than
 * weight · a · depth^-k.
 *
 * Depths count from 1: for hosts the labels (`com,cnn` is 2), for paths the root of a host
 * (`com,cnn)`) is 1. A top-level domain is never rolled up, nor is the last level, which has no
 * children of its own.
 */
export class WeightPolicy implements RollUpPolicy {
  readonly maxHostDepth: number;
  readonly maxPathDepth: number;
  readonly #hostCutoffs: Float64Array;
  readonly #pathCutoffs: Float64Array;

  /** @throws MM_USAGE for a weight, power or depth that makes no sense. */
  constructor(options: WeightOptions = {}) {
    const set = WEIGHT_DEFAULTS;
    this.maxHostDepth = checkedDepth("host", options.maxHostDepth ?? set.maxHostDepth);
    this.maxPathDepth = checkedDepth("path", options.maxPathDepth ?? set.maxPathDepth);
    const hostWeight = options.hostWeight ?? set.hostWeight;
    const pathWeight = options.pathWeight ?? set.pathWeight;
    const hostPower = options.hostPower ?? set.hostPower;
    const pathPower = options.pathPower ?? set.pathPower;
    this.#hostCutoffs = cutoffs(hostWeight, hostPower, this.maxHostDepth);
    this.#pathCutoffs = cutoffs(pathWeight, pathPower, this.maxPathDepth);
    this.#hostCutoffs[1] = Number.POSITIVE_INFINITY;
  }

  /** A host node of this many labels with more children than this is rolled up. */
  hostCutoff(depth: number): number {
    return depth < this.maxHostDepth ? this.#hostCutoffs[depth] : Number.POSITIVE_INFINITY;
  }

  /** A path node at this depth with more children than this is rolled up. */
  pathCutoff(depth: number): number {
    return depth < this.maxPathDepth ? this.#pathCutoffs[depth] : Number.POSITIVE_INFINITY;
  }
}

function cutoffs(weight: number, { a, k }: PowerLaw, maxDepth: number): Float64Array {
  if (!(weight >= 0)) throw new MementoMapError("MM_USAGE", `not a weight: ${weight}`);
  if (!(a > 0) || !Number.isFinite(k)) {
    throw new MementoMapError("MM_USAGE", `not a power law: a=${a}, k=${k}`);
  }
  return Float64Array.from({ length: maxDepth + 1 }, (_, depth) => weight * a * depth ** -k);
}

function checkedDepth(layer: string, depth: number): number {
  if (Number.isInteger(depth) && depth >= 1 && depth <= 1000) return depth;
  throw new MementoMapError("MM_USAGE", `the ${layer} depth must be 1 to 1000, not ${depth}`);
}

/** Weights with their defaults, for a header: JSON has no infinite numbers. */
export function formatWeights(options: WeightOptions = {}): Record<string, unknown> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const { hostWeight, pathWeight, ...others } = {
    ...WEIGHT_DEFAULTS,
    ...(Object.fromEntries(given) as WeightOptions),
  };
  return { hostWeight: String(hostWeight), pathWeight: String(pathWeight), ...others };
}

/** The weights that {@link formatWeights} wrote. */
export function parseWeights(written: Readonly<Record<string, unknown>>): WeightOptions {
  const { hostWeight, pathWeight, ...others } = written;
  return { ...others, hostWeight: Number(hostWeight), pathWeight: Number(pathWeight) };
}
