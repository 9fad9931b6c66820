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

/** A byte order mark in front of a URI belongs to it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const command: Command = defineCommand({
  name: "lookup",
  usage: "MAP [URI...]",
  description: `
Writes one line for each URI, separated by tabs: the URI as given (a tab in it
as %09), present or absent, the key of the map that decided, its frequency, and
how many levels above the URI that key is (0: the URI itself). If no key covers
the URI, it is absent, and the last three columns are -.

A few URIs are searched in the file without reading it completely. For --batch
the map is held in memory. Blank lines of a batch are skipped.

Exit status: 0 if any URI given as an argument is present, 1 if none is; with
--batch alone always 0.
`,
  options: {
    batch: { value: "FILE", help: "Look up every line of a file, or of - (stdin)." },
    surt: { help: "The input is SURTs, not URIs." },
    explain: {
      help: "Below each answer, list the keys that were looked for, in their order, with their distances and the rows of the map. Not for --batch.",
    },
    at: option.datetime(
      "Look up this time, in maps with times: 4 to 14 digits of YYYYMMDDhhmmss, ISO 8601, or the format of HTTP headers.",
    ),
    output: OUTPUT_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "one URI": "mementomap lookup map.ukvs https://example.org/a",
    "many, from a file": "mementomap lookup map.ukvs --batch uris.txt -o answers.tsv",
    "which rows decide": "mementomap lookup --explain map.ukvs https://example.org/a/b",
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
        `the map comes first, then URIs, and ${quote(path)} is not a file; use mementomap fetch --lookup for a map on the Web`,
      );
    }
    const odd = inputs.find((input) => !beginsWithLookup(input));
    if (odd !== undefined) throw usage("lookup", `${quote(odd)} is neither a URI nor a SURT`);
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
 * The lines of a batch. Refuses a file of another kind by its first line that is not blank, and warns
 * where it may be one: a map says "absent" of everything that is not a URI.
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

/** Warns of a URI in place of a SURT, or the other way round: a map says "absent" of either. */
function warnOfForm(input: string, isSurt: boolean, io: CommandIo): void {
  if (isSurt && URI_FORM.test(input)) io.warn(`${quote(input)} is a URI; leave out --surt`);
  if (!isSurt && SURT_FORM.test(input)) io.warn(`${quote(input)} is a SURT; say so with --surt`);
}
