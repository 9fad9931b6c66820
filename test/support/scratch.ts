import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh folder that is removed when the test ends. */
export function scratchDir(): string {
  const path = mkdtempSync(join(tmpdir(), "mementomap-test-"));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}
