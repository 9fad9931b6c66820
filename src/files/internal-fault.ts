import { MementoMapError, type ErrorCode } from "../errors.ts";

/**
 * The error to log for what should not have happened, where work goes on: nobody awaits a timer, and
 * what it throws would end the process.
 */
export function internalFault(error: unknown, code: ErrorCode): MementoMapError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new MementoMapError(code, `a bug, please report it: ${message}`, {
    cause: error,
    reason: "internal",
  });
}
