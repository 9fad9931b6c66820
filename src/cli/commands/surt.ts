import { LF } from "../../bytes/bytes.ts";
import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { refuseForeignLine } from "../../input/line-kind.ts";
import { type BlockSink, BlockWriter } from "../../bytes/block-writer.ts";
import { openInput } from "../../files/input-file.ts";
import { openOutput } from "../../files/output-file.ts";
import { lookupKeys } from "../../surt/covering-keys.ts";
import { surt as surtOf, surtBytes, surtRoom } from "../../surt/uri-to-surt.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { type Io, writeLines } from "../common/io.ts";

const decoder = new TextDecoder();

export const command: Command = defineCommand({
  name: "surt",
  usage: "[URI...]",
  description: `
Writes the canonical SURT of each URI, as in CDX files: host labels in reverse
order, then the path and the query. Without arguments, reads URIs from standard
input, one per line, and writes one line for each.

With --keys, writes instead the keys that a lookup tries in a map, most specific
first, one per line; an empty line separates URIs.
`,
  options: {
    keys: { help: "Write the lookup keys, most specific first." },
  },
  examples: {
    "the SURT of one URI": "mementomap surt https://www.example.org/a/?b=1",
    "the lookup keys of a URI": "mementomap surt --keys https://example.org/a/b",
    "many, from a file": "mementomap surt < uris.txt",
  },

  files: ({ positionals }) => ({ reads: { uris: positionals.length > 0 ? [] : "-" } }),
  async run({ positionals, values: { keys, json } }, io) {
    const output = await openOutput(undefined, io);
    if (!keys && !json && positionals.length === 0) {
      await streamSurts(io, output);
      return {};
    }
    let separator = "";
    const format = (uri: string): string => {
      const surt = surtOf(uri);
      if (json) return JSON.stringify({ uri, surt, ...(keys && { keys: lookupKeys(surt) }) });
      if (!keys) return surt;
      const lines =
        separator +
        lookupKeys(surt)
          .map(({ key }) => key)
          .join("\n");
      separator = "\n";
      return lines;
    };
    async function* lines(): AsyncGenerator<string, void, undefined> {
      for (const uri of positionals) yield format(uri);
      if (positionals.length > 0) return;
      for await (const { bytes, starts, ends, count } of inputLines(io)) {
        for (let i = 0; i < count; i++) {
          yield format(decoder.decode(bytes.subarray(starts[i], ends[i])));
        }
      }
    }
    await writeLines(output, lines());
    return {};
  },
});

/** The lines of standard input. Rejects another kind of file by its first line. */
async function* inputLines(io: Io): AsyncGenerator<LineBatch, void, undefined> {
  const { chunks, name: source } = await openInput(undefined, io, { signal: io.interrupt.signal });
  for await (const batch of lineBatches(chunks, { source })) {
    const { bytes, starts, ends, count, firstLine } = batch;
    if (firstLine === 1 && count > 0) {
      refuseForeignLine(decoder.decode(bytes.subarray(starts[0], ends[0])), { source, line: 1 });
    }
    yield batch;
  }
}

/** The common case, on bytes throughout, so that input need not be UTF-8. */
async function streamSurts(io: Io, sink: BlockSink): Promise<void> {
  const out = new BlockWriter(sink);
  for await (const { bytes, starts, ends, count } of inputLines(io)) {
    for (let i = 0; i < count; i++) {
      const room = out.reserve(surtRoom(ends[i] - starts[i]));
      if (room !== undefined) await room;
      const end = surtBytes(bytes, starts[i], ends[i], out.bytes, out.length);
      out.bytes[end] = LF;
      out.length = end + 1;
    }
  }
  await out.flush();
}
