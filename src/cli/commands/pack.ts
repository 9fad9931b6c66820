import { formatBytes, formatCount, formatRate } from "../../format.ts";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { peek } from "../../bytes/peek.ts";
import { quote } from "../../errors.ts";
import { openOutput } from "../../files/output-file.ts";
import { userAgent } from "../../files/package-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { isMapFile } from "../../maps/file-kind.ts";
import type { OptionValues } from "../common/command-line.ts";
import { updatedAt, WORK_OPTIONS, workThreads } from "../common/index-options.ts";
import { MAX_ROW_BITS } from "../../packed/packed-file.ts";
import type { PackSummary } from "../../pack/pack-files.ts";
import { type Command, defineCommand } from "../common/command.ts";
import type { Io } from "../common/io.ts";
import { type Progress, type SummaryLine, warnSkippedLines } from "../common/messages.ts";
import {
  FORCE_OPTION,
  inputsOf,
  misuse,
  MISSES_OPTIONS,
  option,
  parseDecimal,
  TMP_OPTION,
} from "../common/options.ts";

export const command: Command = defineCommand({
  name: "pack",
  usage: "[MAP|INDEX] -o FILE [--max-bytes SIZE]",
  description: `
A packed map has a few bits for each row instead of its text. It gives the same
answers as the map, except that it reports a few absent originals as present; it
never reports a held original as absent. To verify this, every row of the map is
looked up before the file is written. Packed maps are accepted for all lookups,
but cannot be merged, compacted or read as text: keep the source map.

--max-bytes limits the size of the file. Rows are rolled up and bits per row
chosen so that the fewest wrong answers are expected. The lookups are predicted
from the map, or more accurately with --misses: a list of URIs that were looked
up but not held, or a MemGator log. Without a size, the file grows until twice
the bytes would correct less than 2 % of the lookups.

An index in any format that generate reads is first converted to a map, with
--queries to one with queries, in scratch space (--tmp); so is a map that is
compressed or comes from standard input. The bytes do not depend on threads or
on memory. docs/packed.md specifies the format.`,
  options: {
    output: { short: "o", value: "FILE", help: "Write here." },
    "max-bytes": option.size("At most this large, such as 100k; with --bits, fewer rows."),
    bits: {
      value: "N",
      help: "Bits per row, 0 to 31; one in 2^N lookups of absent rows is wrong. Without a size, all rows are kept.",
      parse: parseBits,
    },
    ...MISSES_OPTIONS,
    queries: { help: "With an index: keep queries." },
    ...WORK_OPTIONS,
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "a map of the default size": "mementomap pack map.ukvs -o map.packed",
    "the best map of that size": "mementomap pack map.ukvs --max-bytes 30k -o map.packed",
    "trained on earlier misses":
      "mementomap pack map.ukvs --max-bytes 30k --misses uris.txt -o map.packed",
    "straight from an index": "mementomap pack --queries index.cdxj -o map.packed",
    "look up a URI in it": "mementomap lookup map.packed https://example.org/",
  },
  files: ({ positionals, values: { output, misses } }) => {
    const inputs = inputsOf(positionals);
    if (inputs.length > 1) throw misuse("pack takes one map; merge makes one of several");
    return { reads: { inputs, misses }, writes: [{ path: output, kind: "packed" }] };
  },
  async run({ positionals, values }, io) {
    const [path] = inputsOf(positionals);
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    const startedAt = io.now();
    const progress = io.progress("packing", stats?.size);
    const options = {
      maxBytes: values["max-bytes"],
      bits: values.bits,
      misses: values.misses,
      archive: values.archive,
      scratch: values.tmp,
      memoryBytes: values.memory,
      onRead: (bytes: number): void => progress.add(bytes),
    };
    const file = await openOutput(values.output, io);
    const packing = withMap(path, values, progress, io, async (map, streams) => {
      const { workFor, writePackedMap } = await import("../../pack/pack-files.ts");
      const size = map === "-" ? undefined : (await stat(map)).size;
      progress.total = size === undefined ? undefined : progress.done + workFor(options) * size;
      return writePackedMap(map, file, { ...options, streams });
    });
    const packed = await packing
      .catch(async (error: unknown) => {
        await file.abort();
        throw error;
      })
      .finally(() => progress.end());
    warnSkippedLines(io, packed.oddLines);
    return { summary: { json: packed, text: summaryLines(packed, io.now() - startedAt) } };
  },
});

/** Enough of a file to detect its kind. */
const SAMPLE_BYTES = 2 ** 16;

interface MapValues extends OptionValues<typeof WORK_OPTIONS> {
  readonly queries: boolean;
  readonly tmp: string | undefined;
}

/** Converts an index to a map in scratch space; a map is used unchanged. */
async function withMap<T>(
  path: string,
  values: MapValues,
  progress: Progress,
  io: Io,
  use: (map: string, streams: Io) => Promise<T>,
): Promise<T> {
  const { queries, tmp, memory: memoryBytes } = values;
  const { interrupt, stdout } = io;
  return withTempDir({ parent: tmp, interrupt }, async (folder) => {
    let [sample, streams] = [path, io];
    if (path === "-") {
      const { head, chunks } = await peek(io.stdin, SAMPLE_BYTES);
      [sample, streams] = [join(folder, "sample"), { ...io, stdin: chunks }];
      await writeFile(sample, head);
    }
    if (await isMapFile(sample)) {
      if (!queries) return use(path, streams);
      throw misuse("--queries requires an index; the queries of a map cannot be changed");
    }
    const { generateFiles } = await import("../../generate/generate.ts");
    const map = join(folder, "map");
    const description = { updatedAt: await updatedAt([path], io), generator: userAgent() };
    await withMapOutput(map, { interrupt, stdout, isScratch: true }, (output) =>
      generateFiles([path], output, {
        queries,
        description,
        memoryBytes,
        streams,
        interrupt,
        threads: workThreads(values),
        scratch: tmp,
        onRead: (bytes) => progress.add(bytes),
      }),
    );
    return use(map, streams);
  });
}

function parseBits(text: string): number {
  const bits = parseDecimal(text);
  if (bits <= MAX_ROW_BITS) return bits;
  throw misuse(`not a number of bits from 0 to ${MAX_ROW_BITS}: ${quote(text)}`);
}

function summaryLines(packed: PackSummary, ms: number): SummaryLine[] {
  const { rowsRead, rows, hosts, voids, bytes, bits } = packed;
  const bitsPerRow = ((8 * bytes) / Math.max(1, rowsRead)).toFixed(2);
  return [
    ["rows read", formatCount(rowsRead), formatRate(rowsRead, ms)],
    ["rows", formatCount(rows), `of ${bits} bits`],
    ["hosts", formatCount(hosts)],
    ...(voids > 0 ? [["voids", formatCount(voids)] as const] : []),
    ["size", formatBytes(bytes), `${bitsPerRow} bits a row read`],
  ];
}
