import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { peek } from "../../bytes/peek.ts";
import { formatCount, quote } from "../../errors.ts";
import { openOutput } from "../../files/output-file.ts";
import { packageVersion } from "../../files/package-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs, isMapFile } from "../../map/output/output-guard.ts";
import { availableParallelism } from "node:os";
import { threadsWithin } from "../../map/generate/key-table.ts";
import type { OptionValues } from "../common/command-line.ts";
import { updatedAt, WORK_OPTIONS } from "../common/index-options.ts";
import { DEFAULT_MAX_DELTAS, MAX_DELTAS, MAX_ROW_BITS } from "../../packed/packed-file.ts";
import type { PackFileResult } from "../../map/pack/write-packed.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, type Io } from "../common/io.ts";
import {
  formatDuration,
  formatSize,
  Progress,
  showSummary,
  warnOfOddLines,
} from "../common/messages.ts";
import {
  FORCE_OPTION,
  misuse,
  MISSES_OPTIONS,
  option,
  parseDecimal,
  parseWhole,
} from "../common/options.ts";

export const pack: Command = defineCommand({
  name: "pack",
  summary: "Make a map ten times smaller, for lookups only",
  usage: "[MAP|INDEX] -o FILE [--max-bytes SIZE]",
  description: `
A packed map has a few bits for each row instead of its text. It gives the same
answers as the map, except that it reports a few absent originals as present; it
never reports anything as absent that the map holds. Every row of the map is
looked up before the file is written. Packed maps are accepted wherever a map is
looked up, but cannot be merged, compacted or read as text: keep the map they
are made from.

--max-bytes limits the size of the file. Rows are rolled up as far as needed,
and the number of bits per row is chosen so that the fewest lookups are expected
to be answered wrongly. The lookups to expect are estimated from the map, and
more accurately with --misses: a list of lookups that were not held, or a
MemGator log. Without a size, the file grows as long as it pays off: twice the
bytes would correct less than 2 % of the lookups.

An index in any format that generate reads is first converted to a map, in
scratch space (--tmp); with --queries, its queries are kept, so that the packed
map distinguishes URIs that differ in their query. A map that is compressed or
comes from standard input is also written to scratch space. The bytes do not
depend on threads or on memory. docs/packed.md specifies the file.

With --years, the file keeps the first and the last year of each host, in a few
bits each, for lookup --at and route --from --until. A map must have times for
this (generate --by datetime:year). Very small files have no room for years.

With --base, only what the packed map OLD reports as absent is packed: a delta,
of a few kilobytes for a day's crawl. It is appended to OLD in one file, which
is read as one map, and of which fetch --packed transfers only the end. If -o
names OLD itself, the delta is appended to it; otherwise the delta is written
alone, for "cat OLD DELTA > NEW". What the map no longer holds stays present.
The whole map is therefore packed, and replaces the file, after seven deltas
(--max-deltas), when the deltas take a quarter of the first part and more than
64 KiB, when all parts would exceed --max-bytes, or if -o names OLD and OLD does
not exist yet. A nightly job is "pack map.ukvs --base x.packed -o x.packed".`,
  options: {
    output: { short: "o", value: "FILE", help: "Write here." },
    "max-bytes": option.size(
      "At most this large, such as 100k: with --bits fewer rows, with --base all parts together.",
    ),
    bits: {
      value: "N",
      help: "Bits per row, 0 to 31; one of 2^N lookups of absent rows is wrong. Without a size, all rows are kept.",
      parse: parseBits,
    },
    base: { value: "OLD", help: "Pack what is new since this packed map, as a delta to it." },
    "max-deltas": {
      value: "N",
      help: `With --base: the maximum number of deltas, 1 to ${MAX_DELTAS}; default ${DEFAULT_MAX_DELTAS}.`,
      parse: parseDeltas,
    },
    ...MISSES_OPTIONS,
    queries: { help: "With an index: keep queries." },
    years: {
      help: "Keep the first and last year of each host; needs an index or a map with times.",
    },
    ...WORK_OPTIONS,
    force: FORCE_OPTION,
  },
  examples: {
    "of the size that pays off": "mementomap pack map.ukvs -o map.packed",
    "the best of that size": "mementomap pack map.ukvs --max-bytes 30k -o map.packed",
    "trained on earlier misses":
      "mementomap pack map.ukvs --max-bytes 30k --misses uris.txt -o map.packed",
    "every night: only changes": "mementomap pack map.ukvs --base map.packed -o map.packed",
    "straight from an index": "mementomap pack --queries index.cdxj -o map.packed",
    "with the years of hosts": "mementomap pack --years index.cdxj -o years.packed",
    "look up a URI in it": "mementomap lookup map.packed https://example.org/",
  },
  async run({ positionals, values }, io) {
    if (positionals.length > 1) {
      throw misuse("pack takes one map; merge makes one of several");
    }
    const [path = "-"] = positionals;
    const { base, output } = values;
    if (base !== undefined && values.years) {
      throw misuse("--years is for a whole map: a delta cannot add years to what its base holds");
    }
    if (base === undefined && values["max-deltas"] !== undefined) {
      throw misuse("--max-deltas is for --base");
    }
    const replaces = base === undefined ? [] : [base];
    const outputs = [{ path: output, kind: "packed", replaces } as const];
    await guardOutputs(outputs, { inputs: [path, values.misses, base], force: values.force });
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    const startedAt = io.now();
    const progress = new Progress(io, {
      label: "packing",
      total: stats?.size,
      quiet: values.quiet,
    });
    const options = {
      maxBytes: values["max-bytes"],
      bits: values.bits,
      years: values.years,
      misses: values.misses,
      archive: values.archive,
      scratch: values.tmp,
      threads: values.threads,
      memoryBytes: values.memory,
      onRead: (bytes: number) => {
        progress.add(bytes);
      },
    };
    const file = await openOutput(output, io);
    let packed: PackFileResult;
    try {
      const { readBase, writePacked } = await import("../../map/pack/write-packed.ts");
      const { workFor } = await import("../../map/pack/pack-files.ts");
      const old = base === undefined ? undefined : await readBase(base, output);
      packed = await withSample(path, values.tmp, io, (sample, streams) =>
        withMapOf({ path, sample }, values, streams, progress, async (map) => {
          const size = map === "-" ? undefined : (await stat(map)).size;
          progress.total = size === undefined ? undefined : progress.done + workFor(options) * size;
          const packing = { ...options, streams, maxDeltas: values["max-deltas"] };
          return writePacked(map, file, packing, old);
        }),
      );
    } catch (error) {
      await file.abort();
      throw error;
    } finally {
      progress.end();
    }
    if (values.years && packed.summary?.years === undefined) {
      io.stderr.write(
        "mementomap: warning: a file of this size has no room for years; allow more bytes\n",
      );
    }
    if (!values.quiet) report(io, packed, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

/** Enough of a file to tell what it is. */
const SAMPLE_BYTES = 2 ** 16;

/** Runs `use` with a file that begins as an input does, and with what standard input is then. */
async function withSample<T>(
  path: string,
  tmp: string | undefined,
  io: Io,
  use: (sample: string, io: Io) => Promise<T>,
): Promise<T> {
  if (path !== "-") return use(path, io);
  const { head, chunks } = await peek(io.stdin, SAMPLE_BYTES);
  return withTempDir({ parent: tmp, interrupt: io.interrupt }, async (folder) => {
    const sample = join(folder, "sample");
    await writeFile(sample, head);
    return use(sample, { ...io, stdin: chunks });
  });
}

/** Makes a map of an index in scratch space; a map is used as it is. */
async function withMapOf<T>(
  { path, sample }: { readonly path: string; readonly sample: string },
  {
    queries,
    years,
    tmp,
    memory,
    threads,
  }: OptionValues<typeof WORK_OPTIONS> & { readonly queries: boolean; readonly years: boolean },
  io: Io,
  progress: Progress,
  use: (map: string) => Promise<T>,
): Promise<T> {
  if (await isMapFile(sample)) {
    if (queries)
      throw misuse("--queries requires an index; the queries of a map cannot be changed");
    return use(path);
  }
  const { generateFiles } = await import("../../map/generate/generate-files.ts");
  return withTempDir({ parent: tmp, interrupt: io.interrupt }, async (folder) => {
    const map = join(folder, "map");
    const description = {
      updatedAt: await updatedAt([path], io),
      generator: `mementomap/${packageVersion()}`,
    };
    const { interrupt, stdout } = io;
    await withMapOutput(map, { interrupt, stdout, isScratch: true }, (output) =>
      generateFiles([path], output, {
        queries,
        datetimeDigits: years ? YEAR_DIGITS : 0,
        description,
        memoryBytes: memory,
        threads: threads ?? threadsWithin(memory, availableParallelism()),
        scratch: tmp,
        streams: io,
        interrupt,
        onRead: (bytes) => {
          progress.add(bytes);
        },
      }),
    );
    return use(map);
  });
}

const YEAR_DIGITS = 4;

function parseDeltas(text: string): number {
  const count = parseWhole(text);
  if (count >= 1 && count <= MAX_DELTAS) return count;
  throw misuse(`not a number of deltas from 1 to ${MAX_DELTAS}: ${quote(text)}`);
}

function parseBits(text: string): number {
  const bits = parseDecimal(text);
  if (bits <= MAX_ROW_BITS) return bits;
  throw misuse(`not a number of bits from 0 to ${MAX_ROW_BITS}: ${quote(text)}`);
}

function report(io: Io, packed: PackFileResult, ms: number, isJson: boolean): void {
  const { summary, position, reason } = packed;
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
  if (isJson) {
    const all = { ...summary, delta: position, reason, seconds: ms / 1000, peakMemoryBytes };
    io.stderr.write(`${JSON.stringify(all)}\n`);
    return;
  }
  if (summary === undefined) {
    io.stderr.write("unchanged: the packed map was made from this map\n");
    return;
  }
  if (reason !== undefined) io.stderr.write(`packed whole: ${reason}\n`);
  const { rowsRead, rows, hosts, voids, bytes, bits, years, expectedWrong } = summary;
  warnOfOddLines(io, summary.oddLines);
  showSummary(io, [
    ...(position === undefined ? [] : [["delta", `number ${position}`] as const]),
    ["rows read", formatCount(rowsRead), `${formatCount(Math.round((rowsRead / ms) * 1000))}/s`],
    ["rows", formatCount(rows), `of ${bits} bits`],
    ["hosts", formatCount(hosts)],
    ...(years === undefined ? [] : [["years", years.join(" to "), "host by host"] as const]),
    ...(voids > 0 ? [["voids", formatCount(voids)] as const] : []),
    [
      "size",
      formatSize(bytes),
      `${((8 * bytes) / Math.max(1, rowsRead)).toFixed(2)} bits a row read`,
    ],
    ...(expectedWrong === undefined
      ? []
      : [
          [
            "expected",
            `${(100 * Math.min(1, expectedWrong)).toFixed(1)}%`,
            "of misses on held hosts wrong",
          ] as const,
        ]),
    ["time", formatDuration(ms)],
    ["memory", formatSize(peakMemoryBytes), "peak"],
  ]);
}
