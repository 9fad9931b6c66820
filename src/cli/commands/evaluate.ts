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
Compares the answers of maps, of text or packed, with what is held according to
BASE: an index in any format that generate reads, or a map that is not
compacted. Columns of the result:

  keys       the share of correct answers by key, which has no query
  URIs       the same by URI, as in the paper; needs an index as BASE, or a map
             with queries
  hosts      the same for keys whose host is held: the harder ones
  recall     the share of all held keys that the map reports present: always 1
  fresh      the share of later captures that the map already reports present
  cost       lines per original of BASE, or per key if it does not count
             originals

Lookups are URIs or SURTs, one per line; each counts once. A file of another
kind, or an empty one, is refused. Exits with status 1 if a map loses something
that is held.

With --as-of DATE, captures of the index BASE up to and including DATE are held,
and later ones show by month or year how long maps of that date stay fresh;
without maps, a map of all keys. --future takes a list of URIs that were
archived later; for URIs that never were, the share is one of wrong answers.

--sweep also creates maps from BASE and measures them: paper, all 36 pairs of
weights of the paper's table; frontier, budgets from 0.1% to 50%, with --misses
also trained.`,
  options: {
    truth: { value: "BASE", help: "What is held: an index, or a full map." },
    lookups: { value: "FILE", help: "The URIs or SURTs to look up." },
    "as-of": option.date("Measure what was captured after this: 2015, 2015-06-30."),
    future: { value: "FILE", help: "A list of what was archived later." },
    queries: { help: "Create maps with queries from an index BASE." },
    sweep: { value: "SET", help: "paper or frontier.", ...choice(SWEEPS) },
    misses: {
      ...MISSES_OPTIONS.misses,
      help: "Lookups that missed, to train --sweep frontier on, or a MemGator log.",
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
    "the best accuracy at any size":
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
