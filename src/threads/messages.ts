import { isMementoMapError, MementoMapError } from "../errors.ts";
import type { ErrorCode, Position } from "../errors.ts";

/** A request to a thread, and what comes back. */
export interface RequestMessage {
  readonly id: number;
  readonly request: unknown;
}

export type ResponseMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError };

/** An error as it crosses a thread boundary, where classes are lost. */
export interface SentError {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly position: Position | undefined;
}

export function sendableError(error: unknown): SentError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
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
