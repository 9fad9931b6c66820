import { withOutput } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { simulationPage, simulationText } from "../../study/report/simulation-report.ts";
import { readLookups } from "../../study/simulate/lookup-stream.ts";
import { POLICIES, simulate as runPolicies } from "../../study/simulate/run-policies.ts";
import { readArchives } from "../../study/simulate/simulated-archives.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode } from "../common/io.ts";
import { runRecord, timelessRecord } from "../common/index-options.ts";
import { formatDuration, showSummary } from "../common/messages.ts";
import { FORCE_OPTION, option, parsePart, TMP_OPTION } from "../common/options.ts";

/** Those that need no maps, which take time to make. */
const DEFAULT_POLICIES: readonly string[] = POLICIES.filter(
  (name) => !["maps", "packed", "both", "shared"].includes(name),
);

export const simulate: Command = defineCommand({
  name: "simulate",
  summary: "Compare routing policies on a stream of lookups",
  usage: "--archives FILE --lookups STREAM",
  description: `
Runs routing policies side by side on lookups in chronological order, as if an
aggregator had received them: how many requests each policy sends, which share
of archives with a hit and of mementos its clients get, how long they wait, and
how many bytes archives send.

Policies: broadcast asks every archive; top-k always the 1, 3 or 5 that have
most; probability those with 5 % of the lookups or more; tld those that had
anything of the top-level domain in the first 10,000 lookups; maps those whose
map has the URI; packed the same with packed maps of that size; learner decides
by earlier responses, for each --recall; both uses maps and learns; shared
starts with what another aggregator learnt from the first lookups (--others);
oracle asks those that have it.

Archives are a JSON list of entries with an id, and holdings or a model:

    [{"id": "real", "holdings": "real.cdxj.gz"},
     {"id": "made-up", "model": {"kind": "large", "hitRate": 0.03}}]

Holdings are a map or an index of any format. Kinds of models are large,
national, topical, pages and dead. Entries may have a probability, a scope (a
list of key prefixes), a mementomap and latencyMs, the median response time. The
name paper stands for 14 archives with the hit rates of the paper.

Lookups are URIs, one per line, optionally preceded by a time and a tab, or the
log of an aggregator.`,
  options: {
    archives: { short: "a", value: "FILE", help: "The archives; paper for those of the paper." },
    lookups: { value: "STREAM", help: "The lookups in chronological order; - for standard input." },
    policy: {
      value: "NAME",
      multiple: true,
      help: "Run only this policy; may be repeated. Default: all but maps, packed, both and shared.",
    },
    recall: {
      value: "SHARE",
      multiple: true,
      parse: parsePart,
      help: "The recall that the learner is to keep; may be repeated. Default: 0.95 and 0.98.",
    },
    from: option.whole("0", "Start counting after this many different originals."),
    others: option.whole(
      "0",
      "Give this many lookups at the start to another aggregator, which shares what it learns.",
    ),
    "map-bytes": option.size("100k", "The size of generated maps, after gzip."),
    mapped: {
      value: "ID",
      multiple: true,
      help: "Only this archive has a map; may be repeated.",
    },
    seed: option.whole("1", "The seed of random archives and decisions."),
    output: { short: "o", value: "FILE", help: "Write the tables here." },
    html: { value: "FILE", help: "Write the report, one HTML file, here." },
    force: FORCE_OPTION,
    tmp: TMP_OPTION,
  },
  examples: {
    "what learning would save for the archives of the paper":
      "mementomap simulate --archives paper --lookups uris.txt --recall 0.98",
    "your own archives and logs, as an HTML report":
      "mementomap simulate -a holdings.json --lookups memgator.log --html r.html",
  },
  async run({ positionals, values }, io) {
    const { archives: list, lookups } = values;
    if (positionals.length > 0) throw usage("simulate", "name the lookups with --lookups");
    if (list === undefined || lookups === undefined) {
      throw usage("simulate", "name the archives with --archives and the lookups with --lookups");
    }
    const outputs = [
      { path: values.output, kind: "report" } as const,
      ...(values.html === undefined ? [] : [{ path: values.html, kind: "page" } as const]),
    ];
    await guardOutputs(outputs, { inputs: [list, lookups], force: values.force });
    const startedAt = io.now();
    return withTempDir({ parent: values.tmp, interrupt: io.interrupt }, async (scratch) => {
      const stream = await readLookups(lookups, io);
      const common = { stream, seed: values.seed, scratch, streams: io };
      const archives = await readArchives(list, common);
      const results = await runPolicies({
        ...common,
        archives,
        policies: values.policy.length > 0 ? values.policy : DEFAULT_POLICIES,
        recalls: values.recall.length > 0 ? values.recall : [0.95, 0.98],
        from: values.from,
        others: values.others,
        mapBytes: values["map-bytes"],
        mapped: values.mapped,
      });
      const facts = {
        archives: archives.length,
        lookups: stream.lookups.length,
        originals: stream.originals.length,
        from: values.from,
      };
      const run = runRecord(io, { archives: [list], lookups: [lookups] }, {}, {});
      const json = { ...facts, policies: results, run: timelessRecord(run) };
      const text = values.json ? `${JSON.stringify(json)}\n` : simulationText(results, facts);
      if (values.html !== undefined) {
        const page = simulationPage(results, facts, run);
        await withOutput(values.html, io, async (output) => output.write(Buffer.from(page)));
      }
      await withOutput(values.output, io, async (output) => output.write(Buffer.from(text)));
      if (!values.quiet && !values.json) {
        showSummary(io, [["time", formatDuration(io.now() - startedAt)]]);
      }
      return ExitCode.ok;
    });
  },
});
