import { shortened, TEXT_WIDTH } from "../../format.ts";
import { pastedAddress } from "../../http/original-uri.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { withTempDir } from "../../files/scratch.ts";
import { type Decision, decisionJson, type RouteReason } from "../../aggregate/route/decision.ts";
import { openAggregator } from "../../aggregate/service/open-aggregator.ts";
import {
  AGGREGATE_OPTIONS,
  ALLOW_PRIVATE_OPTION,
  learningOf,
  listedArchives,
  MAP_AGE_OPTION,
  routePreferences,
} from "../common/aggregate-options.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option } from "../common/options.ts";
import { ExitCode, writeOut } from "../common/io.ts";

export const command: Command = defineCommand({
  name: "route",
  usage: "URI... --archives FILE",
  description: `
Decides about the archives of a list as the aggregator does, without querying
them. An archive is queried if its map has the URI, or if it has no map; the
table shows the key of the map that decided, its counts, and how likely the
archive is to have the URI. Archives that would be queried come first, the
likeliest on top.

The list is MemGator's archives.json. Its entries may name the archive's map:

    {"id": "archive.example", "name": "Example Archive",
     "timemap": "https://archive.example/timemap/link/",
     "timegate": "https://archive.example/timegate/",
     "mementomap": "maps/example.ukvs"}

mementomap is a file, the URL of a map or of an archive that publishes one, or
auto, to discover it at the origin of the TimeGate. An archive whose map cannot
be fetched or read is queried as if it had none.

With --recall, the share of responses with mementos to keep, decisions about
archives without a map are based on their earlier responses, which come from
--learn-from or from what an aggregator saved as learnt. The table then ends
with the reasons.

--datetime ranks archives first that have mementos of its year; --from and
--until exclude archives that have none in that period.

Exit status: 0 if any archive would be queried, 1 if none would.
`,
  options: {
    archives: AGGREGATE_OPTIONS.archives,
    map: AGGREGATE_OPTIONS.map,
    datetime: option.datetime("The datetime of the memento, as for a TimeGate."),
    from: AGGREGATE_OPTIONS.from,
    until: AGGREGATE_OPTIONS.until,
    "top-k": AGGREGATE_OPTIONS["top-k"],
    only: AGGREGATE_OPTIONS.only,
    referer: {
      value: "URL",
      help: "The page that embeds the URI: archives that hold it are queried too.",
    },
    recall: AGGREGATE_OPTIONS.recall,
    "learn-from": AGGREGATE_OPTIONS["learn-from"],
    state: AGGREGATE_OPTIONS.state,
    "map-age": MAP_AGE_OPTION,
    "allow-private": ALLOW_PRIVATE_OPTION,
  },
  examples: {
    "which archives would be queried, and why":
      "mementomap route https://example.org/a --archives archives.json",
    "the best two for a datetime, as JSON":
      "mementomap route --json example.org/a -a archives.json --datetime 2014 -k 2",
    "an image, by the page that embeds it":
      "mementomap route a.com/b.png -a archives.json --referer http://example.org/a",
  },

  async run({ positionals, values }, io) {
    if (positionals.length === 0) throw usage("route", "nothing to route: name a URI");
    const uris = positionals.map((text) => pastedAddress(text).uri);
    const { state, datetime, referer, json, quiet, "map-age": maxMapAgeMs } = values;
    const allowsPrivate = values["allow-private"];
    const { interrupt, env, stderr } = io;
    const onFault = (message: string, reason: string): void =>
      void stderr.write(`mementomap: ${message}: ${reason}\n`);
    const learn = learningOf(values);
    const archives = await listedArchives("route", values, io);
    const showAll = async (folder: string): Promise<ExitCode> => {
      const proxies = ProxySettings.of(env);
      const open = await openAggregator({
        archives,
        // Reproducible decisions: no archive is queried as a sample.
        sampleShare: 0,
        learn: learn && {
          ...learn,
          signal: interrupt.signal,
          onFault,
          isSaving: false,
          random: () => 1,
        },
        maps: {
          folder,
          maxMapAgeMs,
          fetch: { allowsPrivate, retries: 1, proxies, interrupt },
          onFailure: ({ id }, error) => {
            if (!quiet) onFault(`no map of ${id}`, error.describe());
          },
        },
      });
      await open.keeper.fetched();
      await open.close();
      const request = {
        ...routePreferences(values),
        datetime: datetime === undefined ? undefined : parsePaddedDatetime(datetime),
        referer,
        isPreview: true,
      };
      let isAnyAsked = false;
      for (const [i, uri] of uris.entries()) {
        const decisions = open.aggregator.router.route({ ...request, uri });
        isAnyAsked ||= decisions.some(({ isAsked }) => isAsked);
        const lines = json
          ? [routeJson(uri, decisions)]
          : [...(i > 0 ? [""] : []), ...routeTableLines(uri, decisions)];
        await writeOut(io.stdout, `${lines.join("\n")}\n`);
      }
      return isAnyAsked ? ExitCode.ok : ExitCode.negative;
    };
    return state === undefined ? withTempDir({ interrupt }, showAll) : showAll(state);
  },
});

/** Reasons in words; short, so that a table fits. */
const WORDS: Readonly<Record<RouteReason, string>> = {
  "in-map": "in its map",
  "no-map": "no usable map",
  "old-map": "map is too old",
  referer: "holds the page",
  sampled: "to test its map",
  likely: "likely, as learnt",
  "to-learn": "to learn",
  explored: "to measure",
  unlikely: "unlikely, as learnt",
  broadcast: "all are queried",
  "not-in-map": "not in its map",
  "out-of-range": "out of range",
  "beyond-top-k": "others likelier",
  improbable: "too unlikely",
  "not-selected": "not selected",
  dormant: "dormant",
};

const COLUMNS = ["    ", "archive", "reason", "key", "counts", "likely"] as const;
const GAP = "  ";
const MIN_KEY = 12;

/**
 * A table of decisions in at most 80 columns; long ids and keys are shortened in the middle.
 *
 * @returns lines without line ends.
 */
function routeTableLines(uri: string, decisions: readonly Decision[]): string[] {
  const asked = decisions.filter(({ isAsked }) => isAsked).length;
  const rows = decisions.map((decision) => [
    decision.isAsked ? "ask" : "skip",
    shortened(decision.archive.id, 20),
    WORDS[decision.reason],
    decision.key ?? "-",
    shortened(decision.frequency ?? "-", 11),
    decision.likelihood === 0 ? "-" : decision.likelihood.toFixed(2),
  ]);
  const widths = COLUMNS.map((name, i) =>
    Math.max(name.length, ...rows.map((row) => row[i].length)),
  );
  const others = widths.reduce((sum, width, i) => (i === KEY ? sum : sum + width + GAP.length), 0);
  widths[KEY] = Math.min(widths[KEY], Math.max(MIN_KEY, TEXT_WIDTH - others));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const text = i === KEY ? shortened(cell, widths[i]) : cell;
        return i > KEY ? text.padStart(widths[i]) : text.padEnd(widths[i]);
      })
      .join(GAP)
      .trimEnd();
  const title = `${shortened(uri, TEXT_WIDTH - 30)}: ask ${asked} of ${decisions.length}`;
  const whys = decisions.flatMap(({ archive, why }) =>
    why === undefined ? [] : [shortened(`${archive.id}: ${why}`, TEXT_WIDTH)],
  );
  return [title, line(COLUMNS), ...rows.map(line), ...whys];
}

const KEY: number = COLUMNS.indexOf("key");

/** The decisions as a line of JSON; unknown values are null. */
function routeJson(uri: string, decisions: readonly Decision[]): string {
  return JSON.stringify({
    original_uri: uri,
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map(decisionJson),
  });
}
