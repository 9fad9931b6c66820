import { formatCount, isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { DATETIME_DIGITS } from "../../map/generate/map-rows.ts";
import { KEY_TRUST } from "../../input/detect.ts";
import { generateFiles, type GenerateSummary } from "../../map/generate/generate-files.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { packageVersion } from "../../files/package-file.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { choice, FORCE_OPTION, misuse, parseAddress } from "../common/options.ts";
import { formatRate, formatSize, showRun, type SummaryLine } from "../common/messages.ts";
import {
  captureFilter,
  INDEX_OPTIONS,
  SPLIT_OPTION,
  updatedAt,
  withProgress,
  WORK_OPTIONS,
} from "../common/index-options.ts";
import { ExitCode, type Io } from "../common/io.ts";

export const generate: Command = defineCommand({
  name: "generate",
  summary: "Make a map from index files",
  usage: "[INPUT...] [-o MAP]",
  description: `
Makes a map from whatever index an archive has: CDX (columns as its header line
says), CDXJ, ZipNum (the .idx file, or its folder), answers of CDX servers in
JSON, Parquet, WARC and WACZ files themselves, or a list of SURTs or URIs. What
an input is, is told by its content. Files may be compressed (gzip, zstd),
sorted or not, and overlap. Without INPUT, or for -, reads standard input.

Without an index, a map can be made from samples: access logs of a replay
server, logs of the aggregator MemGator, and TimeMaps. Its counts end in +.

Keys are taken from the key column while a sample of rows agrees with the SURT
of the URI; otherwise they are made from the URIs, and the summary says so.

The map has one row for each host and path, without queries, and how many
captures it has; with --queries, one for each URI. It does not depend on the
order of files, on threads, or on memory. Its header says when the index last
changed, or SOURCE_DATE_EPOCH.

MAP may be a map named with --add, which the result replaces; it is never
another input. A file that is there and is not a map is kept, unless --force.`,
  options: {
    output: { short: "o", value: "MAP", help: "Write here; .gz compresses." },
    ...INDEX_OPTIONS,
    revisits: {
      value: "RULE",
      default: "count",
      help: "Captures of unchanged pages: count or skip.",
      ...choice(["count", "skip"]),
    },
    distinct: { help: "Count captures of the same URI and time once." },
    originals: { help: "Count originals (distinct URIs) too." },
    queries: { help: "Keep queries: a row for each URI, in a map with queries." },
    by: { value: "FIELD", help: "Split rows by datetime[:year|month|day].", parse: parseBy },
    add: { value: "MAP", multiple: true, help: "Add to this map, as if its index were read too." },
    keys: {
      value: "FROM",
      default: "auto",
      help: "Take keys from the key column, from the uri, or auto.",
      ...choice(KEY_TRUST),
    },
    split: SPLIT_OPTION,
    archive: { value: "ID", help: "The archive to take from logs and TimeMaps of aggregators." },
    id: {
      value: "URL",
      help: "The archive's address, for the header.",
      parse: (text: string) => parseAddress(text, "https://archive.example.org/"),
    },
    name: { value: "TEXT", help: "The archive's name, for the header." },
    ...WORK_OPTIONS,
    force: FORCE_OPTION,
    "skip-bad": { help: "Count bad lines and damaged parts of indexes, and go on." },
  },
  examples: {
    "one map of one index": "mementomap generate index.cdxj -o map.ukvs",
    "pages only, as the paper counts them":
      "mementomap generate --preset paper *.cdxj -o map.ukvs.gz",
    "add a crawl to a map": "mementomap generate new.cdxj --add base.ukvs -o base.ukvs",
    "from a list of URIs": "cat urls.txt | mementomap generate --name 'Our archive' -o map.ukvs",
  },
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const filter = captureFilter(values, values.revisits === "skip" ? { skipRevisits: true } : {});
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
            format: values.format,
            filter,
            add: values.add,
            keys: values.keys,
            split: values.split,
            archive: values.archive,
            distinct: values.distinct,
            originals: values.originals,
            queries: values.queries,
            datetimeDigits: values.by ?? 0,
            skipBad: values["skip-bad"],
            description: {
              id: values.id,
              name: values.name,
              updatedAt: await updatedAt(paths, io),
              generator: `mementomap/${packageVersion()}`,
            },
          });
          if (!values.force) refuseNothingButDamage(made);
          return made;
        },
      ),
    );
    const summary = await making.catch((error: unknown) => {
      throw canBeSkipped(error, values.add) ? withHint(error) : error;
    });
    if (summary.rows === 0 && !values.json) {
      io.stderr.write("mementomap: warning: the map holds no record: nothing was found to count\n");
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
    `nothing could be read: ${damage.message}; with --force a map without a record is written`,
    { position: { source: damage.source } },
  );
}

/** Lines that are bad stop a run where `--skip-bad` was not given, and those of maps always. */
function canBeSkipped(error: unknown, maps: readonly string[]): error is MementoMapError {
  if (!isMementoMapError(error) || error.code !== "MM_BAD_LINE") return false;
  return !maps.includes(error.position?.source ?? "");
}

function withHint({ code, message, position, cause }: MementoMapError): MementoMapError {
  const hint = "; --skip-bad leaves such lines out and counts them";
  return new MementoMapError(code, message + hint, { position, cause });
}

function parseBy(text: string): number {
  const [field, unit = "second"] = text.split(":");
  const digits = Object.entries(DATETIME_DIGITS).find(([name]) => name === unit)?.[1];
  if (field === "datetime" && digits !== undefined) return digits;
  throw misuse(
    `cannot split by ${quote(text)}; use datetime, datetime:year, datetime:month or datetime:day`,
  );
}

/** Shows what became of every line, on stderr; for `--json` as one object. */
function showGenerateSummary(io: Io, summary: GenerateSummary, ms: number, isJson: boolean): void {
  const { counts, rows, bytes, rekeyed } = summary;
  if (!isJson) showDamages(io, summary);
  const lines: SummaryLine[] = [
    [summary.unit, formatCount(counts.lines), formatRate(counts.lines, ms)],
    ...some("  headers and blanks", counts.headers + counts.blank),
    ...some(
      "  not of the web",
      counts.nonWeb,
      summary.unit === "records"
        ? "requests, warcinfo, metadata and the like"
        : "dns:, warcinfo: and the like",
    ),
    ...some("  of no use", counts.unproven, "requests that show no capture"),
    ...Object.entries(counts.filtered).flatMap(([reason, count]) =>
      some(`  left out by ${reason}`, count),
    ),
    ...some("  bad, skipped", counts.bad),
    ...(counts.counted === counts.captures
      ? []
      : some("  counted", counts.counted, "lines with a count of their own among them")),
    ["  captures", formatCount(counts.captures)],
    ...some("    revisits", counts.revisits),
    ...some("    counted once", summary.duplicates, "the same URI and time as another"),
    ...(rekeyed.length > 0
      ? some(
          "    keyed again",
          counts.keyedByUri,
          `key columns differ from the URIs, ${named(rekeyed)}`,
        )
      : []),
    ...some("    keys that differ", counts.keysDifferent, `of ${counts.keysChecked} compared`),
    ...some("damaged", counts.damaged, `${formatSize(counts.damagedBytes)} skipped, see above`),
    ["rows", formatCount(rows)],
    ["size", formatSize(bytes)],
  ];
  showRun(io, ms, { json: { ...counts, ...summary, counts: undefined }, lines }, isJson);
}

/** Names what was not read, and the first places that were skipped: nothing goes missing unnoticed. */
function showDamages(io: Io, { counts, damages, indexed }: GenerateSummary): void {
  const warn = (text: string): unknown => io.stderr.write(`mementomap: warning: ${text}\n`);
  for (const source of indexed) warn(`${source}: not read, as an index that is read too lists it`);
  for (const { source, message, bytes } of damages) {
    warn(`${source}: ${message}${bytes === 0 ? "" : `; ${formatCount(bytes)} bytes skipped`}`);
  }
  const more = counts.damaged - damages.length;
  if (more > 0) warn(`${formatCount(more)} more places skipped`);
}

function named(sources: readonly string[]): string {
  const more = sources.length > 1 ? ` and ${sources.length - 1} more` : "";
  return `in ${sources[0] ?? ""}${more}`;
}

/** A line of the summary for what did happen. */
function some(label: string, count: number, remark: string = ""): SummaryLine[] {
  return count === 0 ? [] : [[label, formatCount(count), remark]];
}
