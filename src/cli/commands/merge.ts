import { formatAmount, formatCount } from "../../format.ts";
import { join } from "node:path";
import { ScratchSpill, withTempDir } from "../../files/scratch.ts";
import { mergeMaps } from "../../maps/merge-maps.ts";
import { OUTPUT_OPTION } from "../common/options.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { withMapSources } from "../../lookup/map-sources.ts";

export const command: Command = defineCommand({
  name: "merge",
  usage: "MAP... [-o MAP]",
  description: `
Merges maps into one that reports a URI present exactly if at least one of them
does. Counts of the same key are added. An exclusion (a row with 0) is kept only
if the other maps report absent for everything that it covers.

Pages of a split map are combined first: all pages of a map, in any order, give
the original map. The output may be one of the inputs, which is then replaced.

A map in another order, such as the index order of other tools, is sorted, and
rows of the same key are added up. merge with a single map thus converts it into
one that all commands accept.

A map that was edited by hand no longer has the size stated in its header, and
is rejected; --force accepts it, and the result states the correct size.
`,
  options: {
    output: { ...OUTPUT_OPTION, value: "MAP" },
    tmp: { value: "DIR", help: "The folder for scratch files." },
    force: { help: "Accept maps whose size differs from their header; replace any existing file." },
  },
  examples: {
    "two archives as one": "mementomap merge a.ukvs b.ukvs -o both.ukvs",
    "sort a map from another tool": "mementomap merge foreign.ukvs -o map.ukvs",
    "add a map to another in place": "mementomap merge map.ukvs new.ukvs -o map.ukvs",
  },

  files({ positionals, values: { output } }) {
    if (positionals.length === 0) throw usage("merge", "merge needs at least one map");
    return {
      reads: { maps: positionals },
      writes: [{ path: output, kind: "map", replaces: positionals }],
    };
  },
  async run({ positionals, values: { output, tmp, force } }, io) {
    const { interrupt } = io;
    const summary = await withMapSources(positionals, { io, tmp }, (sources) =>
      withMapOutput(output, { ...io, tmp, force }, (target) =>
        withTempDir({ parent: tmp, interrupt }, async (scratch) => {
          const spill = new ScratchSpill(join(scratch, "sorted"));
          try {
            const { signal } = interrupt;
            return await mergeMaps(sources, target, { signal, spill, checkSize: !force });
          } finally {
            spill.close();
          }
        }),
      ),
    );
    const { maps, recordsIn, recordsOut } = summary;
    const text = `${formatAmount(maps, "map")}, ${formatAmount(recordsIn, "record")} in, ${formatCount(recordsOut)} out`;
    return { summary: { json: summary, text } };
  },
});
