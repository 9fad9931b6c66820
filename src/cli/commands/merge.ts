import { mergeMaps } from "../../map/merge-maps.ts";
import { OUTPUT_OPTION } from "../common/options.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode } from "../common/io.ts";
import { withMapSources } from "../../map/lookup/map-sources.ts";
import { formatAmount, formatCount } from "../../errors.ts";

export const merge: Command = defineCommand({
  name: "merge",
  summary: "Merge maps into one",
  usage: "MAP... [-o MAP]",
  description: `
Merges maps into one that reports present exactly where at least one of them
does. Counts of the same key are added. An exclusion (a row with 0) is kept only
if the other maps report absent for everything that it covers.

Pages of a split map are combined first: all pages of a map, in any order, give
the map that was split. The output may be one of the inputs, which the result
replaces.

A map whose rows were edited by hand no longer has the size that its header
states, and is refused; --force accepts it, and the result states the correct
size.
`,
  options: {
    output: { ...OUTPUT_OPTION, value: "MAP" },
    tmp: { value: "DIR", help: "The folder for scratch files; compressed maps need them." },
    force: { help: "Accept maps that do not have the size they state; replace any existing file." },
  },
  examples: {
    "two archives as one": "mementomap merge a.ukvs b.ukvs -o both.ukvs",
    "add to a map in place": "mementomap merge map.ukvs new.ukvs -o map.ukvs",
  },

  async run({ positionals, values }, io) {
    if (positionals.length === 0) throw usage("merge", "merge needs at least one map");
    if (positionals.filter((path) => path === "-").length > 1) {
      throw usage("merge", "standard input can be read only once");
    }
    const outputs = [{ path: values.output, kind: "map", replaces: positionals } as const];
    await guardOutputs(outputs, { inputs: positionals, force: values.force });
    const summary = await withMapSources(positionals, { io, tmp: values.tmp }, (sources) =>
      withMapOutput(values.output, { ...io, tmp: values.tmp, force: values.force }, (output) =>
        mergeMaps(sources, output, {
          signal: io.interrupt.signal,
          checkSize: !values.force,
        }),
      ),
    );
    if (values.quiet) return ExitCode.ok;
    const { maps, recordsIn, recordsOut } = summary;
    io.stderr.write(
      values.json
        ? `${JSON.stringify(summary)}\n`
        : `${formatAmount(maps, "map")}, ${formatAmount(recordsIn, "record")} in, ` +
            `${formatCount(recordsOut)} out\n`,
    );
    return ExitCode.ok;
  },
});
