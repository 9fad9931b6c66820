import { readLogs } from "../../study/logs/read-logs.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { withOutput } from "../../files/output-file.ts";
import { logsPage, logsText } from "../../study/report/logs-report.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { FORCE_OPTION, option } from "../common/options.ts";
import { formatDuration, showSummary } from "../common/messages.ts";
import { ExitCode } from "../common/io.ts";
import { runRecord, timelessRecord, withProgress, WORK_OPTIONS } from "../common/index-options.ts";

export const logs: Command = defineCommand({
  name: "logs",
  summary: "Summarize the logs of an aggregator",
  usage: "[FILE...] [--holdings INDEX] [--html REPORT]",
  description: `
Reads MemGator logs and shows, for each archive, the number of requests, hits,
misses and errors, and how often it was put to sleep; how often archived
originals are requested; and which URIs are often requested but not held, as
candidates for seeds.

By default, the responses of archives determine what is held: a URI is held if
any archive has a memento, and not held if all archives that were asked have
answered and none has one. It is unknown if an archive failed, or if its
response could belong to several requests: a log without --benchmark does not
distinguish concurrent requests. With --holdings, an index of the archive
determines what is held, so that originals that nobody requests are counted too.

Reads every file once, in bounded memory; all numbers are exact. Responses that
could belong to several concurrent requests count for the archive, not for a
URI.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write the tables here." },
    html: { value: "FILE", help: "Write the report, one HTML file, here." },
    force: FORCE_OPTION,
    holdings: { value: "INDEX", multiple: true, help: "An index of what is held, as for analyze." },
    archive: { value: "ID", help: "Count only hits and misses of this archive." },
    top: option.count("100", "How many missing URIs to list."),
    ...WORK_OPTIONS,
  },
  examples: {
    "what each archive answered": "mementomap logs memgator.log",
    "overlap with an index, and seed candidates, for scripts":
      "mementomap logs memgator.log --holdings index.cdxj --json",
  },
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const outputs = [
      { path: values.output, kind: "report" } as const,
      ...(values.html === undefined ? [] : [{ path: values.html, kind: "page" } as const]),
    ];
    await guardOutputs(outputs, { inputs: [...paths, ...values.holdings], force: values.force });
    const startedAt = io.now();
    const inputs = [...paths, ...values.holdings];
    const report = await withProgress(io, inputs, values, (settings) =>
      readLogs(paths, {
        ...settings,
        holdings: values.holdings,
        archive: values.archive,
        top: values.top,
      }),
    );
    const run = runRecord(
      io,
      { logs: paths, holdings: values.holdings },
      {},
      { archive: values.archive },
    );
    const json = { ...report, run: timelessRecord(run) };
    const text = values.json ? `${JSON.stringify(json)}\n` : logsText(report);
    if (values.html !== undefined) {
      const page = logsPage(report, run);
      await withOutput(values.html, io, async (output) => output.write(Buffer.from(page)));
    }
    await withOutput(values.output, io, async (output) => output.write(Buffer.from(text)));
    if (!values.quiet && !values.json) {
      showSummary(io, [["time", formatDuration(io.now() - startedAt)]]);
    }
    return ExitCode.ok;
  },
});
