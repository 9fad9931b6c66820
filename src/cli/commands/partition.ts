import { readFile } from "node:fs/promises";
import { isRun } from "../../bytes/bytes.ts";
import {
  formatAmount,
  formatCount,
  ioError,
  isMementoMapError,
  type MementoMapError,
} from "../../errors.ts";
import { withOutput } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { chooseCuts, formatCuts, parseCuts } from "../../map/parts/cuts.ts";
import { cutRun } from "../../map/parts/cut-run.ts";
import { extractRuns, type ExtractSummary } from "../../map/parts/extract-runs.ts";
import { openRunFiles, startOfFile } from "../../map/parts/run-file.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  COUNT_OPTIONS,
  countSettings,
  mapDescription,
  SKIP_BAD_OPTION,
} from "../common/count-options.ts";
import { INDEX_OPTIONS, withProgress, WORK_OPTIONS } from "../common/index-options.ts";
import { ExitCode, type Io } from "../common/io.ts";
import { formatSize, showRun, type SummaryLine } from "../common/messages.ts";
import { FORCE_OPTION, misuse, option } from "../common/options.ts";
import { readingLines, showDamages, withSkipHint } from "../common/reading-summary.ts";

export const partition: Command = defineCommand({
  name: "partition",
  summary: "Read a split of an index into a run, for combine",
  usage: "[INPUT...] -o RUN",
  description: `
Divides the creation of a map into pieces that run anywhere: in Spark, in a
Slurm array, under GNU parallel, or on machines that share a folder. The map
that combine creates from them has the same bytes as that of generate.

First, each split of the index (some of its files, or some of its lines) is
converted to a run: its keys, sorted and counted. Inputs and options are those
of generate; use the same options for all splits.

Then --into N chooses N - 1 keys to cut at, from the runs of all splits or of a
sample of them, so that the N ranges between them have about equal size. Cuts
are between registered domains if there is a boundary nearby, and otherwise
within a domain that is too large. The file has one key per line, in byte order.

With --cuts, a split, or a run made before, is divided into one run for each
range, in a folder: 00001.run and so on. This is for machines that do not share
a folder: each range can be sent to the machine that combines it. Otherwise
combine reads its range from whole runs.

Runs may be compressed (.gz). They are written completely or not at all.`,
  options: {
    output: {
      short: "o",
      value: "FILE",
      help: "Write here: a run, cuts, or with --cuts a folder.",
    },
    into: option.count("Choose cuts for this many ranges; the inputs are runs."),
    cuts: { value: "FILE", help: "Write a run for each range between these cuts." },
    source: { value: "NAME", help: "The name of standard input in messages." },
    "first-line": option.count("1", "The number of the first line of standard input."),
    ...INDEX_OPTIONS,
    ...COUNT_OPTIONS,
    ...WORK_OPTIONS,
    force: FORCE_OPTION,
    "skip-bad": SKIP_BAD_OPTION,
  },
  examples: {
    "one split": "mementomap partition a.cdxj -o a.run",
    "another, from standard input": "cat b.cdxj | mementomap partition --source b.cdxj -o b.run",
    "choose the cuts": "mementomap partition --into 2 a.run b.run -o cuts.txt",
    "a run for each range": "mementomap partition --cuts cuts.txt a.cdxj -o a.runs",
    "the same from a run": "mementomap partition --cuts cuts.txt b.run -o b.runs",
  },
  async run({ positionals, values }, io) {
    if (values.into !== undefined) {
      if (values.cuts !== undefined) throw misuse("--into makes cuts, and --cuts takes them");
      await writeCuts(positionals, values.into, values, io);
      return ExitCode.ok;
    }
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const { output } = values;
    const settings = countSettings(values);
    if (values.cuts !== undefined && (output === undefined || output === "-")) {
      throw misuse("name the folder for the runs: -o DIR");
    }
    const cuts = values.cuts === undefined ? undefined : await readCuts(values.cuts);
    if (cuts !== undefined && output !== undefined && isRun(await startOfFile(paths[0]))) {
      if (paths.length > 1) throw misuse("runs are cut one by one; name one");
      await cutOneRun(paths[0], output, cuts, values, io);
      return ExitCode.ok;
    }
    if (cuts === undefined) {
      const outputs = [{ path: output, kind: "run" } as const];
      await guardOutputs(outputs, { inputs: paths, force: values.force });
    }
    const startedAt = io.now();
    const making = withProgress(io, paths, values, async (work) =>
      extractRuns(paths, output, {
        ...work,
        ...settings,
        description: await mapDescription(values, paths, io),
        cuts,
        stdout: io.stdout,
      }),
    );
    const summary = await making.catch((error: unknown) => {
      const { source, "first-line": firstLine } = values;
      throw relocated(withSkipHint(error), source, firstLine);
    });
    if (!values.quiet) showSummary(io, summary, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

async function writeCuts(
  paths: readonly string[],
  ranges: number,
  values: { output: string | undefined; tmp: string | undefined; quiet: boolean; json: boolean },
  io: Io,
): Promise<void> {
  if (paths.length === 0) throw misuse("name the runs to choose cuts for");
  const cuts = await withTempDir({ parent: values.tmp, interrupt: io.interrupt }, async (scratch) =>
    chooseCuts(await openRunFiles(paths, scratch, io), ranges),
  );
  await withOutput(values.output, io, async (output) => output.write(formatCuts(cuts)));
  if (values.quiet) return;
  io.stderr.write(
    values.json
      ? `${JSON.stringify({ ranges: cuts.length + 1 })}\n`
      : `${formatAmount(cuts.length + 1, "range")}\n`,
  );
}

async function cutOneRun(
  run: string,
  output: string,
  cuts: readonly Uint8Array[],
  values: { tmp: string | undefined; quiet: boolean; json: boolean },
  io: Io,
): Promise<void> {
  const startedAt = io.now();
  const { tmp: scratch, quiet, json } = values;
  const { interrupt } = io;
  const summary = await cutRun(run, output, cuts, { scratch, streams: io, interrupt });
  if (quiet) return;
  const lines: SummaryLine[] = [
    ["ranges", formatCount(summary.ranges)],
    ["keys", formatCount(summary.keys)],
    ["size", formatSize(summary.bytes)],
  ];
  const ms = io.now() - startedAt;
  showRun(io, ms, { json: { ...summary }, lines }, json);
}

/** Reads a file of cuts. */
export async function readCuts(path: string): Promise<Uint8Array[]> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return parseCuts(bytes, path);
}

/** Names the place of a fault in standard input as the caller knows it. */
function relocated(error: unknown, source: string | undefined, firstLine: number): unknown {
  if (!isMementoMapError(error) || error.position?.source !== "stdin") return error;
  const { line } = error.position;
  const moved: MementoMapError = error.at({
    source: source ?? "stdin",
    ...(line === undefined ? {} : { line: line + firstLine - 1 }),
  });
  return moved;
}

function showSummary(io: Io, summary: ExtractSummary, ms: number, isJson: boolean): void {
  const { counts, keys, bytes } = summary;
  if (!isJson) showDamages(io, summary);
  const lines: SummaryLine[] = [
    ...readingLines(summary, ms),
    ["keys", formatCount(keys)],
    ["size", formatSize(bytes)],
  ];
  showRun(io, ms, { json: { ...counts, ...summary, counts: undefined }, lines }, isJson);
}
