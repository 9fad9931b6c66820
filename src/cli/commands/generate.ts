import { readdir, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import type { MapDescription } from "../../generate/map-headers.ts";
import { DATETIME_DIGITS } from "../../generate/row-key.ts";
import type { InputFormat, KeyTrust } from "../../input/detect.ts";
import { INPUT_FORMATS, KEY_TRUST } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { CaptureSieve, joinFilters, PAPER_PRESET } from "../../input/filter.ts";
import type { GenerateSummary } from "../../node/generate/generate-files.ts";
import { generateFiles } from "../../node/generate/generate-files.ts";
import { withOutput } from "../../node/output-file.ts";
import { packageVersion } from "../../node/package-version.ts";
import type { Command } from "../command.ts";
import { defineCommand } from "../command.ts";
import { showGenerateSummary } from "../generate-summary.ts";
import type { Io } from "../io.ts";
import { ExitCode } from "../io.ts";
import { Progress } from "../progress.ts";
import { parsePositive, parseSize } from "../sizes.ts";

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
captures it has. It does not depend on the order of files, on threads, or on
memory.`,
  options: {
    output: { type: "string", short: "o", value: "MAP", help: "Write here; .gz compresses." },
    format: {
      type: "string",
      value: "NAME",
      default: "auto",
      help: `One of ${INPUT_FORMATS.join(", ")}.`,
      parse: parseFormat,
    },
    status: {
      type: "string",
      value: "CODE",
      multiple: true,
      help: "Count only these status codes: 200, 3xx.",
    },
    mime: {
      type: "string",
      value: "TYPE",
      multiple: true,
      help: "Count only these MIME types: text/html, image/*.",
    },
    from: { type: "string", value: "DATE", help: "Count captures from then on: 2010." },
    to: { type: "string", value: "DATE", help: "Count captures up to and including then: 2012." },
    exclude: {
      type: "string",
      value: "REGEX",
      multiple: true,
      help: "Leave out captures whose URI matches.",
    },
    preset: {
      type: "string",
      value: "NAME",
      help: "paper: status 200, text/html, no robots.txt or sitemap.xml.",
      parse: parsePreset,
    },
    revisits: {
      type: "string",
      value: "RULE",
      default: "count",
      help: "Captures of unchanged pages: count or skip.",
      parse: parseRevisits,
    },
    distinct: { type: "boolean", help: "Count captures of the same URI and time once." },
    originals: { type: "boolean", help: "Count originals (distinct URIs) too." },
    by: {
      type: "string",
      value: "FIELD",
      help: "Split rows by datetime[:year|month|day].",
      parse: parseBy,
    },
    add: {
      type: "string",
      value: "MAP",
      multiple: true,
      help: "Add to this map, as if its index were read too.",
    },
    keys: {
      type: "string",
      value: "FROM",
      default: "auto",
      help: "Take keys from the key column, from the uri, or auto.",
      parse: parseKeys,
    },
    archive: {
      type: "string",
      value: "ID",
      help: "The archive to take from logs and TimeMaps of aggregators.",
    },
    id: { type: "string", value: "URL", help: "The archive's address, for the header." },
    name: { type: "string", value: "TEXT", help: "The archive's name, for the header." },
    memory: {
      type: "string",
      value: "SIZE",
      default: "512m",
      help: "The most memory to use.",
      parse: parseSize,
    },
    threads: { type: "string", value: "N", help: "Default: all cores.", parse: parsePositive },
    tmp: { type: "string", value: "DIR", help: "Where scratch files go." },
    "skip-bad": { type: "boolean", help: "Count bad lines and go on, instead of failing." },
  },
  examples: [
    { line: "mementomap generate index.cdxj -o map.ukvs", does: "one map of one index" },
    {
      line: "mementomap generate --preset paper *.cdxj -o map.ukvs.gz",
      does: "pages only, as the paper counts them",
    },
    {
      line: "mementomap generate new.cdxj --add base.ukvs -o base.ukvs",
      does: "add a crawl to a map",
    },
    {
      line: "cat urls.txt | mementomap generate --name 'Our archive' -o map.ukvs",
      does: "from a list of URIs",
    },
  ],
  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    const filter = joinFilters(values.preset ?? {}, {
      status: someOf(values.status),
      mime: someOf(values.mime),
      from: values.from,
      to: values.to,
      exclude: values.exclude,
      ...(values.revisits === "skip" ? { skipRevisits: true } : {}),
    });
    checkFilter(filter);
    const sizes = await Promise.all([...paths, ...values.add].map((path) => storedSize(path)));
    const total = sizes.includes(undefined)
      ? undefined
      : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    const startedAt = io.now();
    const progress = new Progress(io, { label: "reading", total, quiet: values.quiet });
    let summary: GenerateSummary;
    try {
      summary = await withOutput(values.output, io, async (output) =>
        generateFiles(paths, output, {
          format: values.format,
          filter,
          add: values.add,
          keys: values.keys,
          archive: values.archive,
          distinct: values.distinct,
          originals: values.originals,
          datetimeDigits: values.by ?? 0,
          skipBad: values["skip-bad"],
          description: await describe(paths, values, io),
          memoryBytes: values.memory,
          threads: values.threads ?? availableParallelism(),
          scratch: values.tmp,
          streams: io,
          interrupt: io.interrupt,
          onRead: (bytes) => {
            progress.add(bytes);
          },
        }),
      );
    } finally {
      progress.end();
    }
    if (!values.quiet) showGenerateSummary(io, summary, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

function parseFormat(text: string): InputFormat {
  const format = INPUT_FORMATS.find((name) => name === text);
  if (format !== undefined) return format;
  throw new MementoMapError(
    "MM_USAGE",
    `unknown format ${quote(text)}; use one of ${INPUT_FORMATS.join(", ")}`,
  );
}

function parsePreset(text: string): CaptureFilter {
  if (text === "paper") return PAPER_PRESET;
  throw new MementoMapError("MM_USAGE", `unknown preset ${quote(text)}; there is: paper`);
}

function parseRevisits(text: string): "count" | "skip" {
  if (text === "count" || text === "skip") return text;
  throw new MementoMapError("MM_USAGE", `unknown rule ${quote(text)}; use count or skip`);
}

function parseKeys(text: string): KeyTrust {
  const trust = KEY_TRUST.find((name) => name === text);
  if (trust !== undefined) return trust;
  throw new MementoMapError("MM_USAGE", `unknown ${quote(text)}; use ${KEY_TRUST.join(", ")}`);
}

function parseBy(text: string): number {
  const [field, unit = "second"] = text.split(":");
  const digits = Object.entries(DATETIME_DIGITS).find(([name]) => name === unit)?.[1];
  if (field === "datetime" && digits !== undefined) return digits;
  throw new MementoMapError(
    "MM_USAGE",
    `cannot split by ${quote(text)}; use datetime, datetime:year, datetime:month or datetime:day`,
  );
}

/** `--status 200,301` is the same as giving the option twice. */
function someOf(values: readonly string[]): string[] | undefined {
  const list = values.flatMap((value) => value.split(","));
  return list.length === 0 ? undefined : list;
}

/** Complains about a filter before any work is done. */
function checkFilter(filter: CaptureFilter): void {
  void new CaptureSieve(filter);
}

async function storedSize(path: string): Promise<number | undefined> {
  if (path === "-") return undefined;
  const stats = await stat(path).catch(() => undefined); // whoever opens it says what is wrong
  if (stats?.isFile() === true) return stats.size;
  return stats?.isDirectory() === true ? folderSize(path) : undefined;
}

async function folderSize(path: string): Promise<number> {
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(path, name)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function describe(
  paths: readonly string[],
  values: { readonly id: string | undefined; readonly name: string | undefined },
  io: Io,
): Promise<MapDescription> {
  return {
    id: values.id,
    name: values.name,
    updatedAt: await updatedAt(paths, io),
    generator: `mementomap/${packageVersion()}`,
  };
}

/** When the index last changed, so that the same index always gives the same map. */
async function updatedAt(paths: readonly string[], io: Io): Promise<string> {
  const epoch = io.env["SOURCE_DATE_EPOCH"];
  if (epoch !== undefined && /^\d{1,12}$/.test(epoch)) return isoSeconds(Number(epoch) * 1000);
  const times = await Promise.all(
    paths.map(async (path) => {
      const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
      const lasts = stats?.isFile() === true || stats?.isDirectory() === true;
      return lasts ? stats.mtimeMs : Date.now();
    }),
  );
  return isoSeconds(Math.max(...times));
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
