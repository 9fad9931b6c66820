import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { type PowerLaw, WEIGHT_DEFAULTS, WeightPolicy } from "../../map/compact/weight-policy.ts";
import { formatCount, quote } from "../../errors.ts";
import {
  type ChosenNodes,
  compactFile,
  type CompactFileSummary,
} from "../../map/compact/run/compact-files.ts";
import type { BudgetFileSummary } from "../../map/compact/run/budget-files.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import {
  FORCE_OPTION,
  MISSES_OPTIONS,
  misuse,
  option,
  parseDecimal,
  TMP_OPTION,
} from "../common/options.ts";
import { type Command, defineCommand } from "../common/command.ts";
import {
  formatRate,
  formatSize,
  Progress,
  showRun,
  type SummaryLine,
  warnOfOddLines,
} from "../common/messages.ts";
import { ExitCode, type Io } from "../common/io.ts";

const { hostPower, pathPower } = WEIGHT_DEFAULTS;

export const compact: Command = defineCommand({
  name: "compact",
  summary: "Make a map smaller by rolling up subtrees",
  usage: "[MAP] [-o MAP]",
  description: `
Rolls up hosts and folders into one row with a wildcard, com,example)/news/*. A
smaller map reports more originals as present that are not held; it never
reports a held original as absent. A compacted map can be compacted further.

With --max-lines, --max-bytes or --relative-cost, the result is the map of that
size that is expected to answer the fewest lookups wrongly. The lookups to
expect are estimated from the map itself, and more accurately with --misses: a
list of lookups that were not held, in chronological order, or a MemGator log,
from which the misses of one archive are taken. Exclusions (rows with 0) are
added where the misses show that they pay off.

Without a size, every host or folder is rolled up that has more children than

    weight * A * depth^-K

as in the paper. A and K describe the average number of children of a node by
depth; the defaults are the paper's, and fit measures yours. Exclusions (rows
with 0) are kept if they cover nothing that is held.

The map must be complete: one page of several is refused (MM_PAGE); merge the
pages first. The output may be the map itself, which is replaced when the new
one is complete. A map that is compressed or comes from standard input is first
written to scratch space (--tmp).

A part of a map, from combine --range, is compacted by weights like a map. For a
given size, survey each part (--survey), let combine make a plan from all
surveys, and compact each part by the plan (--plan).`,
  options: {
    output: { short: "o", value: "MAP", help: "Write here; .gz compresses." },
    "host-weight": {
      value: "W",
      default: String(WEIGHT_DEFAULTS.hostWeight),
      help: "Allowed children of a host, as a multiple of the mean; inf: any.",
      parse: parseWeight,
    },
    "path-weight": {
      value: "W",
      default: String(WEIGHT_DEFAULTS.pathWeight),
      help: "The same for folders.",
      parse: parseWeight,
    },
    "host-power": {
      value: "A,K",
      default: `${hostPower.a},${hostPower.k}`,
      help: "Mean number of subdomains by depth.",
      parse: parsePower,
    },
    "path-power": {
      value: "A,K",
      default: `${pathPower.a},${pathPower.k}`,
      help: "Mean number of path children by depth.",
      parse: parsePower,
    },
    "max-host-depth": option.count(
      String(WEIGHT_DEFAULTS.maxHostDepth),
      "Number of labels to distinguish.",
    ),
    "max-path-depth": option.count(
      String(WEIGHT_DEFAULTS.maxPathDepth),
      "Number of path levels to distinguish.",
    ),
    "max-lines": option.count("At most this many lines, including headers."),
    "max-bytes": option.size("At most this large after gzip, such as 200k."),
    "relative-cost": option.share("At most this many lines per row of MAP, such as 1.5%."),
    originals: option.count("Relative to this many originals instead of rows."),
    ...MISSES_OPTIONS,
    "no-exclusions": { help: "Add no rows with 0." },
    survey: { help: "Write the survey of a part, for a plan of combine." },
    plan: { value: "FILE", help: "Roll up what the plan of combine has chosen." },
    threads: option.count("Default: all cores."),
    tmp: TMP_OPTION,
    force: FORCE_OPTION,
  },
  examples: {
    "the paper's best trade-off, 4 and 2": "mementomap compact map.ukvs -o small.ukvs",
    "the best map of that size": "mementomap compact --max-lines 50000 map.ukvs -o small.ukvs",
    "by size after gzip, trained on earlier misses":
      "mementomap compact --max-bytes 1M --misses uris.txt map.ukvs -o small.ukvs",
    "roll up folders only":
      "mementomap compact --host-weight inf --path-weight 1 map.ukvs -o small.ukvs",
  },
  async run({ positionals, values }, io) {
    if (positionals.length > 1) throw misuse("compact takes one map; merge makes one of several");
    const [path = "-"] = positionals;
    const budget = {
      maxLines: values["max-lines"],
      maxBytes: values["max-bytes"],
      relativeCost: values["relative-cost"],
      originals: values.originals,
    };
    const hasBudget = (budget.maxLines ?? budget.maxBytes ?? budget.relativeCost) !== undefined;
    const needsSize = values.misses !== undefined || values["no-exclusions"];
    if (!hasBudget && !values.survey && needsSize) {
      throw misuse("misses need a size: --max-lines, --max-bytes or --relative-cost");
    }
    if (values.survey) {
      if (hasBudget || values.plan !== undefined) {
        throw misuse("a survey needs no size and no plan: combine is given the size");
      }
      return surveyed(path, values, io);
    }
    if (values.plan !== undefined && (hasBudget || values.misses !== undefined)) {
      throw misuse("a plan already has a size; omit --max-lines etc.");
    }
    const weights = {
      hostWeight: values["host-weight"],
      pathWeight: values["path-weight"],
      hostPower: values["host-power"],
      pathPower: values["path-power"],
      maxHostDepth: values["max-host-depth"],
      maxPathDepth: values["max-path-depth"],
    };
    void new WeightPolicy(weights); // complains before any work is done
    if (hasBudget && !isDeepStrictEqual(weights, WEIGHT_DEFAULTS)) {
      throw misuse(
        "weights and a size exclude each other: omit --host-weight etc., or --max-lines etc.",
      );
    }
    if (budget.originals !== undefined && budget.relativeCost === undefined) {
      throw misuse("--originals requires --relative-cost");
    }
    const outputs = [{ path: values.output, kind: "map", replaces: [path] } as const];
    await guardOutputs(outputs, { inputs: [path, values.misses], force: values.force });
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    const startedAt = io.now();
    const progress = new Progress(io, {
      label: "compacting",
      // A budget needs two readings.
      total: stats === undefined || !hasBudget ? stats?.size : stats.size * 2,
      quiet: values.quiet,
    });
    const onRead = (bytes: number): void => progress.add(bytes);
    let summary: Summary;
    try {
      summary = await withMapOutput<Summary>(
        values.output,
        { ...io, tmp: values.tmp, force: values.force },
        async (output) =>
          hasBudget
            ? (await loadBudget()).compactFileToBudget(path, output, {
                budget,
                misses: values.misses,
                archive: values.archive,
                allowsExclusions: !values["no-exclusions"],
                scratch: values.tmp,
                streams: io,
                onRead,
              })
            : compactFile(path, output, {
                weights,
                plan: await planOf(values.plan),
                threads: values.threads,
                scratch: values.tmp,
                streams: io,
                interrupt: io.interrupt,
                onRead,
              }),
      );
    } finally {
      progress.end();
    }
    if (!values.json) warnOfNoMisses(io, values.misses, summary);
    if (!values.quiet) report(io, summary, io.now() - startedAt, values.json);
    return ExitCode.ok;
  },
});

async function surveyed(
  path: string,
  values: Readonly<Record<"output" | "tmp" | "misses" | "archive", string | undefined>>,
  io: Io,
): Promise<ExitCode> {
  const { surveyPart } = await import("../../map/parts/part-survey.ts");
  const { interrupt, stdout } = io;
  const { output, tmp: scratch, misses: missed, archive } = values;
  const misses = missed === undefined ? undefined : { path: missed, archive };
  await surveyPart(path, output, { scratch, streams: io, interrupt, stdout, misses });
  return ExitCode.ok;
}

async function planOf(path: string | undefined): Promise<ChosenNodes | undefined> {
  if (path === undefined) return undefined;
  return (await import("../../map/parts/roll-up-plan-file.ts")).readPlan(path);
}

/** Loaded only where it is needed: a plain roll-up is over in less time than that takes. */
function loadBudget(): Promise<typeof import("../../map/compact/run/budget-files.ts")> {
  return import("../../map/compact/run/budget-files.ts");
}

function parseWeight(text: string): number {
  return /^(inf|infinity|∞)$/i.test(text) ? Number.POSITIVE_INFINITY : parseDecimal(text);
}

function parsePower(text: string): PowerLaw {
  const [a, k, more] = text.split(",");
  if (k !== undefined && more === undefined) return { a: parseDecimal(a), k: parseDecimal(k) };
  throw misuse(`not a power law A,K: ${quote(text)}; write 16.3,0.71`);
}

type Summary = CompactFileSummary | BudgetFileSummary;

function report(io: Io, summary: Summary, ms: number, isJson: boolean): void {
  const { rowsRead, rows, rollUps, bytes } = summary;
  if (!isJson && "oddLines" in summary) warnOfOddLines(io, summary.oddLines);
  const lines: SummaryLine[] = [
    ["rows read", formatCount(rowsRead), formatRate(rowsRead, ms)],
    ["rows", formatCount(rows), `${((100 * rows) / Math.max(1, rowsRead)).toFixed(2)}%`],
    ...("exclusions" in summary ? budgetLines(summary) : []),
    ["roll-ups", formatCount(rollUps)],
    ["size", formatSize(bytes)],
  ];
  showRun(io, ms, { json: summary, lines }, isJson);
}

/** A list of what is held teaches nothing: the map is the one that is made without it. JSON has `prior.misses`. */
function warnOfNoMisses(io: Io, path: string | undefined, summary: Summary): void {
  if (path === undefined || !("prior" in summary)) return;
  if (summary.rollUps === 0 || summary.prior.misses > 0) return;
  io.stderr.write(
    `mementomap: warning: ${path}: the map holds everything that is listed, so nothing was learnt from it\n`,
  );
}

function budgetLines(summary: BudgetFileSummary): SummaryLine[] {
  const { exclusions, gzipBytes } = summary;
  return [
    ...(exclusions > 0 ? [["exclusions", formatCount(exclusions)] as const] : []),
    ...(gzipBytes === undefined ? [] : [["after gzip", formatSize(gzipBytes)] as const]),
  ];
}
