import { rmSync } from "node:fs";
import { systemCode } from "./io-error.ts";

const MAX_TRIES = 100;
const PAUSE_MS = 5;

/**
 * Removes a folder with all it holds at once, though threads may still write to it.
 *
 * (Node's own retries wait for the folder to become empty, and do not remove what was added.)
 */
export function removeFolderNow(path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOTEMPTY" || tries === MAX_TRIES) throw error;
      Atomics.wait(pause, 0, 0, PAUSE_MS);
    }
  }
}
