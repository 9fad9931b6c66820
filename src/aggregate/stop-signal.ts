/** What tells that an answer is not wanted any more: an `AbortSignal`, or something lighter. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Stops what was begun for one question.
 *
 * A dozen archives listen to it at every question: an `AbortSignal` takes longer for that than all
 * else that is done here, and warns of so many listeners.
 */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Tells all who listen, once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
