import { formatBytes, formatCount, formatRate } from "../../format.ts";
import { stat } from "node:fs/promises";
import { type PowerLaw, WEIGHT_DEFAULTS, WeightPolicy } from "../../compact/weight-policy.ts";
import { quote } from "../../errors.ts";
import { compactFile, type CompactFileSummary } from "../../compact/compact-files.ts";
import type { BudgetFileSummary } from "../../compact/budget-files.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import {
  FORCE_OPTION,
  inputsOf,
  MISSES_OPTIONS,
  misuse,
  option,
  parseDecimal,
  TMP_OPTION,
} from "../common/options.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { type SummaryLine, warnSkippedLines } from "../common/messages.ts";

const { hostPower, pathPower } = WEIGHT_DEFAULTS;

export const command: Command = defineCommand({
  name: "compact",
  usage: "[MAP] [-o MAP]",
  description: `
Rolls up hosts and folders into one row with a wildcard, com,example)/news/*. A
smaller map reports more originals as present that are not held; it never
reports a held original as absent. A compacted map can be compacted further.

With --max-lines, --max-bytes or --relative-cost, the result is the map of that
size with the fewest expected wrong answers. The lookups are predicted from the
map itself, or more accurately with --misses: a chronological list of URIs that
were looked up but not held, or a MemGator log, of which the misses of one
archive are used. Exclusions (rows with 0) are added where the misses show that
they pay off.

Without a size, a host or folder is rolled up if it has more children than

    weight * A * depth^-K

as in the paper. A and K describe the average number of children of a node by
depth; the defaults are the paper's, and fit measures yours. Exclusions (rows
with 0) are kept if they cover nothing that is held.

The map must be complete: a single page is rejected (MM_PAGE); merge the pages
first. The output may be the map itself, which is replaced when the new one is
complete. A map that is compressed or comes from standard input is first written
to scratch space (--tmp).`,
  options: {
    output: { short: "o", value: "MAP", help: "Write here; .gz compresses." },
    "host-weight": {
      value: "W",
      help: `Allowed children of a host, as a multiple of the mean; inf: any. Default: ${WEIGHT_DEFAULTS.hostWeight}.`,
      parse: parseWeight,
    },
    "path-weight": {
      value: "W",
      help: `The same for folders. Default: ${WEIGHT_DEFAULTS.pathWeight}.`,
      parse: parseWeight,
    },
    "host-power": {
      value: "A,K",
      help: `Mean number of subdomains by depth. Default: ${hostPower.a},${hostPower.k}.`,
      parse: parsePower,
    },
    "path-power": {
      value: "A,K",
      help: `Mean number of path children by depth. Default: ${pathPower.a},${pathPower.k}.`,
      parse: parsePower,
    },
    "max-host-depth": option.count(
      `Number of labels to distinguish. Default: ${WEIGHT_DEFAULTS.maxHostDepth}.`,
    ),
    "max-path-depth": option.count(
      `Number of path levels to distinguish. Default: ${WEIGHT_DEFAULTS.maxPathDepth}.`,
    ),
    "max-lines": option.count("At most this many lines, including headers."),
    "max-bytes": option.size("At most this large after gzip, such as 200k."),
    "relative-cost": option.share("At most this many lines per row of MAP, such as 1.5%."),
    "original-count": option.count("Relative to this many originals instead of rows."),
    ...MISSES_OPTIONS,
    "no-exclusions": { help: "Do not add rows with 0." },
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
  files: ({ positionals, values: { output, misses } }) => {
    const maps = inputsOf(positionals);
    if (maps.length > 1) throw misuse("compact takes one map; merge makes one of several");
    return { reads: { maps, misses }, writes: [{ path: output, kind: "map", replaces: maps }] };
  },
  async run({ positionals, values }, io) {
    const [path] = inputsOf(positionals);
    const { output, misses, archive, tmp, force } = values;
    const budget = {
      maxLines: values["max-lines"],
      maxBytes: values["max-bytes"],
      relativeCost: values["relative-cost"],
      originals: values["original-count"],
    };
    const hasBudget = (budget.maxLines ?? budget.maxBytes ?? budget.relativeCost) !== undefined;
    const weights = {
      hostWeight: values["host-weight"],
      pathWeight: values["path-weight"],
      hostPower: values["host-power"],
      pathPower: values["path-power"],
      maxHostDepth: values["max-host-depth"],
      maxPathDepth: values["max-path-depth"],
    };
    if (!hasBudget && (misses !== undefined || values["no-exclusions"])) {
      throw misuse("--misses requires --max-lines, --max-bytes or --relative-cost");
    }
    if (budget.originals !== undefined && budget.relativeCost === undefined) {
      throw misuse("--original-count requires --relative-cost");
    }
    if (hasBudget && Object.values(weights).some((weight) => weight !== undefined)) {
      throw misuse("use either weights (--host-weight …) or a target size (--max-lines …)");
    }
    void new WeightPolicy(weights); // throws before any work is done
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    const startedAt = io.now();
    // A budget takes two passes.
    const progress = io.progress("compacting", stats && stats.size * (hasBudget ? 2 : 1));
    const common = {
      scratch: tmp,
      streams: io,
      onRead: (bytes: number): void => progress.add(bytes),
    };
    const making = withMapOutput<Summary>(output, { ...io, tmp, force }, async (target) => {
      if (!hasBudget) {
        return compactFile(path, target, { ...common, weights, interrupt: io.interrupt });
      }
      // Loaded on demand: loading it takes longer than a plain roll-up.
      const { compactFileToBudget } = await import("../../compact/budget-files.ts");
      const allowsExclusions = !values["no-exclusions"];
      const options = { ...common, budget, misses, archive, allowsExclusions };
      return compactFileToBudget(path, target, options);
    });
    const summary = await making.finally(() => progress.end());
    const { rowsRead, rows, rollUps, bytes } = summary;
    if ("oddLines" in summary) warnSkippedLines(io, summary.oddLines);
    // If every listed URI is held, the list has no effect on the map.
    const hasMisses = misses !== undefined && "prior" in summary;
    if (hasMisses && rollUps > 0 && summary.prior.misses === 0) {
      io.warn(`${misses}: no effect, because the map holds every listed URI`);
    }
    return {
      summary: {
        json: summary,
        text: [
          ["rows read", formatCount(rowsRead), formatRate(rowsRead, io.now() - startedAt)],
          ["rows", formatCount(rows), `${((100 * rows) / Math.max(1, rowsRead)).toFixed(2)}%`],
          ...("exclusions" in summary ? budgetLines(summary) : []),
          ["roll-ups", formatCount(rollUps)],
          ["size", formatBytes(bytes)],
        ],
      },
    };
  },
});

type Summary = CompactFileSummary | BudgetFileSummary;

function budgetLines({ exclusions, gzipBytes }: BudgetFileSummary): SummaryLine[] {
  return [
    ...(exclusions > 0 ? [["exclusions", formatCount(exclusions)] as const] : []),
    ...(gzipBytes === undefined ? [] : [["after gzip", formatBytes(gzipBytes)] as const]),
  ];
}

function parseWeight(text: string): number {
  return /^(inf|infinity|∞)$/i.test(text) ? Number.POSITIVE_INFINITY : parseDecimal(text);
}

function parsePower(text: string): PowerLaw {
  const [a, k, more] = text.split(",");
  if (k !== undefined && more === undefined) return { a: parseDecimal(a), k: parseDecimal(k) };
  throw misuse(`not a power law A,K: ${quote(text)}; write 16.3,0.71`);
}
