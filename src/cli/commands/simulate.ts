import { withTempDir } from "../../files/scratch.ts";
import { simulationReport } from "../../study/report/simulation.ts";
import { readLookups } from "../../study/simulate/lookup-stream.ts";
import { POLICIES, simulate as runPolicies } from "../../study/simulate/run-policies.ts";
import { readArchives } from "../../study/simulate/simulated-archives.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option, parsePart } from "../common/options.ts";
import { REPORT_OPTIONS, reportOutputs } from "../common/report-files.ts";

/** All policies that need no maps. */
const DEFAULT_POLICIES: readonly string[] = POLICIES.filter(
  (name) => !["maps", "both"].includes(name),
);

export const command: Command = defineCommand({
  name: "simulate",
  usage: "--archives FILE --lookups STREAM",
  description: `
Compares routing policies on lookups in chronological order, as if an aggregator
had received them: the number of requests each policy sends, and the share of
hits (archives that hold the URI) and of mementos that its clients get.

Policies: broadcast queries every archive; top-k always the 1, 3 or 5 largest;
tld sends the first tenth of the lookups (at most 10,000) to every archive, then
queries those with hits for the top-level domain; maps queries archives whose
map has the URI; learner learns from earlier responses, for each --recall; both
uses maps and learns; oracle queries exactly the archives that hold the URI.

Archives are a JSON list of entries with an id and holdings, a map or an index
of any format:

    [{"id": "a", "holdings": "a.cdxj.gz", "mementomap": "a.ukvs"}]

Entries may have a probability, a scope (a list of key prefixes), and a
mementomap for the policies maps and both.

Lookups are URIs, one per line, optionally preceded by a time and a tab, or the
log of an aggregator.`,
  options: {
    archives: { short: "a", value: "FILE", help: "The archives and their holdings." },
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
      help: "The target recall of the learner; may be repeated. Default: 0.95 and 0.98.",
    },
    skip: option.whole("0", "Start counting after this many distinct originals."),
    seed: option.whole("1", "The seed of random decisions."),
    ...REPORT_OPTIONS,
  },
  examples: {
    "the savings of learning":
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
