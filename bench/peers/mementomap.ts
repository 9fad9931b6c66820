import { fileURLToPath } from "node:url";
import { timed } from "./timed.ts";
import type { TimedRun } from "./timed.ts";

/** The built program, as it is installed. */
export const PROGRAM: string = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** Runs this project's own program, as its users do: a fresh process on files. */
export function mementomap(...args: readonly string[]): Promise<TimedRun> {
  return timed(process.execPath, [PROGRAM, ...args]);
}
