import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string | undefined;

/** A path in a folder of this thread that is removed when it ends; for what reads only files. */
export function scratchFile(name: string): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), "mementomap-fuzz-"));
    process.once("exit", () => {
      rmSync(made, { recursive: true, force: true });
    });
    folder = made;
  }
  return join(folder, name);
}
