import { basename } from "node:path";
import { isRun } from "../../bytes/bytes.ts";
import { startOfFile } from "../../map/parts/run-file.ts";
import { analyzeFiles, type AnalyzeFilesOptions } from "../../study/analyze/analyze-files.ts";
import {
  analyzeRange,
  extractCaptures,
  isPartialAnalysis,
  joinPartialFiles,
} from "../../study/analyze/analyze-parts.ts";
import { joinAnalyses } from "../../study/analyze/partial-analysis.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { withOutput } from "../../files/output-file.ts";
import { analysisPage } from "../../study/report/analysis-page.ts";
import { analysisText } from "../../study/report/analysis-text.ts";
import { type Command, defineCommand } from "../common/command.ts";
import type { OptionValues } from "../common/command-line.ts";
import { FORCE_OPTION, misuse, option } from "../common/options.ts";
import { formatRate, showRun, type SummaryLine } from "../common/messages.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  runRecord,
  SPLIT_OPTION,
  timelessRecord,
  withProgress,
  WORK_OPTIONS,
} from "../common/index-options.ts";
import { ExitCode, type Io } from "../common/io.ts";
import { readCuts } from "./partition.ts";
import { formatCount } from "../../errors.ts";

export const analyze: Command = defineCommand({
  name: "analyze",
  summary: "Show what an archive holds",
  usage: "[INPUT...] [--html REPORT]",
  description: `
Shows what an archive holds, from any index that generate reads: how much, from
which domains and years, how captures are distributed over originals, the shape
of its key tree by depth, how far keys can be rolled up, what was captured
disproportionately often, and what is malformed. Produces the tables and figures
of the MementoMap paper and of cdx-summary for your archive.

Reads the input once, sorted or not, in bounded memory; all numbers are exact.
Tables go to standard output; --html also writes one self-contained page with
charts, for desktop, phone and print.

On many machines, --partial converts a split of the index into a run: the
properties of each capture, and the captures sorted by original. Analyzing the
runs of all splits gives the same numbers as an analysis of the whole index.
Runs can also be analyzed range by range, with cuts of partition --into: --cuts
and --range with --partial give the analysis of one range, and analyzing those
of all ranges joins them. Use the same options throughout.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write the tables here." },
    html: { value: "FILE", help: "Write the report, one HTML file, here." },
    force: FORCE_OPTION,
    title: { value: "TEXT", help: "The archive's name, for the report." },
    ...INDEX_OPTIONS,
    top: option.count("20", "Rows of the tables of most archived items."),
    samples: option.whole("10", "Number of captured pages to select at random."),
    partial: { help: "Write a run of the captures, or the analysis of one range." },
    split: SPLIT_OPTION,
    cuts: { value: "FILE", help: "The keys between ranges, from partition --into." },
    range: option.count("The range of the runs to analyze, from 1."),
    ...WORK_OPTIONS,
  },
  examples: {
    "tables in the terminal": "mementomap analyze index.cdxj",
    "all numbers": "mementomap analyze --json index.cdxj -o analysis.json",
    "an HTML report": "mementomap analyze *.cdxj --html report.html",
    "one split of several": "mementomap analyze --partial a.cdxj -o a.captures",
  },
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const filter = captureFilter(values);
    const outputs = [
      {
        path: values.output,
        kind: values.partial && values.range === undefined ? "run" : "report",
      } as const,
      ...(values.html === undefined ? [] : [{ path: values.html, kind: "page" } as const]),
    ];
    await guardOutputs(outputs, { inputs: paths, force: values.force });
    const startedAt = io.now();
    if ((values.cuts === undefined) !== (values.range === undefined)) {
      throw misuse("a range needs both --cuts FILE and --range I");
    }
    const options = {
      format: values.format,
      filter,
      top: values.top,
      samples: values.samples,
      split: values.split,
    };
    const { partial } = values;
    const start = await startOfFile(paths[0]);
    const isOfRuns = isRun(start);
    if (values.range !== undefined && !(isOfRuns && partial)) {
      throw misuse("--range is for runs, and needs --partial: the analysis of a range is joined");
    }
    if (partial) {
      if (values.html !== undefined)
        throw misuse("--html is for the whole analysis, not --partial");
      await writePartial(paths, isOfRuns, { ...values, options }, io);
      return ExitCode.ok;
    }
    const analysis = await withProgress(io, paths, values, async (settings) =>
      isOfRuns
        ? joinAnalyses([
            { name: paths[0], data: await analyzeRange(paths, { ...settings, ...options }) },
          ])
        : isPartialAnalysis(start)
          ? joinPartialFiles(paths)
          : analyzeFiles(paths, { ...settings, ...options }),
    );
    const format = values.format === "auto" ? undefined : values.format;
    const run = runRecord(io, { inputs: paths }, filter, { format });
    const json = { ...analysis, run: timelessRecord(run) };
    const text = values.json ? `${JSON.stringify(json)}\n` : analysisText(analysis);
    if (values.html !== undefined) {
      const title = values.title ?? `What ${archiveName(paths)} holds`;
      const page = analysisPage(analysis, { title, run });
      await withOutput(values.html, io, async (output) => output.write(Buffer.from(page)));
    }
    await withOutput(values.output, io, async (output) => output.write(Buffer.from(text)));
    const { lines } = analysis.index.lines;
    const ms = io.now() - startedAt;
    const counted: SummaryLine = ["lines", formatCount(lines), formatRate(lines, ms)];
    if (!values.quiet) showRun(io, ms, { json: { lines }, lines: [counted] }, values.json);
    return ExitCode.ok;
  },
});

interface PartialValues extends OptionValues<typeof WORK_OPTIONS> {
  readonly output: string | undefined;
  readonly cuts: string | undefined;
  readonly range: number | undefined;
  readonly top: number;
  readonly quiet: boolean;
  readonly options: Omit<AnalyzeFilesOptions, "streams">;
}

/** Writes a run of captures, or of runs the analysis of a range. */
async function writePartial(
  paths: readonly string[],
  isOfRuns: boolean,
  values: PartialValues,
  io: Io,
): Promise<void> {
  await withProgress(io, paths, values, async (settings) => {
    if (!isOfRuns) {
      const options = { ...settings, ...values.options, stdout: io.stdout };
      await extractCaptures(paths, values.output, options);
      return;
    }
    const cuts = values.cuts === undefined ? [] : await readCuts(values.cuts);
    const { range: number = 1, top } = values;
    if (number > cuts.length + 1) {
      throw misuse(`there are ${cuts.length + 1} ranges, and no range ${number}`);
    }
    const part = await analyzeRange(paths, { ...settings, cuts, number, top });
    await withOutput(values.output, io, async (output) =>
      output.write(Buffer.from(`${JSON.stringify(part)}\n`)),
    );
  });
}

/** What to call an archive when only its files are known. */
function archiveName(paths: readonly string[]): string {
  const [path = "-"] = paths;
  if (path === "-") return "the archive";
  return paths.length === 1 ? basename(path) : `${basename(path)} and ${paths.length - 1} more`;
}
