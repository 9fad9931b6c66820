import { open } from "node:fs/promises";
import { safeCutAfter } from "../compact/cuts.ts";
import { ioError } from "../io-error.ts";
import type { Part } from "./tasks.ts";

/** How far a better place for a cut is looked for. */
const SEARCHED_BYTES = 1 << 22;

/**
 * Shares parts, ranges of one file in order, among lanes: a stretch for each, as numbers of parts.
 *
 * Where two stretches meet, the cut is moved between two sites if one is near: then the stretches of
 * a sorted file have no key in common. The parts are changed accordingly.
 */
export async function contiguousShares(parts: Part[], lanes: number): Promise<number[][]> {
  const shares: number[][] = [];
  for (let lane = 0; lane < lanes; lane++) {
    const from = Math.floor((parts.length * lane) / lanes);
    const to = Math.floor((parts.length * (lane + 1)) / lanes);
    shares.push(Array.from({ length: to - from }, (_, i) => from + i));
    if (from > 0 && from < to) await moveCut(parts, from);
  }
  return shares;
}

async function moveCut(parts: Part[], index: number): Promise<void> {
  const [before, behind] = [parts[index - 1], parts[index]];
  if (before.task.kind !== "range" || behind.task.kind !== "range") return;
  const { path, start, end } = behind.task;
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, path);
  });
  try {
    const cut = await safeCutAfter(file, start, Math.min(end, start + SEARCHED_BYTES));
    if (cut === undefined) return;
    parts[index - 1] = { ...before, task: { ...before.task, end: cut } };
    parts[index] = { ...behind, task: { ...behind.task, start: cut } };
  } finally {
    await file.close();
  }
}

/** A lane with fewer parts left is left alone: to take one means that lanes must merge. */
const WORTH_TAKING = 4;

/** Hands out the shares of lanes: each lane's own from its start, then others' from their end. */
export class Shares {
  readonly #shares: readonly number[][];

  constructor(shares: readonly number[][]) {
    this.#shares = shares;
  }

  /** The next part for a lane. */
  take(lane: number): number | undefined {
    const own = this.#shares[lane].shift();
    if (own !== undefined) return own;
    const fullest = this.#shares.reduce((a, b) => (b.length > a.length ? b : a));
    return fullest.length < WORTH_TAKING ? undefined : fullest.pop();
  }
}
