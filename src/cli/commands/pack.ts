import { stat } from "node:fs/promises";
import { join } from "node:path";
import { formatCount, quote } from "../../errors.ts";
import { withOutput } from "../../files/output-file.ts";
import { packageVersion } from "../../files/package-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs, isMapFile } from "../../map/output/output-guard.ts";
import { updatedAt } from "../common/index-options.ts";
import type { PackSummary } from "../../map/pack/pack-files.ts";
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
  TMP_OPTION,
} from "../common/options.ts";

/** A row of more bits than this is hardly ever mistaken for another. */
const MAX_BITS = 31;

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
from standard input is written to scratch space, too. docs/packed.md specifies
the file.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write here." },
    "max-bytes": option.size("At most this large, such as 100k."),
    bits: {
      value: "N",
      help: "Bits of a row, 0 to 31; one of 2^N rows is mistaken. Without a size, all rows are kept.",
      parse: parseBits,
    },
    ...MISSES_OPTIONS,
    queries: { help: "Of an index: keep queries." },
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "of the size that pays": "mementomap pack map.ukvs -o map.packed",
    "the best of that size": "mementomap pack map.ukvs --max-bytes 30k -o map.packed",
    "knowing what was asked for":
      "mementomap pack map.ukvs --max-bytes 30k --misses uris.txt -o map.packed",
    "straight from an index": "mementomap pack --queries index.cdxj -o map.packed",
    "look a URI up in it": "mementomap lookup map.packed https://example.org/",
  },
  async run({ positionals, values }, io) {
    if (positionals.length > 1) {
      throw misuse("pack takes one map; merge makes one of several");
    }
    const [path = "-"] = positionals;
    const outputs = [{ path: values.output, kind: "packed" } as const];
    await guardOutputs(outputs, { inputs: [path, values.misses], force: values.force });
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    const startedAt = io.now();
    const progress = new Progress(io, {
      label: "packing",
      // Profiles, a survey, roll-ups and the check need a reading each.
      total: stats === undefined ? undefined : stats.size * 4,
      quiet: values.quiet,
    });
    let summary: PackSummary;
    try {
      const { packMap } = await import("../../map/pack/pack-files.ts");
      summary = await withOutput(values.output, io, async (output) => {
        const packed = await withMapOf(path, values, io, (map) =>
          packMap(map, {
            maxBytes: values["max-bytes"],
            bits: values.bits,
            misses: values.misses,
            archive: values.archive,
            scratch: values.tmp,
            streams: io,
            onRead: (bytes) => {
              progress.add(bytes);
            },
          }),
        );
        await output.write(packed.file);
        return packed.summary;
      });
    } finally {
      progress.end();
    }
    if (!values.quiet) report(io, summary, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

/** Makes a map of an index in scratch space; a map is used as it is. */
async function withMapOf<T>(
  path: string,
  { queries, tmp }: { readonly queries: boolean; readonly tmp: string | undefined },
  io: Io,
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
      generateFiles([path], output, { queries, description, scratch: tmp, streams: io, interrupt }),
    );
    return use(map);
  });
}

function parseBits(text: string): number {
  const bits = parseDecimal(text);
  if (bits <= MAX_BITS) return bits;
  throw misuse(`not a number of bits from 0 to ${MAX_BITS}: ${quote(text)}`);
}

function report(io: Io, summary: PackSummary, ms: number, isJson: boolean): void {
  const { rowsRead, rows, hosts, voids, bytes, bits, expectedWrong } = summary;
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
  if (isJson) {
    io.stderr.write(`${JSON.stringify({ ...summary, seconds: ms / 1000, peakMemoryBytes })}\n`);
    return;
  }
  warnOfOddLines(io, summary.oddLines);
  showSummary(io, [
    ["rows read", formatCount(rowsRead), `${formatCount(Math.round((rowsRead / ms) * 1000))}/s`],
    ["rows", formatCount(rows), `of ${bits} bits`],
    ["hosts", formatCount(hosts)],
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
