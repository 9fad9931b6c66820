import type { RollUpPolicy } from "../roll-up-policy.ts";
import { CHOSEN } from "../roll-up-policy.ts";
import { nodeName } from "./node-name.ts";

/** Rolls up the nodes that a plan has chosen, and no others. */
export class ChosenPolicy implements RollUpPolicy {
  readonly maxHostDepth: number = Number.POSITIVE_INFINITY;
  readonly maxPathDepth: number = Number.POSITIVE_INFINITY;
  /** Names of the nodes; see `nodeName`. */
  readonly chosen: readonly number[];
  #names: ReadonlySet<number> | undefined;

  constructor(chosen: readonly number[]) {
    this.chosen = chosen;
  }

  hostCutoff(_depth: number, key: Uint8Array, end: number): number {
    return this.#cutoff(key, end);
  }

  pathCutoff(_depth: number, key: Uint8Array, end: number): number {
    return this.#cutoff(key, end);
  }

  #cutoff(key: Uint8Array, end: number): number {
    this.#names ??= new Set(this.chosen);
    return this.#names.has(nodeName(key, end)) ? CHOSEN : Number.POSITIVE_INFINITY;
  }
}
