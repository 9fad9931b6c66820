import { withTempDir } from "../../files/scratch.ts";
import { simulationReport } from "../../study/report/simulation.ts";
import { readLookups } from "../../study/simulate/lookup-stream.ts";
import { POLICIES, simulate as runPolicies } from "../../study/simulate/run-policies.ts";
import { readArchives } from "../../study/simulate/simulated-archives.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option, parsePart } from "../common/options.ts";
import { REPORT_OPTIONS, reportOutputs } from "../common/report-files.ts";

/** Those that need no maps. */
const DEFAULT_POLICIES: readonly string[] = POLICIES.filter(
  (name) => !["maps", "both"].includes(name),
);

export const command: Command = defineCommand({
  name: "simulate",
  usage: "--archives FILE --lookups STREAM",
  description: `
Runs routing policies side by side on lookups in chronological order, as if an
aggregator had received them: how many requests each policy sends, and which
share of archives with a hit and of mementos its clients get.

Policies: broadcast queries every archive; top-k always the 1, 3 or 5 that have
most; tld those that had anything of the top-level domain in the first tenth of
the lookups (at most 10,000), which go to every archive; maps those whose map
has the URI; learner decides by earlier responses, for each --recall; both uses
maps and learns; oracle queries those that have it.

Archives are a JSON list of entries with an id and holdings, a map or an index
of any format:

    [{"id": "a", "holdings": "a.cdxj.gz", "mementomap": "a.ukvs"}]

Entries may have a probability, a scope (a list of key prefixes), and a
mementomap for the policies maps and both.

Lookups are URIs, one per line, optionally preceded by a time and a tab, or the
log of an aggregator.`,
  options: {
    archives: { short: "a", value: "FILE", help: "The archives and what they hold." },
    lookups: { value: "STREAM", help: "The lookups in chronological order; - for standard input." },
    policy: {
      value: "NAME",
      multiple: true,
      help: "Run only this policy; may be repeated. Default: all but maps and both.",
    },
    recall: {
      value: "SHARE",
      multiple: true,
      parse: parsePart,
      help: "The recall that the learner is to keep; may be repeated. Default: 0.95 and 0.98.",
    },
    skip: option.whole("0", "Start counting after this many different originals."),
    seed: option.whole("1", "The seed of random decisions."),
    ...REPORT_OPTIONS,
  },
  examples: {
    "what learning would save":
      "mementomap simulate -a holdings.json --lookups uris.txt --recall 0.98",
    "with the log of an aggregator, as an HTML report":
      "mementomap simulate -a holdings.json --lookups memgator.log --html r.html",
  },
  files({ positionals, values: { archives, lookups, ...values } }) {
    if (positionals.length > 0) throw usage("simulate", "name the lookups with --lookups");
    if (archives === undefined || lookups === undefined) {
      throw usage("simulate", "name the archives with --archives and the lookups with --lookups");
    }
    return { reads: { archives, lookups }, writes: reportOutputs(values) };
  },
  run({ values }, io) {
    const { archives: list = "-", lookups = "-", policy, recall, skip: from, seed } = values;
    return withTempDir({ interrupt: io.interrupt }, async (scratch) => {
      const stream = await readLookups(lookups, io);
      const archives = await readArchives(list, { stream, scratch, streams: io });
      const results = await runPolicies({
        stream,
        archives,
        seed,
        streams: io,
        policies: policy.length > 0 ? policy : DEFAULT_POLICIES,
        recalls: recall.length > 0 ? recall : [0.95, 0.98],
        from,
      });
      const { lookups: all, originals } = stream;
      const counts = { lookups: all.length, originals: originals.length, from };
      const report = simulationReport(results, { archives: archives.length, ...counts });
      return { report, summary: { json: {}, text: [] } };
    });
  },
});
