import { closeSync, openSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { MementoMapError } from "../errors.ts";
import type { Interrupt } from "./interrupt.ts";
import { ioError, outputError } from "./io-error.ts";
import { isTemporaryOf, removeIfAbandoned, temporaryPath } from "./temporary-path.ts";
import { checkSignal } from "../interruption.ts";

/**
 * Keeps other runs away from `path` until the function returned is called: `.NAME.….lock` beside it.
 *
 * Each run makes a lock of its own name, and then looks for others, so no two ever believe that they
 * are alone. (Two that begin at the same moment may both give up.) The lock of a run that was killed
 * is removed by the next.
 *
 * @throws MM_IO when another run has it, or no lock can be made.
 */
export async function lockFile(path: string, interrupt?: Interrupt): Promise<() => void> {
  const target = resolve(path);
  const own = temporaryPath(target, "lock");
  checkSignal(interrupt?.signal);
  make(own, path);
  const remove = (): void => rmSync(own, { force: true });
  const release = interrupt?.onCleanUp(remove);
  const unlock = (): void => {
    remove();
    release?.();
  };
  try {
    for (const other of await otherLocks(own, target)) {
      if (await removeIfAbandoned(other)) continue;
      throw new MementoMapError(
        "MM_IO",
        `another run is at work on it; wait for its end, or remove ${basename(other)} if there is none`,
        { position: { source: path } },
      );
    }
    return unlock;
  } catch (error) {
    unlock();
    throw ioError(error, path);
  }
}

async function otherLocks(own: string, target: string): Promise<string[]> {
  const folder = dirname(target);
  const names = await readdir(folder);
  return names
    .map((name) => join(folder, name))
    .filter((path) => path !== own && isTemporaryOf(target, path, "lock"));
}

function make(lock: string, path: string): void {
  try {
    closeSync(openSync(lock, "wx"));
  } catch (error) {
    throw outputError(error, path);
  }
}
