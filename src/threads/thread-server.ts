import { parentPort } from "node:worker_threads";
import {
  asError,
  type ErrorCode,
  isMementoMapError,
  MementoMapError,
  type Position,
} from "../errors.ts";

/**
 * Answers the calls of a {@link Thread} with the methods of a job, one after the other, until the
 * thread is ended.
 */
export function serve(job: object): void {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
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

/** Calls a method that a job has by its name. */
export function callOn(job: object, method: string, args: readonly unknown[]): unknown {
  const named = job as Record<string, (...given: readonly unknown[]) => unknown>;
  return named[method](...args);
}

/** A call of a method of the job of a thread, and what comes back. */
export interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type ResponseMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };

/** An error as it crosses a thread boundary, where classes are lost. */
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
