import { readFile } from "node:fs/promises";

/** Processor time of a process and its children so far, in user and system mode, at 100 ticks a second. */
export async function cpuSeconds(pid: number): Promise<number> {
  const each = (await family(pid)).map(async (member) => {
    const fields = (await readFile(`/proc/${member}/stat`, "utf8"))
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  });
  return sum(await Promise.all(each));
}

/** The resident sets of a process and its children now. */
export async function residentBytes(pid: number): Promise<number> {
  const each = (await family(pid)).map(async (member) => {
    const status = await readFile(`/proc/${member}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  });
  return sum(await Promise.all(each));
}

/** The process and its children, not theirs. */
async function family(pid: number): Promise<string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return [String(pid), ...children.split(" ").filter((child) => child !== "")];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
