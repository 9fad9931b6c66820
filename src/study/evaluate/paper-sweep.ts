/** The weights of the paper's table, for hosts and for paths. */
export const PAPER_WEIGHTS: readonly number[] = [4, 2, 1, 0.5, 0.25, 0];

/** One map of the paper's table, and which one it is made of. */
export interface PaperStep {
  readonly hostWeight: number;
  readonly pathWeight: number;
  /** The place of its input among the steps; -1 for the base. */
  readonly input: number;
}

/** How a map of a sweep was made. */
export interface MadeBy {
  /** The name of the map it was made of; `HinfPinf` is the base. */
  readonly input: string;
  readonly hostWeight: number;
  readonly pathWeight: number;
  readonly rollUps: number;
  readonly seconds: number;
}

/**
 * The 36 maps of the paper, in the order of its table. Each is made of the one before it, which has
 * the next larger path weight; the first of a host weight is made of the first of the host weight
 * before.
 */
export function paperSteps(): PaperStep[] {
  return PAPER_WEIGHTS.flatMap((hostWeight, host) =>
    PAPER_WEIGHTS.map((pathWeight, path) => {
      const index = host * PAPER_WEIGHTS.length + path;
      const input = path > 0 ? index - 1 : index - PAPER_WEIGHTS.length;
      return { hostWeight, pathWeight, input: Math.max(-1, input) };
    }),
  );
}

/** The paper's name of a map: `H4.00P2.00`. */
export function weightName(hostWeight: number, pathWeight: number): string {
  return `H${weightText(hostWeight)}P${weightText(pathWeight)}`;
}

function weightText(weight: number): string {
  return weight === Number.POSITIVE_INFINITY ? "inf" : weight.toFixed(2);
}
