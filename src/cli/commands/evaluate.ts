import { evaluateFiles } from "../../study/evaluate/evaluate-files.ts";
import type { Sweep } from "../../study/evaluate/predictors.ts";
import { isPackedFile } from "../../study/evaluate/truth.ts";
import { evaluationReport } from "../../study/report/evaluation.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  WORK_OPTIONS,
  workThreads,
} from "../common/index-options.ts";
import { ExitCode } from "../common/io.ts";
import { assertMaps } from "../common/map-arguments.ts";
import { warnSkippedLines } from "../common/messages.ts";
import { choice, MISSES_OPTIONS, option } from "../common/options.ts";
import { REPORT_OPTIONS, reportOutputs } from "../common/report-files.ts";

const SWEEPS = ["paper", "frontier"] as const satisfies readonly Sweep[];

export const command: Command = defineCommand({
  name: "evaluate",
  usage: "[MAP...] --truth BASE --lookups URIS",
  description: `
Compares the answers of maps (text or packed) with BASE, which lists the
holdings: an index in any format that generate reads, or an uncompacted map.
Columns of the result:

  keys       the share of correct answers by key (without queries)
  URIs       the same by URI, as in the paper; requires an index as BASE, or a
             map with queries
  hosts      the same for keys whose host is held, which are harder
  recall     the share of all held keys that the map reports present: always 1
  fresh      the share of later captures that the map already reports present
  cost       lines per original of BASE, or per key if it does not count
             originals

Lookups are URIs or SURTs, one per line; each counts once. An empty file or
another kind of file is rejected. Exits with status 1 if a map misses a held
key.

With --as-of DATE, captures in the index BASE up to and including DATE count as
held; later ones show, by month or year, how long maps of that date stay fresh.
Without a MAP, a map of all keys is measured. --future takes a list of URIs that
were archived later; if they never were, the share is one of wrong answers.

--sweep also creates maps from BASE and measures them: paper, all 36 pairs of
weights in the paper's table; frontier, budgets from 0.1% to 50%, trained too
with --misses.`,
  options: {
    truth: { value: "BASE", help: "The holdings: an index or a full map." },
    lookups: { value: "FILE", help: "The URIs or SURTs to look up." },
    "as-of": option.date("Measure captures after this date, e.g. 2015 or 2015-06-30."),
    future: { value: "FILE", help: "A list of URIs archived later." },
    queries: { help: "Create maps with queries from an index BASE." },
    sweep: { value: "SET", help: "paper or frontier.", ...choice(SWEEPS) },
    misses: {
      ...MISSES_OPTIONS.misses,
      help: "Earlier misses to train --sweep frontier, or a MemGator log.",
    },
    archive: MISSES_OPTIONS.archive,
    "original-count": option.count("Compute relative cost for this many originals."),
    ...REPORT_OPTIONS,
    format: INDEX_OPTIONS.format,
    to: INDEX_OPTIONS.to,
    preset: INDEX_OPTIONS.preset,
    memory: WORK_OPTIONS.memory,
  },
  examples: {
    "the accuracy of a small map":
      "mementomap evaluate new.ukvs --truth base.ukvs --lookups uris.txt",
    "the same, by URI too": "mementomap evaluate new.ukvs --truth index.cdxj --lookups uris.txt",
    "how long a map of 2005 stays fresh": "mementomap evaluate --truth index.cdxj --as-of 2005",
    "the best accuracy at each size":
      "mementomap evaluate --sweep frontier --truth base.ukvs --lookups uris.txt",
  },
  files({ positionals, values }) {
    const { truth, lookups, future, misses, sweep } = values;
    const asOf = values["as-of"];
    if (truth === undefined || (lookups === undefined && asOf === undefined)) {
      throw usage("evaluate", "evaluate needs --truth and --lookups, or --truth and --as-of");
    }
    if (positionals.length === 0 && sweep === undefined && asOf === undefined) {
      throw usage("evaluate", "nothing to evaluate: name maps, or use --sweep");
    }
    if (misses !== undefined && sweep !== "frontier") {
      throw usage("evaluate", "--misses requires --sweep frontier");
    }
    if (asOf !== undefined && future !== undefined) {
      throw usage("evaluate", "--as-of takes later captures from the index; omit --future");
    }
    return {
      reads: { maps: positionals, truth, lookups, future, misses },
      writes: reportOutputs(values),
    };
  },
  async run({ positionals, values }, io) {
    for (const path of positionals) {
      if (!(await isPackedFile(path))) await assertMaps(path);
    }
    const filter = captureFilter(values);
    const report = await evaluateFiles(positionals, {
      ...values,
      truth: values.truth ?? "-",
      filter,
      asOf: values["as-of"],
      originals: values["original-count"],
      traces: (values.html ?? values.csv ?? values.latex ?? values.svg) !== undefined,
      memoryBytes: values.memory,
      threads: workThreads(values),
      streams: io,
    });
    warnSkippedLines(io, report.oddLines);
    const losesNothing = report.all.every(({ recall }) => recall === 1);
    return {
      report: evaluationReport(report),
      filters: { ...filter, "as-of": values["as-of"] },
      status: losesNothing ? ExitCode.ok : ExitCode.negative,
      summary: { json: {}, text: [] },
    };
  },
});
