import { diffMaps, type HeaderDifference, type RecordDifference } from "../../maps/diff-maps.ts";
import { openInput } from "../../files/input-file.ts";
import { isClosedPipe, withOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { OUTPUT_OPTION } from "../common/options.ts";
import { ExitCode, writeLines } from "../common/io.ts";
import { assertMaps } from "../common/map-arguments.ts";

export const command: Command = defineCommand({
  name: "diff",
  usage: "BEFORE AFTER",
  description: `
Writes a line for each header or record that differs: "-" if only the first map
has it, "+" if only the second has it. A changed record gives both lines.
Columns are separated by one space and headers are written as strict JSON, so
differences in layout are ignored.

Exit status: 0 if the maps are equivalent, 1 if they differ.
`,
  options: {
    output: OUTPUT_OPTION,
  },
  examples: {
    "what changed": "mementomap diff old.ukvs new.ukvs",
    "for a program": "mementomap diff --json old.ukvs new.ukvs",
  },

  files({ positionals, values }) {
    if (positionals.length !== 2) throw usage("diff", "diff takes two maps");
    return { reads: { maps: positionals }, writes: [{ path: values.output, kind: "report" }] };
  },
  async run({ positionals, values }, io) {
    await assertMaps(...positionals);
    const { signal } = io.interrupt;
    const before = await openInput(positionals[0], io, { signal });
    const after = await openInput(positionals[1], io, { signal });
    const format = values.json ? JSON.stringify : asText;
    let isSame = true;
    async function* lines(): AsyncGenerator<string, void, undefined> {
      const { headers, records } = await diffMaps(before, after);
      isSame = headers.length === 0;
      for (const difference of headers) yield format(difference);
      for await (const difference of records) {
        isSame = false;
        yield format(difference);
      }
    }
    try {
      await withOutput(values.output, io, (output) => writeLines(output, lines()));
    } catch (error) {
      // The exit status is still right if the reader closed the pipe early.
      if (isSame || !isClosedPipe(error)) throw error;
    } finally {
      await before.close();
      await after.close();
    }
    return { status: isSame ? ExitCode.ok : ExitCode.negative };
  },
});

type Difference = HeaderDifference | RecordDifference;

function asText(difference: Difference): string {
  if ("header" in difference) {
    return `${difference.kind === "removed" ? "-" : "+"} ${difference.header}`;
  }
  const { kind, key, before, after } = difference;
  const removed = `- ${key} ${before ?? ""}`;
  const added = `+ ${key} ${after ?? ""}`;
  if (kind === "changed") return `${removed}\n${added}`;
  return kind === "removed" ? removed : added;
}
