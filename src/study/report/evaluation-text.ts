import type { AnswerCounts, Evaluation, TruthSummary } from "../evaluate/evaluation.ts";
import { percent, shortNumber, wholeNumber } from "./number-format.ts";
import { TEXT_WIDTH, type TextTable, textTableLines, wrapped } from "./table.ts";

/** What maps cost and how well they answer, in at most 80 columns. */
export function evaluationText(evaluations: readonly Evaluation[], truth: TruthSummary): string {
  const hasUris = evaluations.some(({ uris }) => uris !== null);
  const hasFreshness = evaluations.some(({ freshness }) => freshness !== null);
  const columns = [
    "map",
    "lines",
    "cost %",
    "gzip",
    "keys",
    ...(hasUris ? ["URIs"] : []),
    "hosts",
    "recall",
    ...(hasFreshness ? ["fresh"] : []),
  ];
  const rows = evaluations.map((row) => [
    row.map,
    row.lines === null ? "-" : wholeNumber(row.lines),
    row.relativeCost === null ? "-" : percent(row.relativeCost),
    wholeNumber(row.gzipBytes),
    shareText(row.keyAccuracy),
    ...(hasUris ? [shareText(row.uriAccuracy)] : []),
    shareText(row.heldHosts.keys.accuracy),
    // Never rounded up: what is lost must be seen.
    row.recall === 1 ? "1" : (Math.floor(row.recall * 1e4) / 1e4).toFixed(4),
    ...(hasFreshness ? [shareText(row.freshness)] : []),
  ]);
  const tables: TextTable[] = [
    { title: "Cost and accuracy of maps", columns, rows },
    ...evaluations.flatMap((row) => (row.asOf === undefined ? [] : [freshnessTable(row)])),
  ];
  const text = tables.map((table) => textTableLines(table).join("\n")).join("\n\n");
  return `${text}\n\n${legend(evaluations, truth).join("\n")}\n`;
}

/** What the table is about: how much was asked, and what is divided by what. */
export function legend(evaluations: readonly Evaluation[], truth: TruthSummary): string[] {
  const [first] = evaluations;
  if (first === undefined) return [];
  const { uris, heldHosts, asOf } = first;
  const lines = [
    `lookups: ${wholeNumber(first.lookups)} keys, ${heldText(first)} of them held, ${wholeNumber(heldHosts.keys.lookups)} on held hosts`,
    ...(uris === null
      ? [`no accuracy of URIs: ${truth.noUris ?? "nothing was asked for"}`]
      : [`lookups: ${wholeNumber(uris.lookups)} URIs, ${heldText(uris)} of them held`]),
    "keys, URIs: the share of right answers by key, without query, and by URI",
    "hosts: the share of right answers to keys whose host is held",
    `cost: lines for each of ${wholeNumber(first.costDivisor)} ${first.costBasis}; gzip in bytes`,
    ...(first.freshness === null
      ? []
      : [
          asOf === undefined
            ? "fresh: the share of the keys of --future, not held yet, that is called present"
            : "fresh: the share of originals first captured later that is called present",
        ]),
  ];
  return lines.flatMap((line) => wrapped(line, TEXT_WIDTH));
}

/** How many of the lookups are held. */
function heldText({ truePositives, falseNegatives }: AnswerCounts): string {
  return wholeNumber(truePositives + falseNegatives);
}

/** What a map made as of a date says of the time after it. */
function freshnessTable({ map, asOf }: Evaluation): TextTable {
  const periods = asOf === undefined ? [] : [...asOf.periods, { period: "all", ...asOf }];
  return {
    title: `Captured after ${asOf?.date ?? ""}: ${map}`,
    columns: ["period", "captures", "present %", "new originals", "present %"],
    rows: periods.map((row) => [
      row.period,
      wholeNumber(row.captures),
      percentOf(row.capturesPresent, row.captures),
      wholeNumber(row.newOriginals),
      percentOf(row.newOriginalsPresent, row.newOriginals),
    ]),
  };
}

function percentOf(part: number, all: number): string {
  return all === 0 ? "-" : percent(part / all);
}

/** A share with four decimals, or `-` where there is none. */
function shareText(share: number | null): string {
  return share === null ? "-" : share.toFixed(4);
}

const COLUMNS = ["map", "input", "lines", "size", "gzip", "rollups", "sec", "cost %", "keys"];

/**
 * The paper's table of compaction, 36 maps made one of the other below their base, in at most 80
 * columns. Counts are exact where there is room for them.
 */
export function sweepText(
  base: Evaluation,
  evaluations: readonly Evaluation[],
  truth: TruthSummary,
): string {
  const exact = sweepTable(base, evaluations, wholeNumber);
  const isWide = textTableWidth(exact) > TEXT_WIDTH;
  const table = isWide ? sweepTable(base, evaluations, shortNumber) : exact;
  const remarks = [
    "map, input: weights of hosts and paths, as Wh/Wp; each map is made of its input",
    ...legend(evaluations, truth),
  ];
  return `${textTableLines(table).join("\n")}\n\n${remarks.join("\n")}\n`;
}

function sweepTable(
  base: Evaluation,
  evaluations: readonly Evaluation[],
  count: (value: number) => string,
): TextTable {
  const hasUris = base.uris !== null;
  const rows = [base, ...evaluations].map((row) => [
    row.made === undefined ? "base" : weights(row.made),
    row.made === undefined ? "-" : inputName(row.made.input),
    count(row.lines ?? 0),
    count(row.bytes),
    count(row.gzipBytes),
    row.made === undefined ? "-" : count(row.made.rollUps),
    row.made === undefined ? "-" : secondsText(row.made.seconds),
    percent(row.relativeCost ?? 0),
    accuracyText(row.keyAccuracy),
    ...(hasUris ? [accuracyText(row.uriAccuracy)] : []),
  ]);
  return {
    title: "Maps by weights, each made of its input (size and gzip in bytes)",
    columns: hasUris ? [...COLUMNS, "URIs"] : COLUMNS,
    rows,
  };
}

/** How wide a table would be if nothing of it were cut. */
function textTableWidth({ columns, rows }: TextTable): number {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => row[i].length)),
  );
  return widths.reduce((sum, width) => sum + width + 2, -2);
}

function weights({ hostWeight, pathWeight }: { hostWeight: number; pathWeight: number }): string {
  return `${hostWeight}/${pathWeight}`;
}

/** `4/2` for `H4.00P2.00`, and `base` for what all are made of. */
function inputName(input: string): string {
  const [, host, path] = /^H([\d.]+)P([\d.]+)$/.exec(input) ?? [];
  if (host === undefined || path === undefined) return "base";
  return weights({ hostWeight: Number(host), pathWeight: Number(path) });
}

function secondsText(seconds: number): string {
  return seconds.toFixed(seconds < 100 ? 2 : 0);
}

function accuracyText(accuracy: number | null): string {
  return accuracy === null ? "-" : accuracy.toFixed(3);
}
