import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import type { InputFormat } from "../../input/detect.ts";
import { INPUT_FORMATS } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { CaptureSieve, joinFilters, PAPER_PRESET } from "../../input/filter.ts";
import { analyzeFiles } from "../../node/analyze/analyze-files.ts";
import { withOutput } from "../../node/output-file.ts";
import { packageVersion } from "../../node/package-version.ts";
import { analysisPage } from "../../report/analysis-page.ts";
import { analysisText } from "../../report/analysis-text.ts";
import type { Command } from "../command.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { ExitCode } from "../io.ts";
import { Progress } from "../progress.ts";
import {
  formatCount,
  formatDuration,
  formatSize,
  parsePositive,
  parseSize,
  parseWhole,
} from "../sizes.ts";
import { showSummary } from "../summary.ts";

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
    output: { type: "string", short: "o", value: "FILE", help: "Write the tables here." },
    html: { type: "string", value: "FILE", help: "Write the report, one HTML file, here." },
    title: { type: "string", value: "TEXT", help: "The archive's name, for the report." },
    format: {
      type: "string",
      value: "NAME",
      default: "auto",
      help: "The format of the input, as for generate.",
      parse: parseFormat,
    },
    status: {
      type: "string",
      value: "CODE",
      multiple: true,
      help: "Count only these status codes: 200, 3xx.",
    },
    mime: {
      type: "string",
      value: "TYPE",
      multiple: true,
      help: "Count only these MIME types: text/html, image/*.",
    },
    from: { type: "string", value: "DATE", help: "Count captures from then on: 2010." },
    to: { type: "string", value: "DATE", help: "Count captures up to and including then: 2012." },
    exclude: {
      type: "string",
      value: "REGEX",
      multiple: true,
      help: "Leave out captures whose URI matches.",
    },
    preset: {
      type: "string",
      value: "NAME",
      help: "paper: status 200, text/html, no robots.txt or sitemap.xml.",
      parse: parsePreset,
    },
    top: {
      type: "string",
      value: "N",
      default: "20",
      help: "Rows of the tables of the most archived.",
      parse: parsePositive,
    },
    samples: {
      type: "string",
      value: "N",
      default: "10",
      help: "Captures of pages to draw at random.",
      parse: parseSamples,
    },
    memory: {
      type: "string",
      value: "SIZE",
      default: "512m",
      help: "The most memory to use.",
      parse: parseSize,
    },
    threads: { type: "string", value: "N", help: "Default: all cores.", parse: parsePositive },
    tmp: { type: "string", value: "DIR", help: "Where scratch files go." },
  },
  examples: [
    { line: "mementomap analyze index.cdxj", does: "tables in the terminal" },
    { line: "mementomap analyze --json index.cdxj -o analysis.json", does: "all numbers" },
    { line: "mementomap analyze *.cdxj --html report.html", does: "a page to show" },
  ],
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const filter = joinFilters(values.preset ?? {}, {
      status: someOf(values.status),
      mime: someOf(values.mime),
      from: values.from,
      to: values.to,
      exclude: values.exclude,
    });
    void new CaptureSieve(filter); // complains about a filter before any work is done
    const startedAt = io.now();
    const total = await storedSize(paths);
    const progress = new Progress(io, { label: "reading", total, quiet: values.quiet });
    const analysis = await analyzeFiles(paths, {
      format: values.format,
      filter,
      top: values.top,
      samples: values.samples,
      memoryBytes: values.memory,
      threads: values.threads ?? availableParallelism(),
      scratch: values.tmp,
      streams: io,
      interrupt: io.interrupt,
      onRead: (bytes) => {
        progress.add(bytes);
      },
    }).finally(() => {
      progress.end();
    });
    const text = values.json ? `${JSON.stringify(analysis)}\n` : analysisText(analysis);
    if (values.html !== undefined) {
      const title = values.title ?? `What ${archiveName(paths)} holds`;
      const generator = `mementomap/${packageVersion()}`;
      const page = analysisPage(analysis, { title, generator });
      await withOutput(values.html, io, async (output) => output.write(Buffer.from(page)));
    }
    await withOutput(values.output, io, async (output) => output.write(Buffer.from(text)));
    const { lines } = analysis.index.lines;
    if (!values.quiet) report(io, lines, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

function parseFormat(text: string): InputFormat {
  const format = INPUT_FORMATS.find((name) => name === text);
  if (format !== undefined) return format;
  throw new MementoMapError(
    "MM_USAGE",
    `unknown format ${quote(text)}; use one of ${INPUT_FORMATS.join(", ")}`,
  );
}

function parsePreset(text: string): CaptureFilter {
  if (text === "paper") return PAPER_PRESET;
  throw new MementoMapError("MM_USAGE", `unknown preset ${quote(text)}; there is: paper`);
}

function parseSamples(text: string): number {
  return parseWhole(text, 0);
}

/** `--status 200,301` is the same as giving the option twice. */
function someOf(values: readonly string[]): string[] | undefined {
  const list = values.flatMap((value) => value.split(","));
  return list.length === 0 ? undefined : list;
}

/** What to call an archive of which only the files are known. */
function archiveName(paths: readonly string[]): string {
  const [path = "-"] = paths;
  if (path === "-") return "the archive";
  return paths.length === 1 ? basename(path) : `${basename(path)} and ${paths.length - 1} more`;
}

/** The size of all inputs, for progress; undefined if one is a pipe or cannot be looked at. */
async function storedSize(paths: readonly string[]): Promise<number | undefined> {
  let bytes = 0;
  for (const path of paths) {
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined); // whoever opens it says what is wrong
    if (stats?.isFile() !== true) return undefined;
    bytes += stats.size;
  }
  return bytes;
}

function report(io: Io, lines: number, ms: number, isJson: boolean): void {
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
  if (isJson) {
    io.stderr.write(`${JSON.stringify({ lines, seconds: ms / 1000, peakMemoryBytes })}\n`);
    return;
  }
  showSummary(io, [
    ["lines", formatCount(lines), `${formatCount(Math.round((lines / ms) * 1000))}/s`],
    ["time", formatDuration(ms)],
    ["memory", formatSize(peakMemoryBytes), "peak"],
  ]);
}
