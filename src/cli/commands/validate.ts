import { validateMap } from "../../map/validate.ts";
import { openInput } from "../../node/input-file.ts";
import { openOutput } from "../../node/output-file.ts";
import { usage } from "../command-line.ts";
import { type Command, defineCommand } from "../command.ts";
import { ExitCode, type Io } from "../io.ts";
import { LineWriter } from "../line-writer.ts";
import { Progress } from "../progress.ts";
import { formatCount } from "../sizes.ts";

export const validate: Command = defineCommand({
  name: "validate",
  summary: "List the faults of a map",
  usage: "[MAP...]",
  description: `
Writes a line for each fault of a map, with its place and its code:

    map.ukvs:12: error: key "com,a)/" comes after "com,b)/" [not-sorted]

An error makes the map wrong or unreadable. A warning is about something that is
allowed, and probably not meant. Reading goes on after a fault, so that all are
listed.

Exit status: 0 when there is no error, 1 when there is one; with --strict
warnings count as errors.
`,
  options: {
    strict: { type: "boolean", help: "End with status 1 for warnings too." },
  },
  examples: [
    { does: "check a map", line: "mementomap validate map.ukvs" },
    { does: "accept no warning either", line: "mementomap validate --strict map.ukvs" },
    { does: "for a program", line: "mementomap validate --json < map.ukvs" },
  ],

  async run({ positionals, values }, io) {
    const paths = positionals.length === 0 ? ["-"] : positionals;
    if (paths.filter((path) => path === "-").length > 1) {
      throw usage("validate", "standard input can be read only once");
    }
    const lines = new LineWriter(await openOutput(undefined, io));
    const counts = { error: 0, warning: 0 };
    for (const path of paths) {
      const faults = await checkFile(path, { io, lines, ...values });
      counts.error += faults.error;
      counts.warning += faults.warning;
    }
    await lines.flush();
    if (!values.quiet) {
      io.stderr.write(`${number(counts.error, "error")}, ${number(counts.warning, "warning")}\n`);
    }
    const isBad = counts.error > 0 || (values.strict && counts.warning > 0);
    return isBad ? ExitCode.negative : ExitCode.ok;
  },
});

interface CheckOptions {
  readonly io: Io;
  readonly lines: LineWriter;
  readonly json: boolean;
  readonly quiet: boolean;
}

async function checkFile(
  path: string,
  { io, lines, json, quiet }: CheckOptions,
): Promise<{ error: number; warning: number }> {
  const progress: { shown?: Progress } = {};
  const input = await openInput(path, io, {
    signal: io.interrupt.signal,
    onRead: (bytes) => progress.shown?.add(bytes),
  });
  progress.shown = new Progress(io, { label: "checking", total: input.size, quiet });
  const counts = { error: 0, warning: 0 };
  try {
    for await (const fault of validateMap(input.chunks)) {
      counts[fault.severity] += 1;
      const { line, severity, code, message } = fault;
      const sent = lines.write(
        json
          ? JSON.stringify({ source: input.name, line, severity, code, message })
          : `${input.name}:${line}: ${severity}: ${message} [${code}]`,
      );
      if (sent !== undefined) await sent;
    }
  } finally {
    progress.shown.end();
  }
  return counts;
}

function number(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
