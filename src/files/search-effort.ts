/** So many times the bytes of a file may be inflated in vain. */
const TIMES = 16;
/** What may be inflated in vain at first. */
const ALLOWANCE = 1 << 24;
/** What a try costs at least: to begin one takes as long as to inflate so much. */
const TRY_BYTES = 1 << 12;

/**
 * Bounds the work of looking for gzip members that can be read: what looks like one, and fails after
 * much of it was inflated, may begin every few bytes of a file that was made to do harm.
 *
 * What is damaged by accident stays far below the bound. Beyond it, what looks like a member is
 * passed over untried, until enough of the file has been passed.
 */
export class SearchEffort {
  /** Stored bytes that were inflated in vain. */
  spent = 0;

  /** Notes a try in which so many stored bytes were inflated in vain. */
  spend(bytes: number): void {
    this.spent += Math.max(bytes, TRY_BYTES);
  }

  /** The first offset at which the next try may be. */
  get nextTry(): number {
    return Math.max(0, Math.ceil((this.spent - ALLOWANCE) / TIMES));
  }
}
