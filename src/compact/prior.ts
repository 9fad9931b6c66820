import { LAYER } from "../ukvs/key-tree.ts";
import { FIELD, type NodeTable } from "./node-table.ts";
import type { TreeSurvey } from "./tree-survey.ts";

/** Powers are precomputed for sub-trees up to this size: most are small, and powers are slow. */
const KNOWN_POWERS = 1024;

/** Maximum assumed ratio of lookups of unknown queries to lookups of known ones. */
const MAX_UNKNOWN_QUERIES = 32;

/** Predicts lookups from the content of an archive alone, given its exponent of Heaps' law. */
class ContentShares {
  readonly heapsExponent: number;
  readonly #powers: Float64Array;

  constructor(heapsExponent: number) {
    this.heapsExponent = heapsExponent;
    this.#powers = Float64Array.from({ length: KNOWN_POWERS }, (_, n) => n ** heapsExponent);
  }

  /** How many observations the keys of a sub-tree are worth. */
  evidence(keys: number): number {
    return keys < KNOWN_POWERS ? this.#powers[keys] : keys ** this.heapsExponent;
  }

  /** The probability that a lookup that reaches a node is for an unknown child. */
  chanceOfNew(page: Float64Array, at: number): number {
    const keys = page[at + FIELD.keys];
    if (page[at + FIELD.layer] !== LAYER.host) {
      const { heapsExponent } = this;
      return 1 - heapsExponent + (heapsExponent * page[at + FIELD.children]) / (keys + 1);
    }
    const known = page[at + FIELD.subdomains];
    return (known + 0.5) / (known + this.evidence(keys) + 1);
  }
}

/**
 * If misses are known, the content weighs as much as one miss at each node, and as 1/64 of all misses
 * between hosts. Weights estimated from the log were no better.
 */
const MISSES_FOR_CONTENT = 64;

/** The model that predicts missed lookups from an archive; see docs/algorithms.md. */
export interface Prior {
  /** β of Heaps' law: n keys count as n^β independent observations. */
  readonly heapsExponent: number;
  /** Number of lookups distributed between hosts by content alone. */
  readonly betweenHosts: number;
  /** Missed lookups the prior was trained on. */
  readonly misses: number;
}

/** The expected missed lookups of held hosts, in the unit of misses; call it after {@link estimatePrior}. */
export function missesOfHosts({ table, singleHosts }: TreeSurvey, prior: Prior): number {
  const { heapsExponent, betweenHosts } = prior;
  const shares = new ContentShares(heapsExponent);
  let [evidence, missed] = [singleHosts, 0];
  table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      if (page[at + FIELD.layer] !== LAYER.root) continue;
      evidence += shares.evidence(page[at + FIELD.keys]);
      missed += page[at + FIELD.missesWithin];
    }
  });
  const single = (betweenHosts * singleHosts) / evidence;
  return missed + single * (1 - heapsExponent / 2);
}

/**
 * Estimates the missed lookups at each node, and stores them in the table.
 *
 * A lookup that misses is a walk down the key tree that leaves it at some node: it asks for a child
 * there that is not held. Where it goes is estimated from the sizes of the sub-trees, and from
 * missed lookups where the survey has them. Three passes over the table.
 */
export function estimatePrior(survey: TreeSurvey): Prior {
  const { table } = survey;
  const heapsExponent = survey.heaps.exponent;
  const shares = new ContentShares(heapsExponent);
  const known = sumOverChildren(table, shares);
  const hosts = known.evidence + survey.singleHosts;
  const { misses } = known;
  const betweenHosts = misses > 0 ? misses / MISSES_FOR_CONTENT : hosts;
  const prior = { heapsExponent, betweenHosts, misses };
  walkFolders(table, prior, shares, hosts);
  walkHosts(table, prior, shares, hosts);
  return prior;
}

/** Puts the summed evidence of a node's children into `scratch`; sums up all hosts. */
function sumOverChildren(
  table: NodeTable,
  shares: ContentShares,
): { readonly evidence: number; readonly misses: number } {
  const sums = new Float64Array(table.slots);
  let [evidence, misses] = [0, 0];
  table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      const slot = page[at + FIELD.slot];
      page[at + FIELD.scratch] = page[at + FIELD.singles] + sums[slot];
      sums[slot] = 0;
      const own = shares.evidence(page[at + FIELD.keys]);
      sums[page[at + FIELD.parent]] += own;
      if (page[at + FIELD.layer] === LAYER.root) {
        evidence += own;
        misses += page[at + FIELD.misses];
      }
    }
  });
  return { evidence, misses };
}

/**
 * Expected lookups of unknown queries per lookup predicted by the content, which predicts only lookups of
 * known queries.
 */
function unknownPerLookup(layer: number, isNew: number): number {
  return layer === LAYER.query ? Math.min(MAX_UNKNOWN_QUERIES, 1 / (1 - isNew)) : 1;
}

/** Distributes the lookups of each host over its folders, parents first. */
function walkFolders(table: NodeTable, prior: Prior, shares: ContentShares, hosts: number): void {
  // For each slot: the lookups per unit of a child's evidence, and per miss.
  const perEvidence = new Float64Array(table.slots);
  const perMiss = new Float64Array(table.slots);
  table.forEachPageBackwards((page, _, count) => {
    for (let at = count - 1; at >= 0; at--) {
      const layer = page[at + FIELD.layer];
      if (layer === LAYER.host) continue;
      const slot = page[at + FIELD.slot];
      const parent = page[at + FIELD.parent];
      const own = shares.evidence(page[at + FIELD.keys]);
      const misses = page[at + FIELD.misses];
      const lookups =
        layer === LAYER.root
          ? misses + (prior.betweenHosts * own) / hosts
          : perEvidence[parent] * own + perMiss[parent] * misses;
      const isNew = shares.chanceOfNew(page, at);
      const unit = lookups / (misses + 1);
      perMiss[slot] = unit;
      perEvidence[slot] = (unit * (1 - isNew)) / page[at + FIELD.scratch];
      page[at + FIELD.missesWithin] =
        unit *
        (page[at + FIELD.ownMisses] +
          page[at + FIELD.singleMisses] +
          isNew * unknownPerLookup(layer, isNew));
      page[at + FIELD.scratch] = lookups;
    }
  });
}

/**
 * Adds up the lookups of hosts, including unheld ones, and then the misses of every sub-tree. Children
 * first.
 */
function walkHosts(table: NodeTable, prior: Prior, shares: ContentShares, hosts: number): void {
  const { betweenHosts, heapsExponent } = prior;
  // For each slot, over the children: lookups, and misses.
  const lookups = new Float64Array(table.slots);
  const misses = new Float64Array(table.slots);
  table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      const slot = page[at + FIELD.slot];
      const parent = page[at + FIELD.parent];
      if (page[at + FIELD.layer] === LAYER.host) {
        const singles =
          page[at + FIELD.singleMisses] + (betweenHosts * page[at + FIELD.singles]) / hosts;
        const known = lookups[slot] + singles;
        const isNew =
          (page[at + FIELD.ownMisses] + shares.chanceOfNew(page, at)) /
          (page[at + FIELD.misses] + 1);
        const unknown = (known * isNew) / (1 - isNew);
        page[at + FIELD.missesWithin] = unknown + singles * (1 - heapsExponent / 2);
        lookups[slot] = 0;
        lookups[parent] += known + unknown;
      } else if (page[at + FIELD.layer] === LAYER.root) {
        lookups[parent] += page[at + FIELD.scratch];
      }
      const within = page[at + FIELD.missesWithin] + misses[slot];
      page[at + FIELD.missesWithin] = within;
      misses[slot] = 0;
      misses[parent] += within;
    }
  });
}
