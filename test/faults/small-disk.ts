import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Whether file systems may be mounted here: by root of a machine, and in few containers. */
export const canMount: boolean = process.platform === "linux" && tryMount();

/** A file system with so much room, until the test ends. */
export function smallDisk(kib: number): string {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", folder]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** All names below a folder. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

function tryMount(): boolean {
  const folder = join(tmpdir(), `mementomap-mount-${process.pid}`);
  mkdirSync(folder);
  try {
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
    if (mounted.status === 0) spawnSync("umount", [folder]);
    return mounted.status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
