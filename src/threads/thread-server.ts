import { parentPort, type TransferListItem } from "node:worker_threads";
import {
  asError,
  type ErrorCode,
  isMementoMapError,
  MementoMapError,
  type Position,
} from "../errors.ts";

/** What a handler gives back, with the buffers that move to the other thread. */
export interface Reply {
  readonly value: unknown;
  readonly transfer?: readonly TransferListItem[];
}

/** Answers the requests of a {@link Thread}, one after the other, until the thread is ended. */
export function serve(handle: (request: unknown) => Reply | Promise<Reply>): void {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
  const answer = async ({ id, request }: RequestMessage): Promise<void> => {
    try {
      const { value, transfer = [] } = await handle(request);
      port.postMessage({ id, value } satisfies ResponseMessage, transfer);
    } catch (error) {
      port.postMessage({ id, error: sendableError(error) } satisfies ResponseMessage);
    }
  };
  let last = Promise.resolve();
  port.on("message", (message: RequestMessage) => {
    last = last.then(() => answer(message));
  });
}

/** A request to a thread, and what comes back. */
export interface RequestMessage {
  readonly id: number;
  readonly request: unknown;
}

export type ResponseMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };

/** An error as it crosses a thread boundary, where classes are lost. */
interface SentError {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly position: Position | undefined;
}

export function sendableError(error: unknown): SentError {
  const { message, stack } = asError(error);
  return isMementoMapError(error)
    ? { code: error.code, message, stack, position: error.position }
    : { code: undefined, message, stack, position: undefined };
}

export function receivedError(sent: SentError): Error {
  if (sent.code !== undefined) {
    return new MementoMapError(sent.code, sent.message, { position: sent.position });
  }
  const error = new Error(sent.message);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}
