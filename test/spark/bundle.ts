import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/code-blocks.ts";

/** The archive with Node of the current build, made once for all tests. */
export function bundle(): string {
  const folder = join(tmpdir(), "mementomap-test-bundle");
  const built = statSync(join(ROOT, "dist/cli/bin.js")).mtimeMs;
  const archive = join(folder, "mementomap.tar.gz");
  if (existsSync(archive) && statSync(archive).mtimeMs > built) return archive;
  mkdirSync(folder, { recursive: true });
  execFileSync("npx", ["tsx", "scripts/bundle-archive.ts", archive], { cwd: ROOT, stdio: "pipe" });
  return archive;
}
