import { formatCount } from "../../format.ts";
import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { type Position, quote } from "../../errors.ts";
import { beginsWithLookup, refuseForeignLine } from "../../input/line-kind.ts";
import type { BlockSink } from "../../bytes/block-writer.ts";
import { explainedLines, RecordingLookup } from "../../lookup/explain.ts";
import { answerJson, answerLine, lookupPeriod } from "../../lookup/map-lookup.ts";
import { openInput } from "../../files/input-file.ts";
import { withOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option, FORCE_OPTION, OUTPUT_OPTION } from "../common/options.ts";
import { ExitCode, LineWriter } from "../common/io.ts";
import { type OpenMap, openMapFile } from "../../lookup/open-map-file.ts";
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
    const forMany = values.batch !== undefined;
    const map = await openMapFile(path, io, { forMany });
    const options = { ...values, isSurt: values.surt, warn: (text: string) => io.warn(text) };
    const asker = new Asker(map, options);
    try {
      const [presentCount, batch] = await withOutput(values.output, io, async (output) => [
        await asker.askAll(inputs, output),
        values.batch === undefined ? undefined : await asker.askBatch(values.batch, io, output),
      ]);
      return {
        status: inputs.length > 0 && presentCount === 0 ? ExitCode.negative : ExitCode.ok,
        ...(batch && {
          summary: {
            json: batch,
            text: `${formatCount(batch.lookups)} looked up, ${formatCount(batch.present)} present`,
          },
        }),
      };
    } finally {
      await map.close();
    }
  },
});

const URI_FORM = /^[a-z][a-z\d+.-]*:\/\//i;
/** No host has a comma before a closing parenthesis. */
const SURT_FORM = /^[^\s/:?#,]+,[^\s/?#]*\)(?:\/|$)/;

interface AskOptions {
  readonly isSurt: boolean;
  readonly warn: (text: string) => void;
  readonly json: boolean;
  readonly explain: boolean;
  readonly at: string | undefined;
}

class Asker {
  readonly #map: OpenMap;
  readonly #options: AskOptions;

  constructor(map: OpenMap, options: AskOptions) {
    this.#map = map;
    this.#options = options;
  }

  /** Answers a few inputs; returns how many are present. */
  async askAll(inputs: readonly string[], sink: BlockSink): Promise<number> {
    const lines = new LineWriter(sink);
    const { isSurt, at, json, explain } = this.#options;
    const recording = explain ? new RecordingLookup(this.#map.lookup) : undefined;
    const map = recording ?? this.#map.lookup;
    let presentCount = 0;
    for (const input of inputs) {
      this.#checkForm(input);
      const answer = await map.lookupNow(input, { at }, isSurt);
      if (answer.present) presentCount += 1;
      const { tried } = recording ?? {};
      if (json) await lines.write(answerJson(input, answer, tried && { tried }));
      else {
        await lines.write(answerLine(input, answer));
        for (const line of explainedLines(tried ?? [])) await lines.write(line);
      }
    }
    await lines.flush();
    return presentCount;
  }

  /** Answers every line of a file that is not blank. */
  async askBatch(path: string, io: CommandIo, sink: BlockSink): Promise<BatchCounts> {
    const progress = io.progress("looking up");
    const input = await openInput(path, io, {
      signal: io.interrupt.signal,
      onRead: (bytes) => progress.add(bytes),
    });
    progress.total = input.size;
    try {
      return await (this.#options.json
        ? this.#answerJson(input, sink)
        : this.#answerLines(input, sink));
    } finally {
      progress.end();
    }
  }

  async #answerLines(input: Batch, sink: BlockSink): Promise<BatchCounts> {
    const { isSurt, at } = this.#options;
    const answers = await this.#map.answers(sink, { isSurt, period: lookupPeriod(at) });
    for await (const batch of lineBatches(input.chunks, { source: input.name })) {
      if (answers.askedCount === 0) this.#checkFirstOf(batch, input.name);
      await answers.writeLines(batch);
    }
    await answers.flush();
    return { lookups: answers.askedCount, present: answers.presentCount };
  }

  async #answerJson(input: Batch, sink: BlockSink): Promise<BatchCounts> {
    const { isSurt, at } = this.#options;
    const lines = new LineWriter(sink);
    const counts = { lookups: 0, present: 0 };
    for await (const { bytes, starts, ends, count, firstLine } of lineBatches(input.chunks, {
      source: input.name,
    })) {
      for (let line = 0; line < count; line += 1) {
        if (starts[line] === ends[line]) continue;
        const text = decoder.decode(bytes.subarray(starts[line], ends[line]));
        if (counts.lookups === 0) {
          this.#checkFirst(text, { source: input.name, line: firstLine + line });
        }
        const asked = this.#map.lookup.lookupNow(text, { at }, isSurt);
        const answer = asked instanceof Promise ? await asked : asked;
        counts.lookups += 1;
        if (answer.present) counts.present += 1;
        const sent = lines.write(answerJson(text, answer));
        if (sent !== undefined) await sent;
      }
    }
    await lines.flush();
    return counts;
  }

  /** Checks the first line that is not blank. */
  #checkFirstOf({ bytes, starts, ends, count, firstLine }: LineBatch, source: string): void {
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const text = decoder.decode(bytes.subarray(starts[line], ends[line]));
      this.#checkFirst(text, { source, line: firstLine + line });
      return;
    }
  }

  /**
   * Refuses a batch that is a file of another kind, and warns where it may be one: a map says
   * "absent" of everything that is not a URI.
   */
  #checkFirst(text: string, position: Position): void {
    refuseForeignLine(text, position);
    if (!beginsWithLookup(text)) {
      this.#options.warn(`${position.source}: ${quote(text)} is neither a URI nor a SURT`);
    }
    this.#checkForm(text);
  }

  /** Warns of a URI in place of a SURT, or the other way round: a map says "absent" of either. */
  #checkForm(input: string): void {
    const { isSurt, warn } = this.#options;
    if (isSurt && URI_FORM.test(input)) warn(`${quote(input)} is a URI; leave out --surt`);
    if (!isSurt && SURT_FORM.test(input)) warn(`${quote(input)} is a SURT; say so with --surt`);
  }
}

interface Batch {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface BatchCounts {
  readonly lookups: number;
  readonly present: number;
}
