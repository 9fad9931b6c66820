import { LAYER } from "../node-stack.ts";
import type { ContentShares } from "./content-shares.ts";
import { FIELD } from "./node-table.ts";
import type { NodeTable } from "./node-table.ts";

/** How many observed lookups the prior weighs at each kind of node. */
export interface Strengths {
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
export function estimateStrength(
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
        const above = layer === LAYER.path ? folder : host;
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
