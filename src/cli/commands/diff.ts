import { diffMaps, type HeaderDifference, type RecordDifference } from "../../maps/diff-maps.ts";
import { openInput } from "../../files/input-file.ts";
import { isClosedPipe, withOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { OUTPUT_OPTION } from "../common/options.ts";
import { ExitCode, LineWriter } from "../common/io.ts";
import { assertMaps } from "../common/map-arguments.ts";

export const command: Command = defineCommand({
  name: "diff",
  usage: "BEFORE AFTER",
  description: `
Writes a line for each header and record that differs: "-" and what only the
first map has, "+" and what only the second has. A changed record gives both
lines. Columns are separated by one space and headers are written as strict
JSON, so the layout of a file makes no difference.

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
    const [beforePath, afterPath] = positionals;
    await assertMaps(beforePath, afterPath);
    const { signal } = io.interrupt;
    const before = await openInput(beforePath, io, { signal });
    try {
      const after = await openInput(afterPath, io, { signal });
      try {
        const { headers, records } = await diffMaps(before, after);
        const format = values.json ? asJson : asText;
        let isSame = headers.length === 0;
        const writing = withOutput(values.output, io, async (output) => {
          const lines = new LineWriter(output);
          for (const difference of headers) await lines.write(format(difference));
          for await (const difference of records) {
            isSame = false;
            const sent = lines.write(format(difference));
            if (sent !== undefined) await sent;
          }
          await lines.flush();
        });
        await writing.catch((error: unknown) => {
          // Whoever has read enough still wants to know that they differ.
          if (isSame || !isClosedPipe(error)) throw error;
        });
        return { status: isSame ? ExitCode.ok : ExitCode.negative };
      } finally {
        await after.close();
      }
    } finally {
      await before.close();
    }
  },
});

type Difference = HeaderDifference | RecordDifference;

function asJson(difference: Difference): string {
  return JSON.stringify(difference);
}

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
