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
