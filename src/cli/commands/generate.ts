import { formatCount, MementoMapError } from "../../errors.ts";
import { generateFiles } from "../../map/generate/generate-files.ts";
import type { GenerateSummary } from "../../map/generate/generate-plan.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  COUNT_OPTIONS,
  countSettings,
  mapDescription,
  SKIP_BAD_OPTION,
} from "../common/count-options.ts";
import { FORCE_OPTION } from "../common/options.ts";
import { formatSize, showRun, type SummaryLine } from "../common/messages.ts";
import { INDEX_OPTIONS, withProgress, WORK_OPTIONS } from "../common/index-options.ts";
import { readingLines, showDamages, withSkipHint } from "../common/reading-summary.ts";
import { ExitCode, type Io } from "../common/io.ts";

export const generate: Command = defineCommand({
  name: "generate",
  summary: "Create a map from index files",
  usage: "[INPUT...] [-o MAP]",
  description: `
Creates a map from any index that an archive has: CDX (with the columns of its
header line), CDXJ, ZipNum (the .idx file, or its folder), JSON responses of CDX
servers, Parquet, WARC and WACZ files, or a list of SURTs or URIs. The format is
detected from the content. Files may be compressed (gzip, zstd), sorted or
unsorted, and may overlap. Without INPUT, or for -, reads standard input.

Without an index, a map can be created from samples: access logs of a replay
server, logs of the aggregator MemGator, and TimeMaps. Its counts end in +.

Keys are copied from the key column as long as a sample of rows agrees with the
SURT of the URI; otherwise they are made from the URIs, and the summary says so.

The map has one row for each host and path, without queries, with its number of
captures; with --queries, one row for each URI. It does not depend on the order
of files, on threads, or on memory. Its header states when the index last
changed, or SOURCE_DATE_EPOCH.

MAP may be a map named with --add, which the result replaces, but no other
input. An existing file that is not a map is kept, unless --force is given.`,
  options: {
    output: { short: "o", value: "MAP", help: "Write here; .gz compresses." },
    ...INDEX_OPTIONS,
    ...COUNT_OPTIONS,
    add: {
      value: "MAP",
      multiple: true,
      help: "Add to this map, as if its index had been read too.",
    },
    ...WORK_OPTIONS,
    force: FORCE_OPTION,
    "skip-bad": SKIP_BAD_OPTION,
  },
  examples: {
    "a map of one index": "mementomap generate index.cdxj -o map.ukvs",
    "only pages, counted as in the paper":
      "mementomap generate --preset paper *.cdxj -o map.ukvs.gz",
    "add a crawl to a map": "mementomap generate new.cdxj --add base.ukvs -o base.ukvs",
    "from a list of URIs": "cat urls.txt | mementomap generate --name 'Our archive' -o map.ukvs",
  },
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    countSettings(values); // what is wrong with it is said before any work
    const outputs = [{ path: values.output, kind: "map", replaces: values.add } as const];
    await guardOutputs(outputs, { inputs: [...paths, ...values.add], force: values.force });
    const startedAt = io.now();
    const making = withProgress(io, [...paths, ...values.add], values, (settings) =>
      withMapOutput(
        values.output,
        { ...io, tmp: values.tmp, force: values.force },
        async (output) => {
          const made = await generateFiles(paths, output, {
            ...settings,
            ...countSettings(values),
            add: values.add,
            description: await mapDescription(values, paths, io),
          });
          if (!values.force) refuseNothingButDamage(made);
          return made;
        },
      ),
    );
    const summary = await making.catch((error: unknown) => {
      throw withSkipHint(error, values.add);
    });
    if (summary.rows === 0 && !values.json) {
      io.stderr.write("mementomap: warning: the map has no records: nothing was found to count\n");
    }
    if (!values.quiet) showGenerateSummary(io, summary, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

/** What is damaged was not empty: a map of it would call all of it absent. */
function refuseNothingButDamage({ rows, damages }: GenerateSummary): void {
  const [damage] = damages;
  if (rows > 0 || damage === undefined) return;
  throw new MementoMapError(
    "MM_EMPTY",
    `nothing could be read: ${damage.message}; --force writes a map without records`,
    { position: { source: damage.source } },
  );
}

function showGenerateSummary(io: Io, summary: GenerateSummary, ms: number, isJson: boolean): void {
  const { counts, rows, bytes } = summary;
  if (!isJson) showDamages(io, summary);
  const lines: SummaryLine[] = [
    ...readingLines(summary, ms, summary.duplicates),
    ["rows", formatCount(rows)],
    ["size", formatSize(bytes)],
  ];
  showRun(io, ms, { json: { ...counts, ...summary, counts: undefined }, lines }, isJson);
}
