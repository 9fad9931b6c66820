import { formatBytes, formatCount } from "../../format.ts";
import { MementoMapError } from "../../errors.ts";
import { generateFiles, type GenerateSummary } from "../../generate/generate.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  COUNT_OPTIONS,
  countSettings,
  mapDescription,
  SKIP_BAD_OPTION,
} from "../common/count-options.ts";
import { FORCE_OPTION, inputsOf, TMP_OPTION } from "../common/options.ts";
import { INDEX_OPTIONS, withProgress, WORK_OPTIONS } from "../common/index-options.ts";
import { readingLines, warnOfDamages, withSkipHint } from "../common/reading-summary.ts";

export const command: Command = defineCommand({
  name: "generate",
  usage: "[INPUT...] [-o MAP]",
  description: `
Creates a map from any index format of web archives: CDX (with the columns of
its header line), CDXJ, ZipNum (the .idx file, or its folder), JSON responses of
CDX servers, Parquet, WARC and WACZ files, or a list of SURTs or URIs. The
format is detected from the content. Files may be compressed (gzip, zstd),
sorted or unsorted, and may overlap. Counts from samples (access logs of a
replay server, MemGator logs, TimeMaps) end in +.

The map has one row per host and path, without queries, with its number of
captures; with --queries, one row per URI. It does not depend on the order of
files, on threads, or on memory. Keys are computed from URIs; the key column is
used only in rows without a URI. The header states when the index last changed,
or SOURCE_DATE_EPOCH.

MAP may be one of the --add maps, which is then replaced, but no other input. An
existing file that is not a map is not replaced, unless --force is given.`,
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
    tmp: TMP_OPTION,
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
  files: ({ positionals, values: { output, add } }) => ({
    reads: { inputs: inputsOf(positionals), add },
    writes: [{ path: output, kind: "map", replaces: add }],
  }),
  async run({ positionals, values }, io) {
    const paths = inputsOf(positionals);
    const { output, add, tmp, force } = values;
    const counting = countSettings(values); // throws before any work is done
    const startedAt = io.now();
    const making = withProgress(io, [...paths, ...add], values, (settings) =>
      withMapOutput(output, { ...io, tmp, force }, async (target) => {
        const description = await mapDescription(values, paths, io);
        const made = await generateFiles(paths, target, {
          ...settings,
          ...counting,
          add,
          description,
        });
        if (!force) assertReadable(made);
        return made;
      }),
    );
    const summary = await making.catch((error: unknown) => {
      throw withSkipHint(error, add);
    });
    if (summary.rows === 0) io.warn("the map has no records: the input has no captures to count");
    warnOfDamages(io, summary);
    const { counts, rows, bytes, duplicates } = summary;
    return {
      summary: {
        json: { ...counts, ...summary, counts: undefined },
        text: [
          ...readingLines(summary, io.now() - startedAt, duplicates),
          ["rows", formatCount(rows)],
          ["size", formatBytes(bytes)],
        ],
      },
    };
  },
});

/** A damaged input was not empty: its map would report every capture as absent. */
function assertReadable({ rows, damages }: GenerateSummary): void {
  const [damage] = damages;
  if (rows > 0 || damage === undefined) return;
  throw new MementoMapError(
    "MM_EMPTY",
    `no readable records: ${damage.message}; --force writes a map without records`,
    { position: { source: damage.source } },
  );
}
