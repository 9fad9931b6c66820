import { isDigit } from "../bytes/ascii.ts";

const MIN_DIGITS = 4;
/** Fourteen, and three of milliseconds, which some indexers write. */
const MAX_DIGITS = 17;

/** The end of the datetime digits at `start`, or -1 if there are too few or too many. */
export function dateEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  const digits = at - start;
  return digits >= MIN_DIGITS && digits <= MAX_DIGITS ? at : -1;
}
