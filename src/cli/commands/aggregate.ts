import { formatAmount, formatDuration } from "../../format.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { withTempDir } from "../../files/scratch.ts";
import {
  AGGREGATE_OPTIONS,
  type AggregateValues,
  routePreferences,
} from "../common/aggregate-options.ts";
import { serveAggregator } from "../common/aggregate-serve.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, type Io, writeOut } from "../common/io.ts";
import type { Aggregation } from "../../aggregate/aggregator.ts";
import { isWhole } from "../../aggregate/session.ts";
import { pastedAddress } from "../../http/original-uri.ts";
import { MementoMapError } from "../../errors.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import type { TimeMapDocument } from "../../memento/timemap-document.ts";
import { describeMemento, writeTimeMap } from "../../memento/write-timemap.ts";
import { SILENT_LOG } from "../../http/log.ts";
import { setUpAggregator } from "../common/aggregate-setup.ts";
import { parseDatetime } from "../common/options.ts";

export const command: Command = defineCommand({
  name: "aggregate",
  usage: "[URI [DATETIME]]",
  description: `
Queries the archives of a list for the mementos of a URI, and writes them as one
TimeMap in chronological order. With a datetime, YYYY[MM[DD[hh[mm[ss]]]]],
describes the memento closest to it. With --serve (or the word server in place
of the URI), runs an HTTP service with the endpoints of MemGator: /timemap/,
/timegate/ and /memento/. /about shows the state of the archives.

Archives whose map does not have the URI are not queried. The map of an archive
is set in the list ("mementomap": a file or a URL), or with --map. Archives
without a map are always queried. /route/URI, and the command route, give the
reasons.

Every option is also a setting: in a JSON file, by its name, and in the
environment, as MEMENTOMAP_TOP_K for --top-k. docs/aggregating.md lists more.
The command line takes precedence over the environment, and the environment over
the file.

Exit status: 0 if there are mementos, 1 if there are none, 2 if no archive
answers. The service exits with 0 when it is stopped. It reloads the list of
archives when the file changes; on SIGHUP it reloads the list and the settings,
and reopens its log. With --workers it runs as several processes, which share
nothing but files; a process that dies is replaced.
`,
  options: AGGREGATE_OPTIONS,
  examples: {
    "the TimeMap of a page": "mementomap aggregate --archives archives.json http://example.org/",
    "the memento closest to a day, as JSON":
      "mementomap aggregate -a archives.json -f json http://example.org/ 20150213",
    "an aggregator on port 1208, with the map of one archive":
      "mementomap aggregate --serve -a archives.json --map archive.example=a.ukvs",
    "the same in four processes, for thousands of requests a second":
      "mementomap aggregate --serve -a archives.json --workers 4",
    "settings from a file, and a log to learn maps from":
      "mementomap aggregate --serve --config aggregator.json --log memgator.log",
  },
  isConfigurable: true,
  handlesSignals: true,

  async run({ positionals, values, reread }, io) {
    const [uri, datetime, ...more] = positionals;
    if (values.serve && uri !== undefined) throw usage("aggregate", "--serve takes no URI");
    if (!values.serve && uri === undefined) {
      throw usage("aggregate", "aggregate needs a URI, or --serve");
    }
    if (more.length > 0) throw usage("aggregate", "aggregate takes one URI and one datetime");
    const isService = uri === undefined || uri === "server";
    const act = (state: string): Promise<ExitCode> => {
      const isStateTemporary = values.state === undefined;
      const known = { ...values, state, isStateTemporary };
      return isService
        ? serveAggregator(known, io, reread)
        : aggregateOnce(known, io, uri, datetime);
    };
    return values.state === undefined
      ? withTempDir({ interrupt: io.interrupt }, act)
      : act(values.state);
  },
});

/** A single lookup: writes a TimeMap, or with a datetime the closest mementos. */
async function aggregateOnce(
  values: AggregateValues,
  io: Io,
  uri: string,
  datetimeText: string | undefined,
): Promise<ExitCode> {
  const original = pastedAddress(uri).uri;
  const datetime =
    datetimeText === undefined ? undefined : parsePaddedDatetime(parseDatetime(datetimeText));
  const startedAt = io.now();
  const setUp = await setUpAggregator(values, io, {
    log: SILENT_LOG,
    isOnce: true,
    onNoMap: ({ id }, error) => {
      if (!values.quiet) io.stderr.write(`mementomap: no map of ${id}: ${error.describe()}\n`);
    },
  });
  try {
    if (!values["no-routing"]) {
      // Limited: without its map an archive is queried anyway.
      const isOver = sleep(values.timeout, undefined, { ref: false });
      await Promise.race([setUp.open.keeper.fetched(), isOver]);
    }
    const { aggregator } = setUp.open;
    const request = { ...routePreferences(values), uri: original, signal: io.interrupt.signal };
    const aggregation = await (datetime === undefined
      ? aggregator.timeMap(request)
      : aggregator.timeGate({ ...request, datetime }));
    if (aggregation.mementos.count > 0) await write(aggregation, values, io, datetime);
    if (!values.quiet) io.stderr.write(`${summaryOf(aggregation, io.now() - startedAt)}\n`);
    return exitCodeOf(aggregation);
  } finally {
    await setUp.close();
  }
}

async function write(
  { original, mementos }: Aggregation,
  values: AggregateValues,
  io: Io,
  datetime: number | undefined,
): Promise<void> {
  const { base = "", port } = values;
  const service = base.startsWith("http")
    ? base.replace(/(?<!\/)\/+$/, "")
    : `http://localhost:${port}${base}`;
  const document: TimeMapDocument = { original, service, mementos };
  const format = values.json ? "json" : values.format;
  const blocks =
    datetime === undefined
      ? writeTimeMap(document, format)
      : [describeMemento(document, format, mementos.closest(datetime))];
  for (const block of blocks) await writeOut(io.stdout, block);
}

/** No mementos: exit status 1, unless every archive failed. */
function exitCodeOf({ mementos, outcomes }: Aggregation): ExitCode {
  if (mementos.count > 0) return ExitCode.ok;
  const isAnswered = ({ result }: (typeof outcomes)[number]): boolean => result === "miss";
  if (outcomes.length === 0 || outcomes.some(isAnswered)) return ExitCode.negative;
  const [first] = outcomes;
  throw new MementoMapError(
    "MM_HTTP",
    `none of ${formatAmount(outcomes.length, "archive")} answered; ${first.archive.id}: ${first.fault ?? `status ${first.status}`}`,
  );
}

/** `42 mementos: ia 40, loc 2; 3 archives queried, 9 skipped; incomplete: pt (it has not answered yet); 1.2 s` */
function summaryOf({ mementos, outcomes, decisions }: Aggregation, ms: number): string {
  const hits = outcomes
    .filter(({ result }) => result === "hit")
    .map(({ archive, mementos: count }) => `${archive.id} ${count}`);
  const missing = outcomes
    .filter((outcome) => !isWhole(outcome))
    .map(({ archive, fault, status }) => `${archive.id} (${fault ?? `status ${status}`})`);
  const skipped = decisions.length - outcomes.length;
  return [
    `${formatAmount(mementos.count, "memento")}${hits.length === 0 ? "" : `: ${hits.join(", ")}`}`,
    `${formatAmount(outcomes.length, "archive")} queried${skipped === 0 ? "" : `, ${skipped} skipped`}`,
    ...(missing.length === 0 ? [] : [`incomplete: ${missing.join(", ")}`]),
    formatDuration(ms),
  ].join("; ");
}
