import { MementoMapError } from "../errors.ts";
import { LAYER, type TreeNode } from "../ukvs/key-tree.ts";

/** The cutoff of a node that is rolled up as soon as it has anything below it. */
export const CHOSEN = -1;

/** Decides which nodes of a key tree are rolled up: those with more children than their cutoff. */
export interface RollUpPolicy {
  /** Levels told apart; what is deeper belongs to the last one. */
  readonly maxHostDepth: number;
  readonly maxPathDepth: number;
  /** The cutoff of a newly opened node; its ancestors were passed before it. */
  cutoff(node: PolicyNode, key: Uint8Array): number;
}

/** The parts of a node that policies use. */
export type PolicyNode = Pick<TreeNode<never>, "layer" | "depth" | "hashText" | "name">;

/** y = a · x^-k */
export interface PowerLaw {
  readonly a: number;
  readonly k: number;
}

/** The roll-up parameters of the paper. */
export interface WeightOptions {
  /** Smaller weights give fewer rows; Infinity rolls up nothing. */
  readonly hostWeight?: number | undefined;
  readonly pathWeight?: number | undefined;
  /** The mean number of children by depth; see `fit`. */
  readonly hostPower?: PowerLaw | undefined;
  readonly pathPower?: PowerLaw | undefined;
  /** Levels told apart; what is deeper belongs to the last one. */
  readonly maxHostDepth?: number | undefined;
  readonly maxPathDepth?: number | undefined;
}

/** The values that the paper used for most maps, and measured for Arquivo.pt. */
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

  /** @throws MM_USAGE for an invalid weight, power or depth. */
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
    this.#hostCutoffs[this.maxHostDepth] = Number.POSITIVE_INFINITY;
    this.#pathCutoffs[this.maxPathDepth] = Number.POSITIVE_INFINITY;
  }

  cutoff({ layer, depth }: PolicyNode): number {
    if (layer === LAYER.host) return this.#hostCutoffs[Math.min(depth, this.maxHostDepth)];
    return this.#pathCutoffs[Math.min(depth, this.maxPathDepth)];
  }
}

/** Rolls up the nodes with these names, and no others; see `TreeNode.name`. */
export class ChosenNodes implements RollUpPolicy {
  readonly maxHostDepth: number = Number.POSITIVE_INFINITY;
  readonly maxPathDepth: number = Number.POSITIVE_INFINITY;
  readonly #names: ReadonlySet<number>;

  constructor(names: Iterable<number>) {
    this.#names = new Set(names);
  }

  cutoff(node: PolicyNode, key: Uint8Array): number {
    node.hashText(key);
    return this.#names.has(node.name) ? CHOSEN : Number.POSITIVE_INFINITY;
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
