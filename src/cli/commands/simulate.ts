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
  summary: "Compare ways to choose archives on a stream of lookups",
  usage: "--archives FILE --lookups STREAM",
  description: `
Runs policies side by side on lookups in the order of time, as if an aggregator
had been asked for them: how many requests each makes, which share of archives
with a hit and of mementos its clients get, how long they wait, and how many
bytes archives send.

Policies: broadcast asks every archive; top-k always the 1, 3 or 5 that have
most; probability those with 5 % of the lookups or more; tld those that had
anything of the top-level domain in the first 10,000 lookups; maps those whose
map has the URI; packed the same with packed maps of that size; learner goes by
what archives answered, for each --recall; both goes by maps and learns; shared
begins with what another aggregator learnt from the first lookups (--others);
oracle asks those that have it.

Archives are a JSON list of entries with an id, and holdings or a model:

    [{"id": "real", "holdings": "real.cdxj.gz"},
     {"id": "made-up", "model": {"kind": "large", "hitRate": 0.03}}]

Holdings are a map or an index of any format. Kinds of models are large,
national, topical, pages and dead. Entries may have a probability, a scope (a
list of prefixes of keys), a mementomap and latencyMs, half of its answers come
within. The name paper stands for 14 archives with the hit rates of the paper.

Lookups are URIs, a line each, with a time and a tab before them if there is
one, or the log of an aggregator.`,
  options: {
    archives: { short: "a", value: "FILE", help: "The archives; paper for those of the paper." },
    lookups: { value: "STREAM", help: "The lookups in the order of time; - for standard input." },
    policy: {
      value: "NAME",
      multiple: true,
      help: "Run only this policy. May be given more than once; by default all but maps, packed, both and shared.",
    },
    recall: {
      value: "SHARE",
      multiple: true,
      parse: parsePart,
      help: "What the learner is to keep; by default 0.95 and 0.98. May be given more than once.",
    },
    from: option.whole("0", "Count only after this many different originals."),
    others: option.whole(
      "0",
      "Leave so many lookups at the beginning to another aggregator, which shares what it learns.",
    ),
    "map-bytes": option.size("100k", "The size of maps that are made, after gzip."),
    mapped: {
      value: "ID",
      multiple: true,
      help: "Only this archive has a map. May be given more than once.",
    },
    seed: option.whole("1", "Another number gives other archives and other chances."),
    output: { short: "o", value: "FILE", help: "Write the tables here." },
    html: { value: "FILE", help: "Write the report, one HTML file, here." },
    force: FORCE_OPTION,
    tmp: TMP_OPTION,
  },
  examples: {
    "what learning would spare the archives of the paper":
      "mementomap simulate --archives paper --lookups uris.txt --recall 0.98",
    "own archives and logs, as a page":
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
