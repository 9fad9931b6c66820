import { formatBytes, formatCount } from "../../format.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { combineFiles } from "../../generate/combine.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { FORCE_OPTION, misuse, option, TMP_OPTION } from "../common/options.ts";
import { readCuts } from "./partition.ts";

export const command: Command = defineCommand({
  name: "combine",
  usage: "RUN... -o MAP",
  description: `
Merges the keys of all runs into the map that generate would create, with the
same bytes. With --cuts and --range, merges one range into a part of the map;
each range can be merged on a different machine. Ranges are numbered from 1. A
part has the form of a page: merge joins all parts into the map, which can then
be compacted and packed.`,
  options: {
    output: { short: "o", value: "MAP", help: "Write here; .gz compresses." },
    cuts: { value: "FILE", help: "The keys between ranges, from partition --into." },
    range: option.count("The range to merge, from 1."),
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "the whole map": "mementomap combine a.run b.run -o map.ukvs",
    "its first part": "mementomap combine --cuts cuts.txt --range 1 a.run b.run -o part-1.ukvs",
    "the parts joined": "mementomap merge part-1.ukvs part-2.ukvs -o map.ukvs",
  },
  files({ positionals, values: { output, cuts } }) {
    if (positionals.length === 0) throw misuse("name the runs to combine");
    return { reads: { runs: positionals, cuts }, writes: [{ path: output, kind: "map" }] };
  },
  async run({ positionals, values }, io) {
    const { output, cuts: path, range: number, tmp: scratch } = values;
    if ((path === undefined) !== (number === undefined)) {
      throw misuse("a part needs both --cuts FILE and --range I");
    }
    const cuts = path === undefined ? [] : await readCuts(path);
    if (number !== undefined && number > cuts.length + 1) {
      throw misuse(`there is no range ${number}; the cuts define ${cuts.length + 1}`);
    }
    const range = number === undefined ? undefined : { cuts, number };
    const { interrupt } = io;
    const summary = await withMapOutput(output, { ...io, ...values }, (target) =>
      combineFiles(positionals, target, { range, scratch, streams: io, interrupt }),
    );
    const { runs, rows, bytes } = summary;
    return {
      summary: {
        json: { runs, rows, bytes },
        text: [
          ["runs", formatCount(runs)],
          ["rows", formatCount(rows)],
          ["size", formatBytes(bytes)],
        ],
      },
    };
  },
});
