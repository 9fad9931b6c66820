import { isMementoMapError, MementoMapError } from "./errors.ts";

/** What tells that work is not wanted any more: an `AbortSignal`, or something lighter. */
export interface AbortState {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

/**
 * The error of work that an aborted signal has ended: the reason of the signal if it is an error of
 * this package, otherwise `MM_INTERRUPTED` with the reason as its cause.
 */
export function interruption({ reason }: Pick<AbortState, "reason">): MementoMapError {
  if (isMementoMapError(reason)) return reason;
  const why = reason instanceof Error ? `: ${reason.message}` : "";
  return new MementoMapError("MM_INTERRUPTED", `the signal was aborted${why}`, { cause: reason });
}

/** @throws MM_INTERRUPTED where a signal is aborted. */
export function checkSignal(signal: AbortState | undefined): void {
  if (signal?.aborted === true) throw interruption(signal);
}

/**
 * Does work that a signal may end. Whatever the work throws once the signal is aborted, such as the
 * `AbortError` of a part that knows the signal too, the caller gets one error.
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
 * The same chunks until a signal is aborted.
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

/** What may stop a function. */
export interface SignalOption {
  /** Ends the work with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** What may stop a function before its end. */
export interface InterruptOptions extends SignalOption {
  /** As `signal`, and it knows what must not be left behind when the process ends. */
  readonly interrupt?: Interrupt | undefined;
}

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
    this.#stop(new MementoMapError("MM_INTERRUPTED", `stopped by ${by}`));
  }

  /**
   * Runs work that a signal may stop, and an interrupt of the caller as well.
   *
   * @throws MM_INTERRUPTED when one of them did; what the work throws.
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
