import { availableParallelism } from "node:os";
import { evaluateFiles, type Sweep } from "../../study/evaluate/evaluate-files.ts";
import { threadsWithin } from "../../map/generate/key-table.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { withOutput } from "../../files/output-file.ts";
import { evaluationPage } from "../../study/report/evaluation-page.ts";
import { evaluationText, sweepText } from "../../study/report/evaluation-text.ts";
import { usage } from "../common/command-line.ts";
import { choice, FORCE_OPTION, MISSES_OPTIONS, option } from "../common/options.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  runRecord,
  timelessRecord,
  WORK_OPTIONS,
} from "../common/index-options.ts";
import { ExitCode, writeOut } from "../common/io.ts";
import { refuseOtherThanMaps } from "../common/map-arguments.ts";
import { isPackedFile } from "../../study/evaluate/truth.ts";
import { warnOfOddLines } from "../common/messages.ts";

const SWEEPS = ["paper", "frontier"] as const satisfies readonly Sweep[];

export const evaluate: Command = defineCommand({
  name: "evaluate",
  summary: "Measure the accuracy of maps",
  usage: "[MAP...] --truth BASE --lookups URIS",
  description: `
Compares the answers of maps with what is held according to BASE. BASE is an
index in any format that generate reads, or a map that is not compacted. Maps
may be packed. The result for each map has lines, size, relative cost, and

  keys       the share of correct answers by key, which has no query
  URIs       the share of correct answers by URI, as in the paper; needs an
             index or a map with queries as BASE: other maps do not say which
             URIs are held
  hosts      the same, for keys whose host is held: the harder ones
  recall     the share of all held keys that the map reports present: always 1
  fresh      the share of later captures that the map already reports present

Maps with queries are looked up with whole URIs, and evaluated by them in all
columns.

Relative cost is lines per original of BASE, or per key if it does not count
originals; the output says which.

Lookups are URIs or SURTs, one per line; each counts once, unless --repeats. A
file of another kind, or an empty one, is refused. Exits with status 1 if a map
loses something that is held.

With --as-of DATE, captures of the index BASE up to and including DATE are held.
The share of later captures that maps made at that time report as present is
given by month or year: how long a map stays fresh. Without maps, a map of all
keys held at that time is measured. --lookups may be omitted. --future takes a
list of URIs that were archived later; for URIs that never were, the share is
one of wrong answers.

--sweep also creates maps from BASE and measures them: paper, all 36 pairs of
weights of the paper's table; frontier, budgets from 0.1% to 50% (with --misses
also trained) next to weights, fixed policies, and packed maps and Bloom filters
of the same sizes.`,
  options: {
    truth: { value: "BASE", help: "What is held: an index, or a full map." },
    lookups: { value: "FILE", help: "The URIs or SURTs to look up." },
    "as-of": option.date("Measure what was captured after this: 2015, 2015-06-30."),
    future: { value: "FILE", help: "A list of what was archived later." },
    baselines: { help: "Add weights, fixed policies and Bloom filters for comparison." },
    queries: { help: "Create maps with queries from an index BASE." },
    sweep: { value: "SET", help: "paper or frontier.", ...choice(SWEEPS) },
    misses: {
      ...MISSES_OPTIONS.misses,
      help: "Lookups that missed, to train --sweep frontier on, or a MemGator log.",
    },
    archive: MISSES_OPTIONS.archive,
    originals: option.count("Compute relative cost for this many originals."),
    repeats: { help: "Count repeated lookups each time." },
    "held-hosts": { help: "Count only lookups of hosts that are held." },
    html: { value: "FILE", help: "Draw accuracy over size here." },
    force: FORCE_OPTION,
    ...INDEX_OPTIONS,
    ...WORK_OPTIONS,
  },
  examples: {
    "the accuracy of a small map":
      "mementomap evaluate new.ukvs --truth base.ukvs --lookups uris.txt",
    "the same, by URI too": "mementomap evaluate new.ukvs --truth index.cdxj --lookups uris.txt",
    "how long a map of 2005 stays fresh": "mementomap evaluate --truth index.cdxj --as-of 2005",
    "the best accuracy at any size":
      "mementomap evaluate --sweep frontier --truth base.ukvs --lookups uris.txt",
  },
  async run({ positionals, values }, io) {
    const { truth, lookups, future, misses, archive } = values;
    const asOf = values["as-of"];
    if (truth === undefined || (lookups === undefined && asOf === undefined)) {
      throw usage("evaluate", "evaluate needs --truth and --lookups, or --truth and --as-of");
    }
    const hasMore = values.sweep !== undefined || values.baselines || asOf !== undefined;
    if (positionals.length === 0 && !hasMore) {
      throw usage("evaluate", "nothing to evaluate: name maps, or use --sweep");
    }
    if (misses !== undefined && values.sweep !== "frontier") {
      throw usage("evaluate", "--misses requires --sweep frontier");
    }
    if (asOf !== undefined && future !== undefined) {
      throw usage("evaluate", "--as-of takes later captures from the index; omit --future");
    }
    const page = { path: values.html, kind: "page" } as const;
    const inputs = [...positionals, truth, lookups, future, misses];
    await guardOutputs(values.html === undefined ? [] : [page], { inputs, force: values.force });
    for (const path of positionals) {
      if (!(await isPackedFile(path))) await refuseOtherThanMaps(path);
    }
    const filter = captureFilter(values);
    const report = await evaluateFiles(positionals, {
      truth,
      format: values.format,
      filter,
      lookups,
      future,
      asOf,
      misses,
      archive,
      originals: values.originals,
      countsRepeats: values.repeats,
      addsBaselines: values.baselines,
      sweep: values.sweep,
      queries: values.queries,
      traces: values.html !== undefined,
      memoryBytes: values.memory,
      threads: values.threads ?? threadsWithin(values.memory, availableParallelism()),
      scratch: values.tmp,
      streams: io,
    });
    if (!values.quiet) warnOfOddLines(io, report.oddLines);
    const evaluations = values["held-hosts"] ? report.onHeldHosts : report.all;
    const run = runRecord(io, { maps: positionals, truth, lookups, future, misses }, filter, {
      "as-of": asOf,
    });
    if (values.html !== undefined) {
      const html = evaluationPage({ ...report, evaluations, run });
      await withOutput(values.html, io, (output) => output.write(new TextEncoder().encode(html)));
    }
    await writeOut(io.stdout, values.json ? jsonLines() : tables());
    const losesNothing = evaluations.every(({ recall }) => recall === 1);
    return losesNothing ? ExitCode.ok : ExitCode.negative;

    function tables(): string {
      return report.base === undefined
        ? evaluationText(evaluations, report.truth)
        : sweepText(report.base, evaluations, report.truth);
    }

    function jsonLines(): string {
      const more = { truth: report.truth, run: timelessRecord(run) };
      return evaluations.map((one) => `${JSON.stringify({ ...one, ...more })}\n`).join("");
    }
  },
});
