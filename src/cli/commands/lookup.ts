import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { formatCount, type Position, quote } from "../../errors.ts";
import { beginsWithLookup, refuseForeignLine } from "../../input/line-kind.ts";
import type { BatchAnswers, BlockSink } from "../../map/lookup/answer-lines.ts";
import { type Answer, answerJson, answerLine } from "../../map/lookup/map-lookup.ts";
import { openInput } from "../../files/input-file.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { withOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { FORCE_OPTION, option, OUTPUT_OPTION } from "../common/options.ts";
import { ExitCode, type Io, LineWriter } from "../common/io.ts";
import { type OpenMap, openMapFile } from "../../map/lookup/open-map-file.ts";
import { Progress } from "../common/messages.ts";

const decoder = new TextDecoder();

export const lookup: Command = defineCommand({
  name: "lookup",
  summary: "Look up whether an archive may hold a URI",
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
    at: option.datetime(
      "Look up this time, in maps with times: 4 to 14 digits of YYYYMMDDhhmmss, ISO 8601, or the format of HTTP headers.",
    ),
    output: OUTPUT_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "one URI": "mementomap lookup map.ukvs https://example.org/a",
    "many, from a file": "mementomap lookup map.ukvs --batch uris.txt -o answers.tsv",
    "a SURT, as JSON": "mementomap lookup --json --surt map.ukvs 'org,example)/a'",
  },

  async run({ positionals, values }, io) {
    const [path, ...inputs] = positionals;
    if (path === undefined) throw usage("lookup", "lookup needs a map");
    if (inputs.length === 0 && values.batch === undefined) {
      throw usage("lookup", "nothing to look up: name a URI, or --batch FILE");
    }
    if (path === "-" && values.batch === "-") {
      throw usage("lookup", "the map and the batch cannot both be standard input");
    }
    if (/^https?:\/\//i.test(path)) {
      throw usage(
        "lookup",
        `the map comes first, then URIs, and ${quote(path)} is not a file; use mementomap fetch --lookup for a map on the Web`,
      );
    }
    const outputs = [{ path: values.output, kind: "answers" } as const];
    await guardOutputs(outputs, { inputs: [path, values.batch], force: values.force });
    const forMany = values.batch !== undefined;
    const inBatches = forMany && !values.json && values.at === undefined;
    const map = await openMapFile(path, io, { forMany, inBatches });
    const warn = (text: string): void => {
      if (!values.quiet) io.stderr.write(`mementomap: warning: ${text}\n`);
    };
    const options = { ...values, isSurt: values.surt, warn };
    const asker = new Asker(map, options);
    try {
      const presentCount = await withOutput(values.output, io, async (output) => {
        const count = await asker.askAll(inputs, output);
        if (values.batch !== undefined) {
          await asker.askBatch(values.batch, { io, sink: output, quiet: values.quiet });
        }
        return count;
      });
      return inputs.length > 0 && presentCount === 0 ? ExitCode.negative : ExitCode.ok;
    } finally {
      await map.close();
    }
  },
});

const URI_FORM = /^[a-z][a-z\d+.-]*:\/\//i;
/** No host has a comma before a closing parenthesis. */
const SURT_FORM = /^[^\s/:?#]+,[^\s/?#]*\)(?:\/|$)/;

interface AskOptions {
  readonly isSurt: boolean;
  readonly warn: (text: string) => void;
  readonly json: boolean;
  readonly at: string | undefined;
}

interface BatchTarget {
  readonly io: Io;
  readonly sink: BlockSink;
  readonly quiet: boolean;
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
    let presentCount = 0;
    for (const input of inputs) {
      this.#checkForm(input);
      const answer = await this.#ask(input);
      if (answer.present) presentCount += 1;
      await lines.write(this.#format(input, answer));
    }
    await lines.flush();
    return presentCount;
  }

  /** Answers every line of a file that is not blank. */
  async askBatch(path: string, { io, sink, quiet }: BatchTarget): Promise<void> {
    const progress = new Progress(io, { label: "looking up", quiet });
    const input = await openInput(path, io, {
      signal: io.interrupt.signal,
      onRead: (bytes) => progress.add(bytes),
    });
    progress.total = input.size;
    let counts: BatchCounts;
    try {
      const { json, at } = this.#options;
      const answers =
        json || at !== undefined ? undefined : this.#map.answers?.(sink, this.#options);
      counts = await (answers === undefined
        ? this.#answerText(input, sink)
        : this.#answerBytes(answers, input));
    } finally {
      progress.end();
    }
    if (quiet) return;
    const { asked, present } = counts;
    io.stderr.write(`${formatCount(asked)} looked up, ${formatCount(present)} present\n`);
  }

  async #answerBytes(answers: BatchAnswers, input: Batch): Promise<BatchCounts> {
    for await (const batch of lineBatches(input.chunks, { source: input.name })) {
      if (answers.askedCount === 0) this.#checkFirstOf(batch, input.name);
      await answers.writeLines(batch);
    }
    await answers.flush();
    return { asked: answers.askedCount, present: answers.presentCount };
  }

  async #answerText(input: Batch, sink: BlockSink): Promise<BatchCounts> {
    const lines = new LineWriter(sink);
    const counts = { asked: 0, present: 0 };
    for await (const { bytes, starts, ends, count, firstLine } of lineBatches(input.chunks, {
      source: input.name,
    })) {
      for (let line = 0; line < count; line += 1) {
        if (starts[line] === ends[line]) continue;
        const text = decoder.decode(bytes.subarray(starts[line], ends[line]));
        if (counts.asked === 0) {
          this.#checkFirst(text, { source: input.name, line: firstLine + line });
        }
        const answer = this.#askIndex(text) ?? (await this.#ask(text));
        counts.asked += 1;
        if (answer.present) counts.present += 1;
        const sent = lines.write(this.#format(text, answer));
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

  /** The answer of an index in memory, for which nothing need be awaited. */
  #askIndex(input: string): Answer | undefined {
    const { at, isSurt } = this.#options;
    const { index } = this.#map;
    return isSurt ? index?.lookupSurtSync(input, { at }) : index?.lookupSync(input, { at });
  }

  #ask(input: string): Promise<Answer> {
    const { at, isSurt } = this.#options;
    const { lookup: map } = this.#map;
    return isSurt ? map.lookupSurt(input, { at }) : map.lookup(input, { at });
  }

  #format(input: string, answer: Answer): string {
    return this.#options.json ? answerJson(input, answer) : answerLine(input, answer);
  }
}

interface Batch {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface BatchCounts {
  readonly asked: number;
  readonly present: number;
}
