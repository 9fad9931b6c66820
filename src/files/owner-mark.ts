import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "./io-error.ts";

/** What a mark looks like, in the middle of a name: process, place, and a part that nobody else has. */
const MARK = /\.(\d+)-([\da-z]{7})-([\da-z]{6})[\da-z]{6}\.(?:tmp|lock)$/;
/** Nothing that is being written rests for so long. */
const LONGEST_REST_MS = 7 * 24 * 3600 * 1000;

/**
 * What all names of this process have in common, even where two copies of this package run in it: a
 * number alone does not tell a process from an earlier one, which in containers often has the same.
 */
const RUN = Symbol.for("mementomap.run");
const shared: typeof globalThis & { [RUN]?: string } = globalThis;

/**
 * `.PID-PLACE-RANDOM.ENDING`: the end of a name that nobody else makes, and that tells others who made
 * it. (Not `randomUUID`: loading node:crypto takes longer than many commands.)
 */
export function ownerMark(ending: "tmp" | "lock"): string {
  return `.${process.pid}-${place()}-${run()}${random()}.${ending}`;
}

/** Whether a name ends in a mark, or is one. */
export function isMarked(name: string): boolean {
  return MARK.test(name);
}

/** Whether the end of a name is a mark, and nothing else. */
export function isMark(end: string): boolean {
  return MARK.exec(end)?.index === 0;
}

/**
 * Whether the process that made a marked name is gone, so that nobody uses the file any more.
 *
 * A process of this machine is looked for. Whether one of another machine, of another container or of
 * an earlier start of this machine still runs cannot be known; its file is abandoned when it has not
 * changed for a week.
 *
 * @param changedMs when the file was last changed.
 */
export function isAbandoned(name: string, changedMs: number): boolean {
  const found = MARK.exec(name);
  if (found === null) return false;
  const [, pid, of, by] = found;
  if (of !== place()) return Date.now() - changedMs > LONGEST_REST_MS;
  return Number(pid) === process.pid ? by !== run() : !isRunning(Number(pid));
}

function run(): string {
  return (shared[RUN] ??= random());
}

function random(): string {
  return Math.random().toString(36).slice(2, 8).padEnd(6, "0");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, and belongs to somebody else.
    return systemCode(error) === "EPERM";
  }
}

let ownPlace: string | undefined;

/** Seven characters for all processes that can see each other's numbers, until the next start. */
function place(): string {
  ownPlace ??= digest(
    [
      hostname(),
      firstOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")),
      firstOf(() => readlinkSync("/proc/self/ns/pid")),
    ].join("\n"),
  );
  return ownPlace;
}

/** Only Linux has these; elsewhere the name of the machine has to do. */
function firstOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** FNV-1a, of 32 bits; must not change, since other versions read it in names. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, "0");
}
