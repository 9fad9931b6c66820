/**
 * What can be wrong with a map. Stable, like the codes of errors: scripts may filter by them.
 *
 * Errors break a rule of the format, so that a reader refuses the map, or looks in vain for what it
 * holds. Warnings are about what a reader understands, but a writer hardly meant.
 */
export const FAULT_SEVERITIES = {
  "bad-columns": "error",
  "bad-datetime": "error",
  "bad-frequency": "error",
  "bad-header": "error",
  "bad-key": "error",
  "blank-line": "warning",
  "byte-order-mark": "warning",
  crlf: "warning",
  cut: "error",
  "duplicate-key": "error",
  "home-without-slash": "warning",
  "idle-exclusion": "warning",
  "late-header": "error",
  "line-too-long": "error",
  "missing-fields": "warning",
  "no-final-newline": "warning",
  "no-records": "warning",
  "not-a-map": "error",
  "not-sorted": "error",
  "not-text": "error",
  "query-in-key": "warning",
  "star-in-key": "warning",
  "total-too-small": "warning",
  "wildcard-too-small": "warning",
} as const satisfies Record<string, "error" | "warning">;

export type FaultCode = keyof typeof FAULT_SEVERITIES;

/** One thing that is wrong with a map. */
export interface Fault {
  /** Counted from 1. */
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly code: FaultCode;
  readonly message: string;
}

/** A fault with the severity that its code has. */
export function fault(line: number, code: FaultCode, message: string): Fault {
  return { line, severity: FAULT_SEVERITIES[code], code, message };
}
