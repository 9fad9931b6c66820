import { readLogs } from "../../study/logs/read-logs.ts";
import { logsReport } from "../../study/report/logs.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { withProgress, WORK_OPTIONS } from "../common/index-options.ts";
import { inputsOf, option } from "../common/options.ts";
import { REPORT_OPTIONS, reportOutputs } from "../common/report-files.ts";

export const command: Command = defineCommand({
  name: "logs",
  usage: "[FILE...] [--holdings INDEX] [--html REPORT]",
  description: `
Reads MemGator logs and shows, for each archive, the number of requests, hits,
misses and errors, and how often it was paused after failures; how often
archived originals are requested; and which URIs are often requested but not
held, as candidates for seeds.

By default, the responses of archives determine the holdings: a URI is held if
any archive has a memento, and not held if all queried archives responded
without one. It is unknown if an archive failed, or if its response could belong
to several requests: a log without --benchmark does not distinguish concurrent
requests. With --holdings, an index of the archive determines the holdings, so
that originals without requests are counted too.

Reads every file once, in bounded memory; all numbers are exact. Responses that
could belong to several concurrent requests count for the archive, not for a
URI.`,
  options: {
    ...REPORT_OPTIONS,
    holdings: { value: "INDEX", multiple: true, help: "An index of the holdings, as for analyze." },
    archive: { value: "ID", help: "Count only hits and misses of this archive." },
    top: option.count("100", "The maximum number of missing URIs to list."),
    memory: WORK_OPTIONS.memory,
  },
  examples: {
    "the responses of each archive": "mementomap logs memgator.log",
    "overlap with an index, and seed candidates, for scripts":
      "mementomap logs memgator.log --holdings index.cdxj --json",
  },
  files: ({ positionals, values }) => ({
    reads: { logs: inputsOf(positionals), holdings: values.holdings },
    writes: reportOutputs(values),
  }),
  async run({ positionals, values }, io) {
    const paths = inputsOf(positionals);
    const { holdings, archive, top } = values;
    const report = await withProgress(io, [...paths, ...holdings], values, (settings) =>
      readLogs(paths, { ...settings, holdings, archive, top }),
    );
    if (report.counts.requests === 0) io.warn("the logs contain no requests to an aggregator");
    return {
      report: logsReport(report),
      filters: { archive },
      summary: { json: {}, text: [] },
    };
  },
});
