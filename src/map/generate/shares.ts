/** A stretch with fewer parts left is left to its own lanes: to take one means that lanes must merge. */
const WORTH_TAKING = 4;

interface Stretch {
  /** The first part that nobody has. */
  next: number;
  /** Behind the last part that nobody has. */
  end: number;
}

/**
 * Hands out the parts of a file, by number.
 *
 * Lanes work in pairs, one from the start of a stretch, the other from its end. They meet wherever
 * they do, so that the slower of two is not waited for, and still the keys of a sorted file do not
 * overlap. Lanes of other stretches help only where much is left.
 */
export class Shares {
  readonly #stretches: readonly Stretch[];

  constructor(parts: number, lanes: number) {
    const firstOf = (lane: number): number => Math.floor((parts * Math.min(lane, lanes)) / lanes);
    this.#stretches = Array.from({ length: Math.ceil(lanes / 2) }, (_, pair) => ({
      next: firstOf(2 * pair),
      end: firstOf(2 * pair + 2),
    }));
  }

  /** The next part for a lane. */
  take(lane: number): number | undefined {
    const own = this.#stretches[lane >> 1];
    if (own.next < own.end) return lane % 2 === 0 ? own.next++ : --own.end;
    const fullest = this.#stretches.reduce((a, b) => (left(b) > left(a) ? b : a));
    return left(fullest) < WORTH_TAKING ? undefined : --fullest.end;
  }
}

function left({ next, end }: Stretch): number {
  return end - next;
}
