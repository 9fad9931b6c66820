import { stat } from "node:fs/promises";
import { join } from "node:path";
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
  summary: "Make a map ten times smaller, to be looked up only",
  usage: "[MAP|INDEX] -o FILE [--max-bytes SIZE]",
  description: `
A packed map has a few bits for each row in place of its text. It answers
lookups as the map does, with a few mistakes that say "present" of what is
absent; it never says "absent" of anything that the map holds. Every row of
the map is asked before the file is written. Packed maps are read wherever a
map is looked up, and cannot be merged, compacted or read by eye: keep the map
they are made from.

Say how large the file may be with --max-bytes. Rows are rolled up as far as
needed, and the bits of a row chosen with them, so that the fewest lookups are
expected to be answered wrongly. What will be asked is estimated from the map,
and better with --misses: a list of lookups that were not held, or a MemGator
log. Without a size, the file is as large as pays: twice the bytes would
answer less than 2 % of the lookups better.

An index of any format that generate reads is made a map of first, in scratch
space (--tmp); with --queries, its queries are kept, so that the packed map
tells URIs apart that differ in their query. A map that is compressed or comes
from standard input is written to scratch space, too. The bytes do not depend
on threads or on memory. docs/packed.md specifies the file.

With --years, the file keeps the first and the last year of each host, a few
bits each: lookup --at and route --from --until go by them. A map needs times
for it (generate --by datetime:year). Files of few bytes have no place for it.

With --base, only what the packed map OLD calls absent is packed: a delta, of a
few kilobytes for a day's crawl. It belongs behind OLD in one file, which is
read as one map, and of which fetch --packed brings only the end. Where -o names
OLD itself, the delta is added to it; otherwise the delta is written alone, for
"cat OLD DELTA > NEW". What the map no longer holds stays present. So after
seven deltas (--max-deltas), or when they take a quarter of the first part and
more than 64 KiB, the whole map is packed and replaces the file; so it is where
OLD is missing. A nightly job is "pack map.ukvs --base x.packed -o x.packed".`,
  options: {
    output: { short: "o", value: "FILE", help: "Write here." },
    "max-bytes": option.size("At most this large, such as 100k."),
    bits: {
      value: "N",
      help: "Bits of a row, 0 to 31; one of 2^N rows is mistaken. Without a size, all rows are kept.",
      parse: parseBits,
    },
    base: { value: "OLD", help: "Pack what is new since this packed map, to be read behind it." },
    "max-deltas": {
      value: "N",
      help: `With --base: deltas behind a whole map, 1 to ${MAX_DELTAS}; default ${DEFAULT_MAX_DELTAS}.`,
      parse: parseDeltas,
    },
    ...MISSES_OPTIONS,
    queries: { help: "Of an index: keep queries." },
    years: { help: "Keep the first and last year of each host, of an index or a map with times." },
    ...WORK_OPTIONS,
    force: FORCE_OPTION,
  },
  examples: {
    "of the size that pays": "mementomap pack map.ukvs -o map.packed",
    "the best of that size": "mementomap pack map.ukvs --max-bytes 30k -o map.packed",
    "knowing what was asked for":
      "mementomap pack map.ukvs --max-bytes 30k --misses uris.txt -o map.packed",
    "every night: what is new": "mementomap pack map.ukvs --base map.packed -o map.packed",
    "straight from an index": "mementomap pack --queries index.cdxj -o map.packed",
    "with the years of hosts": "mementomap pack --years index.cdxj -o years.packed",
    "look a URI up in it": "mementomap lookup map.packed https://example.org/",
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
      streams: io,
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
      packed = await withMapOf(path, values, io, progress, async (map) => {
        const size = map === "-" ? undefined : (await stat(map)).size;
        progress.total = size === undefined ? undefined : progress.done + workFor(options) * size;
        return writePacked(map, file, { ...options, maxDeltas: values["max-deltas"] }, old);
      });
    } catch (error) {
      await file.abort();
      throw error;
    } finally {
      progress.end();
    }
    if (values.years && packed.summary?.years === undefined) {
      io.stderr.write(
        "mementomap: warning: a file of this size has no place for years; allow more bytes\n",
      );
    }
    if (!values.quiet) report(io, packed, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

/** Makes a map of an index in scratch space; a map is used as it is. */
async function withMapOf<T>(
  path: string,
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
  if (path === "-" || (await isMapFile(path))) {
    if (queries) throw misuse("--queries is for an index; a map has its queries or has none");
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
