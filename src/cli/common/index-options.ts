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

/** The options of commands that read indexes: the format, and which captures count. */
export const INDEX_OPTIONS = {
  format: {
    value: "NAME",
    default: "auto",
    help: `The input format: ${INPUT_FORMATS.join(", ")}.`,
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
  to: option.date("Only captures up to and including this date, e.g. 2012."),
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
 * The filter set by the options.
 *
 * @throws MM_USAGE for a filter that no capture can pass, before any work is done.
 */
export function captureFilter(
  values: Partial<OptionValues<typeof INDEX_OPTIONS>>,
  more: CaptureFilter = {},
): CaptureFilter {
  const filter = joinFilters(values.preset === undefined ? {} : PAPER_PRESET, {
    status: splitLists(values.status),
    mime: splitLists(values.mime),
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

/** Checked during parsing, so that the message names the option. */
function parseStatus(text: string): string {
  void new CaptureSieve({ status: text.split(",") });
  return text;
}

function parseExclude(text: string): string {
  void new CaptureSieve({ exclude: [text] });
  return text;
}

/** Splits lists: `--status 200,301` is the same as giving the option twice. */
function splitLists(values: readonly string[] = []): string[] | undefined {
  const list = values.flatMap((value) => value.split(","));
  return list.length === 0 ? undefined : list;
}

/** The resource limits of long-running commands. */
export const WORK_OPTIONS = {
  memory: option.size("512m", "The maximum memory to use."),
  threads: option.count(
    "Default: one per core, as --memory permits. An explicit number takes precedence over --memory.",
  ),
} as const satisfies OptionTable;

/** The requested number of threads; by default one per core, within the memory limit. */
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

/** Runs long work on files and shows its progress. */
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
  const files = await Promise.all(paths.map((path) => filesAt(path)));
  const sizes = files.flatMap((list) => list?.map(({ size }) => size) ?? Number.NaN);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = io.progress("reading", Number.isNaN(total) ? undefined : total);
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

/** The last change of the index; the current time would make maps of the same index differ. */
export async function updatedAt(paths: readonly string[], io: Io): Promise<string> {
  let last = sourceDate(io);
  for (const path of last === undefined ? paths : []) {
    // A pipe has no modification time: use the current time. A folder is as new as its newest file.
    const times = (await filesAt(path))?.map(({ mtimeMs }) => mtimeMs) ?? [Date.now()];
    last = Math.max(last ?? 0, ...times);
  }
  return new Date(last ?? 0).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Undefined if the file does not exist, which is reported when it is opened. */
function statsOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** Size and time of a file, or of a folder and its files; undefined for a pipe or a missing file. */
async function filesAt(path: string): Promise<Pick<Stats, "size" | "mtimeMs">[] | undefined> {
  const stats = path === "-" ? undefined : await statsOf(path);
  if (stats?.isDirectory() !== true) return stats?.isFile() === true ? [stats] : undefined;
  const folder = await folderToRead(path).catch(() => path);
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(names.map((name) => statsOf(join(folder, name))));
  const own = folder === path ? stats : await stat(folder);
  const here = files.flatMap((file) => (file?.isFile() === true ? file : []));
  return [{ size: 0, mtimeMs: own.mtimeMs }, ...here];
}
