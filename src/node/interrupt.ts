import { MementoMapError } from "../errors.ts";

/**
 * One place that knows whether the user wants to stop, and what must not be left behind.
 *
 * Clean-ups are synchronous, so that they also run where nothing can be awaited any more. Each is
 * run at most once.
 */
export class Interrupt {
  readonly #controller = new AbortController();
  readonly #cleanups = new Set<() => void>();

  /** Aborted with an `MM_INTERRUPTED` error by {@link trigger}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers a clean-up; the function returned takes it back. */
  onCleanUp(cleanUp: () => void): () => void {
    this.#cleanups.add(cleanUp);
    return () => {
      this.#cleanups.delete(cleanUp);
    };
  }

  /** Asks everything to stop. `by` names the reason, such as `SIGINT`. */
  trigger(by: string): void {
    this.#controller.abort(new MementoMapError("MM_INTERRUPTED", `stopped by ${by}`));
  }

  /** Runs what is registered, newest first. Every one runs, even when another fails. */
  cleanUp(): void {
    const failures: unknown[] = [];
    for (const cleanUp of [...this.#cleanups].reverse()) {
      this.#cleanups.delete(cleanUp);
      try {
        cleanUp();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
