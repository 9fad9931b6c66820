import { isWorkerProcess } from "../../files/processes/worker-link.ts";
import { withTempDir } from "../../files/scratch.ts";
import { aggregateOnce } from "../common/aggregate-once.ts";
import { AGGREGATE_OPTIONS } from "../common/aggregate-options.ts";
import { serveAggregator, serveAsWorker } from "../common/aggregate-serve.ts";
import { defaultWorkers, superviseAggregators } from "../common/aggregate-supervise.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import type { ExitCode } from "../common/io.ts";

export const aggregate: Command = defineCommand({
  name: "aggregate",
  summary: "Ask web archives for mementos, once or as a service",
  usage: "[URI [DATETIME]]",
  description: `
Asks the archives of a list for the mementos of a URI, and writes them as one
TimeMap in the order of time. With a datetime, YYYY[MM[DD[hh[mm[ss]]]]], asks
for the memento closest to it and describes that. With --serve (or the word
server for the URI), answers such questions over HTTP, as MemGator does: at
/timemap/, /timegate/ and /memento/. /about tells how the archives are.

Archives whose map does not have the URI are not asked. The map of an archive is
named in the list ("mementomap": a file or an address), or with --map. Archives
without a map are asked always. /route/URI, and the command route, say why.

Every option is also a setting: in a JSON file, by its name, and in the
environment, as MEMENTOMAP_PAGE_SIZE for --page-size. What is typed comes before
the environment, and that before the file.

Ends with 0 when there are mementos, 1 when there are none, 2 when nobody
answers. The service ends with 0 when it is told to stop. It goes by another
list of archives when the file changes; SIGHUP makes it read list and settings,
and reopen its log. By default there is a worker process for each core, at most
4; one that dies is replaced, and limits are divided among them.
`,
  options: AGGREGATE_OPTIONS,
  examples: [
    {
      does: "the TimeMap of a page",
      line: "mementomap aggregate --archives archives.json http://example.org/",
    },
    {
      does: "the memento closest to a day, as JSON",
      line: "mementomap aggregate -a archives.json -f json http://example.org/ 20150213",
    },
    {
      does: "an aggregator on port 1208, with the map of one archive",
      line: "mementomap aggregate --serve -a archives.json --map archive.example=a.ukvs",
    },
    {
      does: "the same in one process, where memory is short",
      line: "mementomap aggregate --serve -a archives.json --workers 1",
    },
    {
      does: "settings from a file, and a log to learn maps from",
      line: "mementomap aggregate --serve --config aggregator.json --log memgator.log",
    },
  ],
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
        ? superviseAggregators({ ...known, workers }, io)
        : serveAggregator(known, io, () => ({ ...reread(), state }));
    };
    return values.state === undefined
      ? withTempDir({ interrupt: io.interrupt }, act)
      : act(values.state);
  },
});
