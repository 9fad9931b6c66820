import { basename } from "node:path";
import { analyzeFiles } from "../../study/analyze/analyze-files.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { withOutput } from "../../files/output-file.ts";
import { analysisPage } from "../../study/report/analysis-page.ts";
import { analysisText } from "../../study/report/analysis-text.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { FORCE_OPTION, option } from "../common/options.ts";
import { formatRate, showRun, type SummaryLine } from "../common/messages.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  runRecord,
  timelessRecord,
  withProgress,
  WORK_OPTIONS,
} from "../common/index-options.ts";
import { ExitCode } from "../common/io.ts";
import { formatCount } from "../../errors.ts";

export const analyze: Command = defineCommand({
  name: "analyze",
  summary: "Show what an archive holds",
  usage: "[INPUT...] [--html REPORT]",
  description: `
Shows what an archive holds, from any index that generate reads: how much, of
which domains and years, how captures spread over originals, the shape of its
tree of keys by depth, how far keys can be rolled up, what was captured out of
proportion, and what is malformed. The tables and figures of the MementoMap
paper and those of cdx-summary, for your archive.

Reads the input once, sorted or not, in bounded memory; all numbers are exact.
Tables go to standard output; --html also writes one self-contained page with
charts, to read on screen, phone and paper.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write the tables here." },
    html: { value: "FILE", help: "Write the report, one HTML file, here." },
    force: FORCE_OPTION,
    title: { value: "TEXT", help: "The archive's name, for the report." },
    ...INDEX_OPTIONS,
    top: option.count("20", "Rows of the tables of the most archived."),
    samples: option.whole("10", "Captures of pages to draw at random."),
    ...WORK_OPTIONS,
  },
  examples: {
    "tables in the terminal": "mementomap analyze index.cdxj",
    "all numbers": "mementomap analyze --json index.cdxj -o analysis.json",
    "a page to show": "mementomap analyze *.cdxj --html report.html",
  },
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const filter = captureFilter(values);
    const outputs = [
      { path: values.output, kind: "report" } as const,
      ...(values.html === undefined ? [] : [{ path: values.html, kind: "page" } as const]),
    ];
    await guardOutputs(outputs, { inputs: paths, force: values.force });
    const startedAt = io.now();
    const analysis = await withProgress(io, paths, values, (settings) =>
      analyzeFiles(paths, {
        ...settings,
        format: values.format,
        filter,
        top: values.top,
        samples: values.samples,
      }),
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

/** What to call an archive when only its files are known. */
function archiveName(paths: readonly string[]): string {
  const [path = "-"] = paths;
  if (path === "-") return "the archive";
  return paths.length === 1 ? basename(path) : `${basename(path)} and ${paths.length - 1} more`;
}
