import { access, mkdir, rmdir, writeFile } from "node:fs/promises";
import { family } from "./process-usage.ts";

const PERIOD_US = 10_000;
/** Where Linux has control groups for processor time: version 1, else 2. */
const CONTROLLERS = [
  {
    folder: "/sys/fs/cgroup/cpu",
    limits: { "cpu.cfs_period_us": () => PERIOD_US, "cpu.cfs_quota_us": quota },
  },
  {
    folder: "/sys/fs/cgroup",
    limits: { "cpu.max": (share: number) => `${quota(share)} ${PERIOD_US}` },
  },
];

/**
 * Limits a process, and each of its children, to a share of one core, such as 0.4. Needs root.
 *
 * So the others on the machine keep what they need, however fast the process becomes.
 *
 * @returns a function that removes the limits once the processes have ended
 */
export async function limitCoreShare(pid: number, share: number): Promise<() => Promise<void>> {
  const found = await Promise.all(CONTROLLERS.map(({ folder, limits }) => hasAll(folder, limits)));
  const { folder, limits } = CONTROLLERS[found.indexOf(true)] ?? CONTROLLERS[1];
  const groups: string[] = [];
  for (const member of await family(pid)) {
    const group = `${folder}/mementomap-bench-${member}`;
    await mkdir(group);
    groups.push(group);
    for (const [file, value] of Object.entries(limits)) {
      await writeFile(`${group}/${file}`, String(value(share)));
    }
    await writeFile(`${group}/cgroup.procs`, member);
  }
  return async () => {
    for (const group of groups) await rmdir(group);
  };
}

function quota(share: number): number {
  return Math.round(share * PERIOD_US);
}

/** Whether a new group in a folder would have these files. The group at the top has no limits itself. */
async function hasAll(folder: string, limits: object): Promise<boolean> {
  const group = `${folder}/mementomap-bench`;
  try {
    await mkdir(group);
  } catch {
    return false;
  }
  const there = Object.keys(limits).map((file) => access(`${group}/${file}`));
  const isThere = await Promise.all(there).then(
    () => true,
    () => false,
  );
  await rmdir(group);
  return isThere;
}
