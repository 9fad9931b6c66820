import { basename } from "node:path";
import { formatCount, formatRate } from "../../format.ts";
import { analyzeFiles } from "../../study/analyze/analyze-files.ts";
import { analysisReport } from "../../study/report/analysis/analysis.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  withProgress,
  WORK_OPTIONS,
} from "../common/index-options.ts";
import { inputsOf, option, TMP_OPTION } from "../common/options.ts";
import { REPORT_OPTIONS, reportOutputs } from "../common/report-files.ts";

export const command: Command = defineCommand({
  name: "analyze",
  usage: "[INPUT...] [--html REPORT]",
  description: `
Shows what an archive holds, from any index that generate reads: totals, domains
and years, the distribution of captures over originals, the shape of the key
tree by depth, how far keys can be rolled up, disproportionately frequent
captures, and malformed lines. Produces the tables and figures of the MementoMap
paper and of cdx-summary for your archive.

Reads the input once, sorted or not, in bounded memory; all numbers are exact.
Tables go to standard output; --html also writes one self-contained page with
charts, for desktop, phone and print.`,
  options: {
    ...REPORT_OPTIONS,
    title: { value: "TEXT", help: "The archive's name, for the report." },
    ...INDEX_OPTIONS,
    top: option.count("20", "Rows in each table of most archived items."),
    ...WORK_OPTIONS,
    tmp: TMP_OPTION,
  },
  examples: {
    "tables in the terminal": "mementomap analyze index.cdxj",
    "all numbers": "mementomap analyze --json index.cdxj -o analysis.json",
    "an HTML report": "mementomap analyze *.cdxj --html report.html",
  },
  files: ({ positionals, values }) => ({
    reads: { inputs: inputsOf(positionals) },
    writes: reportOutputs(values),
  }),
  async run({ positionals, values }, io) {
    const paths = inputsOf(positionals);
    const { top, title = `What ${archiveName(paths)} holds` } = values;
    const filter = captureFilter(values);
    const startedAt = io.now();
    const analysis = await withProgress(io, paths, values, (settings) =>
      analyzeFiles(paths, { ...settings, format: values.format, filter, top }),
    );
    if (analysis.index.mementos === 0) io.warn("the input has no captures");
    const { lines } = analysis.index.lines;
    return {
      report: analysisReport(analysis, title),
      filters: { ...filter, format: values.format === "auto" ? undefined : values.format },
      summary: {
        json: { lines },
        text: [["lines", formatCount(lines), formatRate(lines, io.now() - startedAt)]],
      },
    };
  },
});

/** Names an archive after its files. */
function archiveName(paths: readonly string[]): string {
  const [path = "-"] = paths;
  if (path === "-") return "the archive";
  return paths.length === 1 ? basename(path) : `${basename(path)} and ${paths.length - 1} more`;
}
