import { formatCount } from "../../format.ts";
import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { quote } from "../../errors.ts";
import { beginsWithLookup, refuseForeignLine } from "../../input/line-kind.ts";
import type { BlockSink } from "../../bytes/block-writer.ts";
import { explainedLines, RecordingLookup } from "../../lookup/explain.ts";
import { answerJson, answerLine, lookupPeriod } from "../../lookup/map-lookup.ts";
import { withOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option, FORCE_OPTION, OUTPUT_OPTION } from "../common/options.ts";
import { ExitCode, writeLines } from "../common/io.ts";
import { openMapFile } from "../../lookup/open-map-file.ts";
import type { CommandIo } from "../common/messages.ts";

/** A byte order mark before a URI is part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const command: Command = defineCommand({
  name: "lookup",
  usage: "MAP [URI...]",
  description: `
Writes one tab-separated line per URI: the URI as given (tabs as %09), present
or absent, the matching key of the map, its frequency, and how many levels above
the URI that key is (0: the URI itself). If no key covers the URI, it is absent,
and the last three columns are -.

URIs given as arguments are found by searching the file, without reading all of
it. For --batch, the map is loaded into memory. Blank lines of a batch are
skipped.

Exit status: 0 if any URI given as an argument is present, 1 if none is; with
--batch alone always 0.
`,
  options: {
    batch: { value: "FILE", help: "Look up every line of a file, or of - (stdin)." },
    surt: { help: "Inputs are SURTs, not URIs." },
    explain: {
      help: "Below each answer, list the keys tried, in order, with their distances and their rows in the map. Not for --batch.",
    },
    at: option.datetime(
      "The time to look up, in maps with times: 4 to 14 digits of YYYYMMDDhhmmss, ISO 8601, or an HTTP date.",
    ),
    output: OUTPUT_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "one URI": "mementomap lookup map.ukvs https://example.org/a",
    "many, from a file": "mementomap lookup map.ukvs --batch uris.txt -o answers.tsv",
    "which rows match": "mementomap lookup --explain map.ukvs https://example.org/a/b",
    "a SURT, as JSON": "mementomap lookup --json --surt map.ukvs 'org,example)/a'",
  },

  files({ positionals, values }) {
    const [path, ...inputs] = positionals;
    if (path === undefined) throw usage("lookup", "lookup needs a map");
    if (inputs.length === 0 && values.batch === undefined) {
      throw usage("lookup", "nothing to look up: name a URI, or --batch FILE");
    }
    if (values.explain && values.batch !== undefined) {
      throw usage("lookup", "--explain is for URIs given as arguments, not for --batch");
    }
    if (/^https?:\/\//i.test(path)) {
      throw usage(
        "lookup",
        `the first argument must be a map file, not ${quote(path)}; use mementomap fetch --lookup for a map on the Web`,
      );
    }
    const invalid = inputs.find((input) => !beginsWithLookup(input));
    if (invalid !== undefined)
      throw usage("lookup", `${quote(invalid)} is neither a URI nor a SURT`);
    return {
      reads: { map: path, batch: values.batch },
      writes: [{ path: values.output, kind: "answers" }],
    };
  },
  async run({ positionals: [path, ...inputs], values }, io) {
    const { batch: file, surt: isSurt, at } = values;
    const map = await openMapFile(path, io, { forMany: file !== undefined });
    const batch = { lookups: 0, present: 0 };
    let present = 0;

    async function* answerInputs(): AsyncGenerator<string, void, undefined> {
      const recording = values.explain ? new RecordingLookup(map.lookup) : undefined;
      const lookup = recording ?? map.lookup;
      for (const input of inputs) {
        warnOfForm(input, isSurt, io);
        const answer = await lookup.lookupNow(input, { at }, isSurt);
        if (answer.present) present++;
        const { tried } = recording ?? {};
        if (values.json) yield answerJson(input, answer, tried && { tried });
        else yield [answerLine(input, answer), ...explainedLines(tried ?? [])].join("\n");
      }
    }

    async function* answerAsJson(lines: Batches): AsyncGenerator<string, void, undefined> {
      for await (const { bytes, starts, ends, count } of lines) {
        for (let i = 0; i < count; i++) {
          if (starts[i] === ends[i]) continue;
          const text = decoder.decode(bytes.subarray(starts[i], ends[i]));
          const answer = await map.lookup.lookupNow(text, { at }, isSurt);
          batch.lookups++;
          if (answer.present) batch.present++;
          yield answerJson(text, answer);
        }
      }
    }

    async function answerBatch(lines: Batches, output: BlockSink): Promise<void> {
      if (values.json) return writeLines(output, answerAsJson(lines));
      const { BatchAnswers } = await import("../../lookup/batch.ts");
      const answers = new BatchAnswers(map.lookup, output, { isSurt, period: lookupPeriod(at) });
      for await (const each of lines) await answers.writeLines(each);
      await answers.flush();
      batch.lookups = answers.askedCount;
      batch.present = answers.presentCount;
    }

    try {
      await withOutput(values.output, io, async (output) => {
        await writeLines(output, answerInputs());
        if (file !== undefined) await answerBatch(checkedBatches(file, isSurt, io), output);
      });
    } finally {
      await map.close();
    }
    const text = `${formatCount(batch.lookups)} looked up, ${formatCount(batch.present)} present`;
    return {
      status: inputs.length > 0 && present === 0 ? ExitCode.negative : ExitCode.ok,
      ...(file !== undefined && { summary: { json: batch, text } }),
    };
  },
});

const URI_FORM = /^[a-z][a-z\d+.-]*:\/\//i;
/** No host has a comma before a closing parenthesis. */
const SURT_FORM = /^[^\s/:?#,]+,[^\s/?#]*\)(?:\/|$)/;

type Batches = AsyncIterable<LineBatch>;

/**
 * The lines of a batch. Rejects another kind of file by its first non-blank line, and warns if in
 * doubt: a map reports everything that is not a URI as absent.
 */
async function* checkedBatches(
  path: string,
  isSurt: boolean,
  io: CommandIo,
): AsyncGenerator<LineBatch, void, undefined> {
  const { name: source, chunks } = await io.open(path, "looking up");
  let isFirst = true;
  for await (const batch of lineBatches(chunks, { source })) {
    const { bytes, starts, ends, count, firstLine } = batch;
    const i = starts.subarray(0, count).findIndex((start, line) => start < ends[line]);
    if (isFirst && i !== -1) {
      isFirst = false;
      const text = decoder.decode(bytes.subarray(starts[i], ends[i]));
      refuseForeignLine(text, { source, line: firstLine + i });
      if (!beginsWithLookup(text)) {
        io.warn(`${source}: ${quote(text)} is neither a URI nor a SURT`);
      }
      warnOfForm(text, isSurt, io);
    }
    yield batch;
  }
}

/** Warns about a URI in place of a SURT, or vice versa: a map reports either as absent. */
function warnOfForm(input: string, isSurt: boolean, io: CommandIo): void {
  if (isSurt && URI_FORM.test(input)) io.warn(`${quote(input)} is a URI; omit --surt`);
  if (!isSurt && SURT_FORM.test(input)) io.warn(`${quote(input)} is a SURT; use --surt`);
}
