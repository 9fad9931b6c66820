import { LAYER } from "../key-tree.ts";
import { FIELD, type NodeTable, type Survey } from "./budget-survey.ts";

/** Sub-trees up to this size are looked up: most are small, and powers are slow. */
const KNOWN_POWERS = 1024;

/** How many times the lookups of known queries those of unknown ones are taken to be, at most. */
const MAX_UNKNOWN_QUERIES = 32;

/** What the content of an archive alone says of lookups, given its exponent of Heaps' law. */
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

  /** The chance that a lookup which comes to a node asks for an unknown child. */
  chanceOfNew(page: Float64Array, at: number): number {
    const keys = page[at + FIELD.keys];
    if (page[at + FIELD.layer] !== LAYER.host) {
      const { heapsExponent } = this;
      return 1 - heapsExponent + (heapsExponent * page[at + FIELD.children]) / (keys + 1);
    }
    const known = page[at + FIELD.subdomains];
    const seen = page[at + FIELD.isSuffix] === 1 ? 0 : this.evidence(keys);
    return (known + 0.5) / (known + seen + 1);
  }
}

/** How many observed lookups the prior weighs at each kind of node. */
interface Strengths {
  readonly betweenHosts: number;
  readonly belowHosts: number;
  readonly belowFolders: number;
}

/** The strengths tried: powers of two, which is finer than the likelihood can tell apart. */
const TRIED: readonly number[] = Array.from({ length: 20 }, (_, i) => 2 ** (i - 2));

/**
 * Finds the strengths under which every missed lookup is best predicted by all others: the maximum
 * of the leave-one-out likelihood of Dirichlet distributions around the content's shares.
 *
 * `scratch` must hold the summed evidence of the children. One pass over the table.
 */
function estimateStrength(
  table: NodeTable,
  shares: ContentShares,
  hosts: number,
  misses: number,
): Strengths {
  const between = new Float64Array(TRIED.length);
  const host = new Float64Array(TRIED.length);
  const folder = new Float64Array(TRIED.length);
  // For each slot: its misses, and the share of a unit of evidence.
  const parentMisses: number[] = [];
  const share: number[] = [];
  table.forEachPageBackwards((page, _, count) => {
    for (let at = count - 1; at >= 0; at--) {
      const slot = page[at + FIELD.slot];
      const parent = page[at + FIELD.parent];
      const layer = page[at + FIELD.layer];
      const count = page[at + FIELD.misses];
      const own = shares.evidence(page[at + FIELD.keys]);
      if (layer === LAYER.root) addLikelihood(between, count, own / hosts, misses);
      const isNew = shares.chanceOfNew(page, at);
      parentMisses[slot] = count;
      share[slot] = (1 - isNew) / page[at + FIELD.scratch];
      const likelihoods = layer === LAYER.host ? host : folder;
      addLikelihood(likelihoods, page[at + FIELD.ownMisses], isNew, count);
      if (parent > 0) {
        const above = layer === LAYER.path || layer === LAYER.query ? folder : host;
        addLikelihood(above, count, share[parent] * own, parentMisses[parent]);
      }
    }
  });
  return {
    betweenHosts: best(between),
    belowHosts: best(host),
    belowFolders: best(folder),
  };
}

/** Adds the log-likelihood of `count` of `total` lookups, each predicted by the others. */
function addLikelihood(sums: Float64Array, count: number, share: number, total: number): void {
  if (count === 0 || total < 2) return;
  for (let i = 0; i < sums.length; i++) {
    sums[i] += count * Math.log((count - 1 + TRIED[i] * share) / (total - 1 + TRIED[i]));
  }
}

function best(likelihoods: Float64Array): number {
  let at = 0;
  for (let i = 1; i < likelihoods.length; i++) if (likelihoods[i] > likelihoods[at]) at = i;
  return TRIED[at];
}

/** How an archive predicts the lookups that will miss; see docs/algorithms.md. */
export interface Prior {
  /** β of Heaps' law: n keys are worth n^β independent observations. */
  readonly heapsExponent: number;
  /** How many observed lookups the prior weighs: between hosts, below hosts, below folders. */
  readonly betweenHosts: number;
  readonly belowHosts: number;
  readonly belowFolders: number;
  /** Missed lookups the prior was trained on. */
  readonly misses: number;
}

/** What is expected of all hosts that are held, in lookups of the unit that misses have. */
export interface HostDemand {
  readonly lookups: number;
  /** Those of them that miss. */
  readonly misses: number;
}

/** Adds up the lookups of held hosts; call it after {@link estimatePrior}. */
export function hostDemand(survey: Survey, prior: Prior): HostDemand {
  const { table } = survey;
  const { heapsExponent } = prior;
  const shares = new ContentShares(heapsExponent);
  let [evidence, misses, missed] = [survey.singleHosts, 0, 0];
  table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      if (page[at + FIELD.layer] !== LAYER.root) continue;
      evidence += shares.evidence(page[at + FIELD.keys]);
      misses += page[at + FIELD.misses];
      missed += page[at + FIELD.missesWithin];
    }
  });
  const single = (prior.betweenHosts * survey.singleHosts) / evidence;
  return {
    lookups: misses + prior.betweenHosts,
    misses: missed + single * (1 - heapsExponent / 2),
  };
}

/**
 * Estimates how many lookups will miss at each node, and puts it into the table.
 *
 * A lookup that misses is a walk down the key tree that leaves it at some node: it asks for a child
 * there that is not held. Where it goes is estimated from the sizes of the sub-trees, and from
 * missed lookups where the survey has them. Three passes over the table, and one more for the
 * strengths where there are misses.
 */
export function estimatePrior(survey: Survey): Prior {
  const { table } = survey;
  const heapsExponent = survey.heaps.exponent;
  const shares = new ContentShares(heapsExponent);
  const known = sumOverChildren(table, shares);
  const hosts = known.evidence + survey.singleHosts;
  const { misses } = known;
  const isTrained = misses > 0;
  const strengths = isTrained
    ? estimateStrength(table, shares, hosts, misses)
    : { betweenHosts: hosts, belowHosts: 1, belowFolders: 1 };
  const prior = { heapsExponent, ...strengths, misses };
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
  table.changePages((page, _, count) => {
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
 * How many lookups of unknown queries there are for each that the content tells of: those are the
 * lookups of known ones, as those of known hosts are, so that the others come on top.
 */
function unknownPerLookup(layer: number, isNew: number): number {
  return layer === LAYER.query ? Math.min(MAX_UNKNOWN_QUERIES, 1 / (1 - isNew)) : 1;
}

/** Spreads the lookups of each host over its folders, parents first. */
function walkFolders(table: NodeTable, prior: Prior, shares: ContentShares, hosts: number): void {
  const { heapsExponent, belowFolders } = prior;
  // For each slot: what a unit of a child's evidence, and a miss, is worth.
  const perEvidence = new Float64Array(table.slots);
  const perMiss = new Float64Array(table.slots);
  table.changePagesBackwards((page, _, count) => {
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
      const unit = lookups / (misses + belowFolders);
      perMiss[slot] = unit;
      perEvidence[slot] = (unit * belowFolders * (1 - isNew)) / page[at + FIELD.scratch];
      // Folders of one row have no record: what would miss in them is counted here.
      const intoSingles = perEvidence[slot] * page[at + FIELD.singleFolders];
      page[at + FIELD.missesWithin] =
        unit *
          (page[at + FIELD.ownMisses] +
            page[at + FIELD.singleMisses] +
            belowFolders * isNew * unknownPerLookup(layer, isNew)) +
        intoSingles * (1 - heapsExponent / 2);
      page[at + FIELD.scratch] = lookups;
    }
  });
}

/**
 * Adds up the lookups of hosts, and what may be asked of hosts that are not held; then the misses of
 * every sub-tree. Children first.
 */
function walkHosts(table: NodeTable, prior: Prior, shares: ContentShares, hosts: number): void {
  const { belowHosts, betweenHosts, heapsExponent } = prior;
  // For each slot, over the children: lookups, and misses.
  const lookups = new Float64Array(table.slots);
  const misses = new Float64Array(table.slots);
  table.changePages((page, _, count) => {
    for (let at = 0; at < count; at++) {
      const slot = page[at + FIELD.slot];
      const parent = page[at + FIELD.parent];
      if (page[at + FIELD.layer] === LAYER.host) {
        const singles =
          page[at + FIELD.singleMisses] + (betweenHosts * page[at + FIELD.singles]) / hosts;
        const known = lookups[slot] + singles;
        const isNew =
          (page[at + FIELD.ownMisses] + belowHosts * shares.chanceOfNew(page, at)) /
          (page[at + FIELD.misses] + belowHosts);
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
