import { formatAmount } from "../../format.ts";
import { withOutput } from "../../files/output-file.ts";
import { sampleIndex } from "../../study/sample/sample-archive.ts";
import { sampleLookups } from "../../study/sample/sample-lookups.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { option, FORCE_OPTION, OUTPUT_OPTION } from "../common/options.ts";
import { writeLines } from "../common/io.ts";
import { checkSignal } from "../../interruption.ts";

export const command: Command = defineCommand({
  name: "sample",
  usage: "[-o FILE]",
  description: `
Writes the index of a synthetic archive, as sorted CDXJ with realistic
distributions of captures per page, depths of hosts and paths, and top-level
domains. The same seed and number of lines give the same bytes on every machine.

With --uris, writes URIs instead: some are held by the sample archive of the
same seed and number of lines, most are not.
`,
  options: {
    lines: option.count("100000", "The number of captures in the index."),
    seed: option.whole("1", "The seed of the random archive."),
    uris: option.count("Write this many URIs instead of an index."),
    output: OUTPUT_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "a small index for experiments": "mementomap sample --lines 1000 -o sample.cdxj",
    "URIs to look up in a map of it":
      "mementomap sample --lines 1000 --uris 500 -o sample-uris.txt",
  },

  files({ positionals, values: { output, uris } }) {
    if (positionals.length > 0) throw usage("sample", "sample takes no files; -o names the output");
    return { reads: {}, writes: [{ path: output, kind: uris === undefined ? "index" : "list" }] };
  },
  async run({ values: { lines, seed, uris, output } }, io) {
    await withOutput(output, io, async (target) => {
      if (uris !== undefined) {
        return writeLines(target, sampleLookups({ lines, seed, count: uris }));
      }
      for (const block of sampleIndex({ lines, seed })) {
        checkSignal(io.interrupt.signal);
        await target.write(block);
      }
    });
    const count = uris ?? lines;
    const what = uris === undefined ? "capture" : "URI";
    return { summary: { json: { count }, text: formatAmount(count, what) } };
  },
});
