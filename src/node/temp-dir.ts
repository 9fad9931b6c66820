import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Interrupt } from "./interrupt.ts";
import { ioError } from "./io-error.ts";

export interface TempDirOptions {
  /** The folder to make it in; the system's own for temporary files by default. */
  readonly parent?: string | undefined;
  /** Removes the folder when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
}

/**
 * Runs `use` with a fresh scratch folder, and removes it with all it holds afterwards: on success,
 * on error, and on interruption.
 *
 * @throws `MM_IO` when the folder cannot be made.
 */
export async function withTempDir<T>(
  options: TempDirOptions,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const parent = options.parent ?? tmpdir();
  const path = await mkdtemp(join(parent, "mementomap-")).catch((error: unknown) => {
    throw ioError(error, parent);
  });
  const release = options.interrupt?.onCleanUp(() => {
    rmSync(path, { recursive: true, force: true });
  });
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
    release?.();
  }
}
