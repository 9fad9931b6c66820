import { availableParallelism } from "node:os";
import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { INPUT_FORMATS } from "../../input/formats.ts";
import { folderToRead } from "../../input/open-inputs.ts";
import { type CaptureFilter, CaptureSieve, joinFilters, PAPER_PRESET } from "../../input/filter.ts";
import type { OptionTable, OptionValues } from "./command-line.ts";
import { choice, misuse, option } from "./options.ts";
import { threadsWithin } from "../../generate/key-table.ts";
import type { Interrupt } from "../../interruption.ts";
import { type Io, sourceDate } from "./io.ts";
import type { CommandIo } from "./messages.ts";

/** The options of commands that read indexes: what they are, and which captures count. */
export const INDEX_OPTIONS = {
  format: {
    value: "NAME",
    default: "auto",
    help: `One of ${INPUT_FORMATS.join(", ")}.`,
    ...choice(INPUT_FORMATS),
  },
  status: {
    value: "CODE",
    multiple: true,
    help: "Count only these status codes: 200, 3xx.",
    parse: parseStatus,
  },
  mime: { value: "TYPE", multiple: true, help: "Count only these MIME types: text/html, image/*." },
  from: option.date("Only captures from this date on, e.g. 2010."),
  to: option.date("Count captures up to and including then: 2012."),
  exclude: {
    value: "REGEX",
    multiple: true,
    help: "Exclude captures whose URI matches.",
    parse: parseExclude,
  },
  preset: {
    value: "NAME",
    help: "paper: status 200, text/html, no robots.txt or sitemap.xml.",
    ...choice(["paper"]),
  },
} as const satisfies OptionTable;

/**
 * The filter that the options say.
 *
 * @throws MM_USAGE for one that nothing can pass, before any work is done.
 */
export function captureFilter(
  values: Partial<OptionValues<typeof INDEX_OPTIONS>>,
  more: CaptureFilter = {},
): CaptureFilter {
  const filter = joinFilters(values.preset === undefined ? {} : PAPER_PRESET, {
    status: someOf(values.status),
    mime: someOf(values.mime),
    from: values.from,
    to: values.to,
    exclude: values.exclude,
    ...more,
  });
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from.slice(0, to.length) > to) {
    throw misuse(`--from ${from} is after --to ${to}: no capture would be counted`);
  }
  return filter;
}

/** Checked where it is typed, so that a message names the option. */
function parseStatus(text: string): string {
  void new CaptureSieve({ status: text.split(",") });
  return text;
}

function parseExclude(text: string): string {
  void new CaptureSieve({ exclude: [text] });
  return text;
}

/** `--status 200,301` is the same as giving the option twice. */
function someOf(values: readonly string[] = []): string[] | undefined {
  const list = values.flatMap((value) => value.split(","));
  return list.length === 0 ? undefined : list;
}

/** The options of commands that do long work: what it may take. */
export const WORK_OPTIONS = {
  memory: option.size("512m", "The maximum memory to use."),
  threads: option.count(
    "Default: one per core, as --memory permits. An explicit number takes precedence over --memory.",
  ),
} as const satisfies OptionTable;

/** As many as were asked for, or as there are cores and memory for. */
export function workThreads({
  threads,
  memory,
}: {
  readonly threads?: number | undefined;
  readonly memory: number;
}): number {
  return threads ?? threadsWithin(memory, availableParallelism());
}

interface WorkSettings {
  readonly memoryBytes: number;
  readonly threads: number;
  readonly scratch: string | undefined;
  readonly streams: Io;
  readonly interrupt: Interrupt;
  readonly onRead: (bytes: number) => void;
}

/** Does long work on files, and shows how far it is. */
export async function withProgress<T>(
  io: CommandIo,
  paths: readonly string[],
  values: {
    readonly memory: number;
    readonly threads?: number | undefined;
    readonly tmp?: string | undefined;
  },
  work: (settings: WorkSettings) => Promise<T>,
): Promise<T> {
  const total = await storedSize(paths);
  const progress = io.progress("reading", total);
  try {
    return await work({
      memoryBytes: values.memory,
      threads: workThreads(values),
      scratch: values.tmp,
      streams: io,
      interrupt: io.interrupt,
      onRead: (bytes) => progress.add(bytes),
    });
  } finally {
    progress.end();
  }
}

/** How much there is to read in files and folders; undefined where one is a pipe, or not there. */
async function storedSize(paths: readonly string[]): Promise<number | undefined> {
  let sum = 0;
  for (const path of paths) {
    const stats = path === "-" ? undefined : await statIfThere(path);
    if (stats?.isFile() === true) sum += stats.size;
    else if (stats?.isDirectory() !== true) return undefined;
    else {
      for (const name of await readdir(path).catch(() => [])) {
        sum += (await statIfThere(join(path, name)))?.size ?? 0;
      }
    }
  }
  return sum;
}

/** Undefined where there is nothing: what opens it reports the fault. */
function statIfThere(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** When the index last changed, so that the same index always gives the same map. */
export async function updatedAt(paths: readonly string[], io: Io): Promise<string> {
  const date = sourceDate(io);
  if (date !== undefined) return isoSeconds(date);
  let last = 0;
  for (const path of paths) last = Math.max(last, await lastChange(path));
  return isoSeconds(last);
}

/** Now for what has no time of its own. A folder also changes with the files in it. */
async function lastChange(path: string): Promise<number> {
  const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
  if (stats?.isFile() === true) return stats.mtimeMs;
  if (stats?.isDirectory() !== true) return Date.now();
  const folder = await folderToRead(path).catch(() => path);
  let last = folder === path ? stats.mtimeMs : (await stat(folder)).mtimeMs;
  for (const name of await readdir(folder).catch(() => [])) {
    const file = await stat(join(folder, name)).catch(() => undefined); // what reads it says why
    if (file?.isFile() === true) last = Math.max(last, file.mtimeMs);
  }
  return last;
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
