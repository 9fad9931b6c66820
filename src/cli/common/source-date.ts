import type { Io } from "./io.ts";

/**
 * The time that outputs shall say they were made at, where the environment sets one in the manner of
 * reproducible builds: `SOURCE_DATE_EPOCH`, seconds since 1970. In milliseconds.
 */
export function sourceDate({ env }: Io): number | undefined {
  const epoch = env["SOURCE_DATE_EPOCH"];
  return epoch !== undefined && /^\d{1,12}$/.test(epoch) ? Number(epoch) * 1000 : undefined;
}
