import { join } from "node:path";
import { isRun } from "../../bytes/bytes.ts";
import { formatCount } from "../../errors.ts";
import { withOutput, withOutputFolder } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { withMapSources } from "../../map/lookup/map-sources.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { joinParts, type JoinedParts, openParts } from "../../map/parts/join-parts.ts";
import { writePages } from "../../map/parts/join-pages.ts";
import { mergeRange } from "../../map/parts/merge-range.ts";
import { SURVEY_START } from "../../map/parts/part-survey.ts";
import { planParts, readPlan } from "../../map/parts/roll-up-plan-file.ts";
import { startOfFile } from "../../map/parts/run-file.ts";
import { copyRows } from "../../map/parts/rows-stretch.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, type Io } from "../common/io.ts";
import { formatSize, showRun, type SummaryLine } from "../common/messages.ts";
import { FORCE_OPTION, MISSES_OPTIONS, misuse, option, TMP_OPTION } from "../common/options.ts";
import { readCuts } from "./partition.ts";

export const combine: Command = defineCommand({
  name: "combine",
  summary: "Create a map from the runs of partition",
  usage: "(RUN... | PART... | SURVEY...) -o FILE",
  description: `
Creates a map from the runs of partition, or from parts of a map. The kind of
input is detected from the content. The map has the same bytes as that of
generate, or of generate and compact.

From runs: merges the keys of all runs, or with --cuts and --range those of one
range, which gives a part of the map. Ranges are numbered from 1; each can be
merged on a different machine. Commands that read maps treat a part as a page,
and compact compacts it like a map, but leaves sites that contain a cut open.

From parts: joins them. Give every part once, in any order; either all or none
must be compacted, in the same way. Sites that contain a cut are compacted again
with all their rows; other rows are copied. With --pages the output is a folder
of pages, page-0001.ukvs and so on, which all commands read as one map, like
that of split.

From surveys of parts, made by compact --survey: plans the map of the given
size, as compact does for a whole map. If surveys were made with --misses, give
the same here. Then compact each part by the plan (compact --plan), and join the
parts (combine --plan).`,
  options: {
    output: {
      short: "o",
      value: "MAP",
      help: "Write here; .gz compresses. With --pages, a folder.",
    },
    cuts: { value: "FILE", help: "The keys between ranges, from partition --into." },
    range: option.count("The range to merge, from 1."),
    pages: { help: "Write a folder with a page for each part." },
    plan: { value: "FILE", help: "The plan by which the parts were compacted." },
    "max-lines": option.count("Plan a map of at most this many lines, including headers."),
    "relative-cost": option.share("Plan at most this many lines per row, such as 1.5%."),
    originals: option.count("Relative to this many originals instead of rows."),
    ...MISSES_OPTIONS,
    "no-exclusions": { help: "Plan no rows with 0." },
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "the whole map": "mementomap combine a.run b.run -o map.ukvs",
    "its first part": "mementomap combine --cuts cuts.txt --range 1 a.run b.run -o part-1.ukvs",
    "a compacted part": "mementomap compact part-1.ukvs -o small-1.ukvs",
    "the parts joined": "mementomap combine part-1.ukvs part-2.ukvs -o map.ukvs",
  },
  async run({ positionals, values }, io) {
    const [first] = positionals;
    if (first === undefined) throw misuse("name the runs or parts to combine");
    const { output, cuts, range, pages } = values;
    if ((cuts === undefined) !== (range === undefined)) {
      throw misuse("a part needs both --cuts FILE and --range I");
    }
    if (pages && (output === undefined || output === "-")) {
      throw misuse("name the folder for the pages: -o DIR");
    }
    const start = await startOfFile(first);
    const isOfSurveys = new TextDecoder().decode(start.subarray(0, 64)).startsWith(SURVEY_START);
    if (!pages) {
      const outputs = [{ path: output, kind: isOfSurveys ? "report" : "map" } as const];
      await guardOutputs(outputs, { inputs: positionals, force: values.force });
    }
    const startedAt = io.now();
    if (isOfSurveys) {
      await writePlan(positionals, values, io);
      return ExitCode.ok;
    }
    const { misses, originals, "max-lines": lines, "relative-cost": cost } = values;
    if ((lines ?? cost ?? originals ?? misses) !== undefined) {
      throw misuse("a size and misses are for surveys of parts, which compact --survey makes");
    }
    const isOfRuns = isRun(start);
    if (isOfRuns && pages) throw misuse("--pages is for parts; runs give one part, or the map");
    if (!isOfRuns && cuts !== undefined) throw misuse("--cuts and --range are for runs");
    const figures = isOfRuns
      ? await combineRuns(positionals, values, io)
      : await combineParts(positionals, values, io);
    const ms = io.now() - startedAt;
    if (!values.quiet) showRun(io, ms, summaryOf(figures), values.json);
    return ExitCode.ok;
  },
});

interface PlanValues {
  readonly output: string | undefined;
  readonly "max-lines": number | undefined;
  readonly "relative-cost": number | undefined;
  readonly originals: number | undefined;
  readonly misses: string | undefined;
  readonly archive: string | undefined;
  readonly "no-exclusions": boolean;
  readonly tmp: string | undefined;
}

/** Writes the plan of a map of the given size. */
async function writePlan(paths: readonly string[], values: PlanValues, io: Io): Promise<void> {
  const { "max-lines": maxLines, "relative-cost": relativeCost, originals, tmp } = values;
  if ((maxLines ?? relativeCost) === undefined) {
    throw misuse("say how large the map may be: --max-lines or --relative-cost");
  }
  const { interrupt } = io;
  const budget = { maxLines, relativeCost, originals };
  const { misses: path, archive } = values;
  const plan = await planParts(paths, budget, {
    misses: path === undefined ? undefined : { path, archive },
    allowsExclusions: !values["no-exclusions"],
    scratch: tmp,
    streams: io,
    interrupt,
  });
  await withOutput(values.output, io, async (output) =>
    output.write(Buffer.from(`${JSON.stringify(plan)}\n`)),
  );
}

interface CombineValues {
  readonly plan: string | undefined;
  readonly output: string | undefined;
  readonly cuts: string | undefined;
  readonly range: number | undefined;
  readonly pages: boolean;
  readonly tmp: string | undefined;
  readonly force: boolean;
}

/** What was combined, for the summary. */
type Figures = Readonly<Record<string, number>>;

function summaryOf(figures: Figures): { json: Figures; lines: SummaryLine[] } {
  const shown = Object.entries(figures).map(([name, value]): SummaryLine =>
    name === "bytes" ? ["size", formatSize(value)] : [name, formatCount(value)],
  );
  return { json: figures, lines: shown };
}

async function combineRuns(
  paths: readonly string[],
  values: CombineValues,
  io: Io,
): Promise<Figures> {
  const { cuts, range, tmp } = values;
  const chosen =
    cuts === undefined || range === undefined
      ? undefined
      : { cuts: await readCuts(cuts), number: range };
  if (chosen !== undefined && chosen.number > chosen.cuts.length + 1) {
    throw misuse(`there are ${chosen.cuts.length + 1} ranges, and no range ${chosen.number}`);
  }
  const { interrupt } = io;
  const { runs, rows, bytes } = await withMapOutput(values.output, { ...io, ...values }, (output) =>
    mergeRange(paths, output, { range: chosen, scratch: tmp, streams: io, interrupt }),
  );
  return { runs, rows, bytes };
}

async function combineParts(
  paths: readonly string[],
  values: CombineValues,
  io: Io,
): Promise<Figures> {
  const { tmp, output, pages } = values;
  const { interrupt } = io;
  return withMapSources(paths, { io, tmp }, (sources) =>
    withTempDir({ parent: tmp, interrupt }, async (scratch) => {
      const plan = values.plan === undefined ? undefined : await readPlan(values.plan);
      const joined = await joinParts(await openParts(sources), scratch, { interrupt, plan });
      const { sites } = joined;
      const counted = { parts: paths.length, "cut sites": sites };
      if (pages && output !== undefined) {
        const written = await withOutputFolder(output, io, (folder) =>
          writePages(joined, (name, use) => withOutput(join(folder, name), io, use), interrupt),
        );
        return { ...counted, pages: written };
      }
      return { ...counted, ...(await writeWhole(joined, values, io)) };
    }),
  );
}

async function writeWhole(joined: JoinedParts, values: CombineValues, io: Io): Promise<Figures> {
  return withMapOutput(values.output, { ...io, ...values }, async (output) => {
    await output.writeHead(joined.headers);
    for (const rows of joined.pages.flat()) await copyRows(rows, output, io.interrupt.signal);
    return { rows: output.size.records, bytes: output.size.bytes + output.headBytes };
  });
}
