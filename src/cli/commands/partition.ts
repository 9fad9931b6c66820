import type { CommandIo } from "../common/messages.ts";
import type { Outcome } from "../common/command.ts";
import { inputsOf, TMP_OPTION } from "../common/options.ts";
import { warnOfDamages } from "../common/reading-summary.ts";
import { formatAmount, formatBytes, formatCount } from "../../format.ts";
import { readFile } from "node:fs/promises";
import { ioError, isMementoMapError, type MementoMapError } from "../../errors.ts";
import { withOutput } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { chooseCuts, formatCuts, parseCuts } from "../../generate/cuts.ts";
import { partitionFiles } from "../../generate/partition.ts";
import { withRunFiles } from "../../generate/run-file.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  COUNT_OPTIONS,
  countSettings,
  mapDescription,
  SKIP_BAD_OPTION,
} from "../common/count-options.ts";
import { INDEX_OPTIONS, withProgress, WORK_OPTIONS } from "../common/index-options.ts";
import { FORCE_OPTION, misuse, option } from "../common/options.ts";
import { readingLines, withSkipHint } from "../common/reading-summary.ts";

export const command: Command = defineCommand({
  name: "partition",
  usage: "[INPUT...] -o RUN",
  description: `
Divides the creation of a map into jobs that run anywhere: in Spark, in a Slurm
array, under GNU parallel, or on machines that share a folder. combine creates
the map from their results, with the same bytes as generate.

First, each split of the index (some of its files or lines) is converted to a
run: its keys, sorted and counted. Inputs and options are those of generate; use
the same options for all splits.

Then --into N chooses N - 1 keys as cuts, from the runs of all splits or of a
sample of them, so that the N ranges between them are about equal in size. The
file has one key per line, in byte order.

Runs may be compressed (.gz). They are written completely or not at all.`,
  options: {
    output: {
      short: "o",
      value: "FILE",
      help: "Write the run or the cuts here.",
    },
    into: option.count("Choose cuts for this many ranges; the inputs are runs."),
    source: { value: "NAME", help: "The name of standard input in messages." },
    "first-line": option.count("1", "The number of the first line of standard input."),
    ...INDEX_OPTIONS,
    ...COUNT_OPTIONS,
    ...WORK_OPTIONS,
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
    "skip-bad": SKIP_BAD_OPTION,
  },
  examples: {
    "one split": "mementomap partition a.cdxj -o a.run",
    "another, from standard input": "cat b.cdxj | mementomap partition --source b.cdxj -o b.run",
    "choose the cuts": "mementomap partition --into 2 a.run b.run -o cuts.txt",
  },
  files: ({ positionals, values: { output, into } }) => ({
    reads: { inputs: into === undefined ? inputsOf(positionals) : positionals },
    writes: [{ path: output, kind: into === undefined ? "run" : "cuts" }],
  }),
  async run({ positionals, values }, io) {
    const { output, into, source, "first-line": firstLine } = values;
    if (into !== undefined) return writeCuts(positionals, into, values, io);
    const paths = inputsOf(positionals);
    const settings = countSettings(values);
    const startedAt = io.now();
    const making = withProgress(io, paths, values, async (work) =>
      partitionFiles(paths, output, {
        ...work,
        ...settings,
        description: await mapDescription(values, paths, io),
        stdout: io.stdout,
      }),
    );
    const summary = await making.catch((error: unknown) => {
      throw relocated(withSkipHint(error), source, firstLine);
    });
    warnOfDamages(io, summary);
    const { counts, keys, bytes } = summary;
    return {
      summary: {
        json: { ...counts, ...summary, counts: undefined },
        text: [
          ...readingLines(summary, io.now() - startedAt),
          ["keys", formatCount(keys)],
          ["size", formatBytes(bytes)],
        ],
      },
    };
  },
});

async function writeCuts(
  paths: readonly string[],
  ranges: number,
  { output, tmp }: { output: string | undefined; tmp: string | undefined },
  io: CommandIo,
): Promise<Outcome> {
  if (paths.length === 0) throw misuse("name the runs to choose cuts for");
  const cuts = await withTempDir({ parent: tmp, interrupt: io.interrupt }, (scratch) =>
    withRunFiles(paths, { io, tmp: scratch }, (runs) =>
      chooseCuts(runs, ranges, { scratch, ...io }),
    ),
  );
  await withOutput(output, io, async (target) => target.write(formatCuts(cuts)));
  const count = cuts.length + 1;
  return { summary: { json: { ranges: count }, text: formatAmount(count, "range") } };
}

/** Reads a file of cuts. */
export async function readCuts(path: string): Promise<Uint8Array[]> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return parseCuts(bytes, path);
}

/** Reports an error in standard input at the position in the caller's own file. */
function relocated(error: unknown, source: string | undefined, firstLine: number): unknown {
  if (!isMementoMapError(error) || error.position?.source !== "stdin") return error;
  const { line } = error.position;
  const moved: MementoMapError = error.at({
    source: source ?? "stdin",
    ...(line === undefined ? {} : { line: line + firstLine - 1 }),
  });
  return moved;
}
