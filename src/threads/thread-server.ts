import { parentPort } from "node:worker_threads";
import {
  asError,
  type ErrorCode,
  isMementoMapError,
  MementoMapError,
  type Position,
} from "../errors.ts";

/**
 * Runs the calls of a {@link Thread} on a job, one at a time, until the thread is terminated.
 */
export function serve(job: object): void {
  const port = parentPort;
  if (port === null) throw new Error("this module must run in a worker thread");
  const answer = async ({ id, method, args }: CallMessage): Promise<void> => {
    try {
      const value = await callOn(job, method, args);
      port.postMessage({ id, value } satisfies ResponseMessage);
    } catch (error) {
      port.postMessage({ id, error: sendableError(error) } satisfies ResponseMessage);
    }
  };
  let last = Promise.resolve();
  port.on("message", (message: CallMessage) => {
    last = last.then(() => answer(message));
  });
}

/** Calls a method of a job by name. */
export function callOn(job: object, method: string, args: readonly unknown[]): unknown {
  const named = job as Record<string, (...given: readonly unknown[]) => unknown>;
  return named[method](...args);
}

/** A method call, sent to a thread. */
export interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type ResponseMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };

/** The serialized form of an error; classes do not survive between threads. */
interface SentError {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly position?: Position | undefined;
}

export function sendableError(thrown: unknown): SentError {
  const error = asError(thrown);
  const { message, stack } = error;
  if (!isMementoMapError(error)) return { message, stack };
  return { message, code: error.code, position: error.position };
}

export function receivedError({ code, message, stack, position }: SentError): Error {
  return code === undefined
    ? Object.assign(new Error(message), { stack })
    : new MementoMapError(code, message, { position });
}
