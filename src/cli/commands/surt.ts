import { LF } from "../../bytes/bytes.ts";
import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { refuseForeignLine } from "../../input/line-kind.ts";
import { type BlockSink, BlockWriter } from "../../bytes/block-writer.ts";
import { openInput } from "../../files/input-file.ts";
import { openOutput } from "../../files/output-file.ts";
import { lookupKeys } from "../../surt/covering-keys.ts";
import { surt as surtOf, surtBytes, surtRoom } from "../../surt/uri-to-surt.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { type Io, LineWriter } from "../common/io.ts";

const decoder = new TextDecoder();

export const command: Command = defineCommand({
  name: "surt",
  usage: "[URI...]",
  description: `
Writes the canonical SURT of each URI, as in CDX files: host labels in reverse
order, then the path and the query. Without arguments, reads URIs from standard
input, one per line, and writes one line for each.

With --keys, writes the keys that a lookup tries in a map instead, most specific
first, one per line; an empty line separates URIs.
`,
  options: {
    keys: { help: "Write the lookup keys, most specific first." },
  },
  examples: {
    "the SURT of one URI": "mementomap surt https://www.example.org/a/?b=1",
    "the keys a lookup tries": "mementomap surt --keys https://example.org/a/b",
    "many, from a file": "mementomap surt < uris.txt",
  },

  files: ({ positionals }) => ({ reads: { uris: positionals.length > 0 ? [] : "-" } }),
  async run({ positionals, values }, io) {
    const output = await openOutput(undefined, io);
    const isPlain = !values.keys && !values.json;
    if (isPlain && positionals.length === 0) {
      await streamSurts(io, output);
      return {};
    }
    const lines = new LineWriter(output);
    let isFirst = true;
    const uris = positionals.length > 0 ? [positionals] : inputLines(io);
    for await (const batch of uris) {
      for (const uri of batch) {
        const separator = isFirst ? "" : "\n";
        isFirst = false;
        await lines.write(
          values.json ? asJson(uri, values.keys) : asText(uri, values.keys, separator),
        );
      }
    }
    await lines.flush();
    return {};
  },
});

function asText(uri: string, wantsKeys: boolean, separator: string): string {
  if (!wantsKeys) return surtOf(uri);
  const keys = lookupKeys(surtOf(uri)).map(({ key }) => key);
  return `${separator}${keys.join("\n")}`;
}

function asJson(uri: string, wantsKeys: boolean): string {
  const canonical = surtOf(uri);
  const keys = wantsKeys ? { keys: lookupKeys(canonical) } : {};
  return JSON.stringify({ uri, surt: canonical, ...keys });
}

/** Refuses input that is a file of another kind, told by its first line. */
function checkFirst({ bytes, starts, ends, count, firstLine }: LineBatch, source: string): void {
  if (firstLine !== 1 || count === 0) return;
  refuseForeignLine(decoder.decode(bytes.subarray(starts[0], ends[0])), { source, line: 1 });
}

async function* inputLines(io: Io): AsyncGenerator<string[], void, undefined> {
  const input = await openInput(undefined, io, { signal: io.interrupt.signal });
  for await (const batch of lineBatches(input.chunks, { source: input.name })) {
    checkFirst(batch, input.name);
    const { bytes, starts, ends, count } = batch;
    yield Array.from({ length: count }, (_, index) =>
      decoder.decode(bytes.subarray(starts[index], ends[index])),
    );
  }
}

/** The common case, in bytes from end to end, so that input need not be UTF-8. */
async function streamSurts(io: Io, sink: BlockSink): Promise<void> {
  const out = new BlockWriter(sink);
  const input = await openInput(undefined, io, { signal: io.interrupt.signal });
  for await (const batch of lineBatches(input.chunks, { source: input.name })) {
    checkFirst(batch, input.name);
    const { bytes, starts, ends, count } = batch;
    for (let index = 0; index < count; index += 1) {
      const room = out.reserve(surtRoom(ends[index] - starts[index]));
      if (room !== undefined) await room;
      const end = surtBytes(bytes, starts[index], ends[index], out.bytes, out.length);
      out.bytes[end] = LF;
      out.length = end + 1;
    }
  }
  await out.flush();
}
