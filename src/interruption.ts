import { isMementoMapError, MementoMapError } from "./errors.ts";

/** An abort state: an `AbortSignal`, or something lighter. */
export interface AbortState {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

/**
 * The error for aborted work: the reason of the signal if it is an error of this package, otherwise
 * `MM_INTERRUPTED` with
 * the reason as its cause.
 */
export function interruption({ reason }: Pick<AbortState, "reason">): MementoMapError {
  if (isMementoMapError(reason)) return reason;
  const why = reason instanceof Error ? `: ${reason.message}` : "";
  return new MementoMapError("MM_INTERRUPTED", `the signal was aborted${why}`, { cause: reason });
}

/** @throws MM_INTERRUPTED if the signal is aborted. */
export function checkSignal(signal: AbortState | undefined): void {
  if (signal?.aborted === true) throw interruption(signal);
}

/**
 * Runs work that a signal may abort. Once the signal is aborted, any error of the work, such as an `AbortError`, is
 * replaced by one error.
 *
 * @throws MM_INTERRUPTED
 */
export async function interruptible<T>(
  signal: AbortState | undefined,
  work: () => Promise<T>,
): Promise<T> {
  checkSignal(signal);
  try {
    return await work();
  } catch (error) {
    checkSignal(signal);
    throw error;
  }
}

/**
 * Yields the chunks unchanged until a signal is aborted.
 *
 * @throws MM_INTERRUPTED
 */
export async function* interruptibleChunks<T>(
  chunks: AsyncIterable<T> | Iterable<T>,
  signal: AbortState | undefined,
): AsyncGenerator<T, void, undefined> {
  checkSignal(signal);
  try {
    for await (const chunk of chunks) {
      checkSignal(signal);
      yield chunk;
    }
  } catch (error) {
    checkSignal(signal);
    throw error;
  }
  checkSignal(signal);
}

/** Options of functions that can be aborted. */
export interface SignalOption {
  /** Aborts the work with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of functions that can be interrupted. */
export interface InterruptOptions extends SignalOption {
  /** Like `signal`, and also runs clean-ups when the process exits. */
  readonly interrupt?: Interrupt | undefined;
}

/**
 * An abort signal combined with clean-ups, such as removing temporary files.
 *
 * Clean-ups are synchronous, so that they also run during process exit. Each runs at most once.
 */
export class Interrupt {
  readonly #controller = new AbortController();
  readonly #cleanups = new Set<() => void>();

  /** Aborted with an `MM_INTERRUPTED` error by {@link trigger}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers a clean-up; returns a function that unregisters it. */
  onCleanUp(cleanUp: () => void): () => void {
    this.#cleanups.add(cleanUp);
    return () => {
      this.#cleanups.delete(cleanUp);
    };
  }

  /** Aborts the signal. `by` is the cause, such as `SIGINT`. */
  trigger(by: string): void {
    this.#stop(new MementoMapError("MM_INTERRUPTED", `stopped by ${by}`));
  }

  /**
   * Runs work that either a signal or the caller's interrupt may abort.
   *
   * @throws MM_INTERRUPTED if one of them did; errors of the work.
   */
  static async during<T>(
    { signal, interrupt }: InterruptOptions,
    work: (interrupt: Interrupt | undefined) => Promise<T>,
  ): Promise<T> {
    if (signal === undefined) return interruptible(interrupt?.signal, () => work(interrupt));
    const own = new Interrupt();
    const signals = [signal, ...(interrupt === undefined ? [] : [interrupt.signal])];
    const any = AbortSignal.any(signals);
    const stop = (): void => own.#stop(interruption(any));
    const release = interrupt?.onCleanUp(() => own.cleanUp());
    any.addEventListener("abort", stop);
    try {
      return await interruptible(any, () => work(own));
    } finally {
      any.removeEventListener("abort", stop);
      release?.();
    }
  }

  #stop(reason: MementoMapError): void {
    this.#controller.abort(reason);
  }

  /** Runs all clean-ups, newest first, even if some fail. */
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
