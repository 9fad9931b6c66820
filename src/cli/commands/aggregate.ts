import { setTimeout as sleep } from "node:timers/promises";
import { isWorkerProcess } from "../../files/processes/worker-link.ts";
import { withTempDir } from "../../files/scratch.ts";
import { AGGREGATE_OPTIONS, routePreferences } from "../common/aggregate-options.ts";
import { serveAggregator, serveAsWorker } from "../common/aggregate-serve.ts";
import { defaultWorkers, superviseAggregators } from "../common/aggregate-supervise.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, type Io, writeOut } from "../common/io.ts";
import type { Aggregation } from "../../aggregate/aggregator.ts";
import { isWhole } from "../../aggregate/session.ts";
import { originalUri } from "../../aggregate/service/request-target.ts";
import { formatAmount, MementoMapError } from "../../errors.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import type { TimeMapDocument } from "../../memento/timemap-document.ts";
import { describeMemento, writeTimeMap } from "../../memento/write-timemap.ts";
import { SILENT_LOG } from "../../http/log.ts";
import { pathPrefix } from "../../http/target.ts";
import { type AggregateValues, setUpAggregator } from "../common/aggregate-setup.ts";
import { parseDatetime } from "../common/options.ts";
import { formatDuration } from "../common/messages.ts";

export const aggregate: Command = defineCommand({
  name: "aggregate",
  summary: "Query web archives for mementos, once or as a service",
  usage: "[URI [DATETIME]]",
  description: `
Asks the archives of a list for the mementos of a URI, and writes them as one
TimeMap in chronological order. With a datetime, YYYY[MM[DD[hh[mm[ss]]]]],
describes the memento closest to it. With --serve (or the word server in place
of the URI), runs an HTTP service with the endpoints of MemGator: /timemap/,
/timegate/ and /memento/. /about shows the state of the archives.

Archives whose map does not have the URI are not asked. The map of an archive is
set in the list ("mementomap": a file or a URL), or with --map. Archives without
a map are always asked. /route/URI, and the command route, give the reasons.

Every option is also a setting: in a JSON file, by its name, and in the
environment, as MEMENTOMAP_PAGE_SIZE for --page-size. The command line takes
precedence over the environment, and the environment over the file.

Exit status: 0 if there are mementos, 1 if there are none, 2 if no archive
answers. The service exits with 0 when it is stopped. It reloads the list of
archives when the file changes; on SIGHUP it reloads the list and the settings,
reopens its log, and replaces its workers one by one. By default there is one
worker process per core. Workers share one cache and one set of limits; a worker
that dies is replaced.
`,
  options: AGGREGATE_OPTIONS,
  examples: {
    "the TimeMap of a page": "mementomap aggregate --archives archives.json http://example.org/",
    "the memento closest to a day, as JSON":
      "mementomap aggregate -a archives.json -f json http://example.org/ 20150213",
    "an aggregator on port 1208, with the map of one archive":
      "mementomap aggregate --serve -a archives.json --map archive.example=a.ukvs",
    "the same in one process, if memory is scarce":
      "mementomap aggregate --serve -a archives.json --workers 1",
    "settings from a file, and a log to learn maps from":
      "mementomap aggregate --serve --config aggregator.json --log memgator.log",
  },
  isConfigurable: true,
  endsItself: true,

  async run({ positionals, values, reread }, io) {
    const [uri, datetime, ...more] = positionals;
    if (values.serve && uri !== undefined) throw usage("aggregate", "--serve takes no URI");
    if (!values.serve && uri === undefined) {
      throw usage("aggregate", "aggregate needs a URI, or --serve");
    }
    if (more.length > 0) throw usage("aggregate", "aggregate takes one URI and one datetime");
    const isService = uri === undefined || uri === "server";
    if (isService && isWorkerProcess()) return serveAsWorker(values, io, reread);
    const act = (state: string): Promise<ExitCode> => {
      const known = { ...values, state };
      if (!isService) return aggregateOnce(known, io, uri, datetime);
      const workers = values.workers ?? defaultWorkers(io);
      return workers > 1
        ? superviseAggregators({ ...known, workers }, io, reread)
        : serveAggregator(known, io, () => ({ ...reread(), state }));
    };
    return values.state === undefined
      ? withTempDir({ interrupt: io.interrupt }, act)
      : act(values.state);
  },
});

/** Asks archives once: writes a TimeMap, or with a datetime what is closest to it. */
async function aggregateOnce(
  values: AggregateValues,
  io: Io,
  uri: string,
  datetimeText: string | undefined,
): Promise<ExitCode> {
  const original = originalUri(asciiUri(uri));
  const datetime =
    datetimeText === undefined ? undefined : parsePaddedDatetime(parseDatetime(datetimeText));
  const startedAt = io.now();
  // Nobody is there to learn from samples, or to share with.
  const setUp = await setUpAggregator({ ...values, sample: 0, "no-share": true }, io, {
    log: SILENT_LOG,
    onNoMap: ({ id }, error) => {
      if (!values.quiet) io.stderr.write(`mementomap: no map of ${id}: ${error.describe()}\n`);
    },
  });
  try {
    if (!values["no-routing"]) await within(values.timeout, setUp.open.keeper.fetched());
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

/** Waits for maps, but not for ever: without its map an archive is asked. */
async function within(ms: number, done: Promise<void>): Promise<void> {
  const waiting = new AbortController();
  const over = sleep(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([done, over]);
  waiting.abort();
}

async function write(
  { original, mementos }: Aggregation,
  values: AggregateValues,
  io: Io,
  datetime: number | undefined,
): Promise<void> {
  const base = values.base ?? `http://localhost:${values.port}`;
  const service = `${base.replace(/\/+$/, "")}${pathPrefix(values.root)}`;
  const document: TimeMapDocument = { original, service, mementos };
  const format = values.json ? "json" : values.format;
  const blocks =
    datetime === undefined
      ? writeTimeMap(document, format)
      : [describeMemento(document, format, mementos.closest(datetime))];
  for (const block of blocks) await writeOut(io.stdout, block);
}

/** Nothing found is a no, unless nobody answered at all. */
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

/** `42 mementos: ia 40, loc 2; 3 archives asked, 9 spared; no answer: pt (late); 1.2 s` */
function summaryOf({ mementos, outcomes, decisions }: Aggregation, ms: number): string {
  const hits = outcomes
    .filter(({ result }) => result === "hit")
    .map(({ archive, mementos: count }) => `${archive.id} ${count}`);
  const missing = outcomes
    .filter((outcome) => !isWhole(outcome))
    .map(({ archive, fault, status }) => `${archive.id} (${fault ?? `status ${status}`})`);
  const spared = decisions.length - outcomes.length;
  return [
    `${formatAmount(mementos.count, "memento")}${hits.length === 0 ? "" : `: ${hits.join(", ")}`}`,
    `${formatAmount(outcomes.length, "archive")} asked${spared === 0 ? "" : `, ${spared} spared`}`,
    ...(missing.length === 0 ? [] : [`no whole answer: ${missing.join(", ")}`]),
    formatDuration(ms),
  ].join("; ");
}

/** What is typed may have any characters; requests have ASCII, others as the bytes of UTF-8. */
function asciiUri(text: string): string {
  return text.replaceAll(/[^\u0021-\u007e]+/gu, encodeURIComponent);
}
