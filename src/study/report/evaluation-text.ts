import type {
  AnswerCounts,
  AsOfFreshness,
  Evaluation,
  LaterCounts,
  TruthSummary,
} from "../evaluate/evaluation.ts";
import { shortNumber, TEXT_WIDTH, wholeNumber, wrapped } from "../../page/text-format.ts";
import type { Cell, Column, TextTable } from "./table.ts";
import { decimal, numbers, share, texts, textTable, textWidth, whole } from "./table.ts";

/** What maps cost and how well they answer, in at most 80 columns. */
export function evaluationText(evaluations: readonly Evaluation[], truth: TruthSummary): string {
  const hasUris = evaluations.some(({ uris }) => uris !== null);
  const hasFreshness = evaluations.some(({ freshness }) => freshness !== null);
  const tables = [
    textTable<Evaluation>({
      title: "Cost and accuracy of maps",
      columns: [
        texts("map", (row) => row.map),
        numbers("lines", (row) => whole(row.lines)),
        numbers("cost %", (row) => share(row.relativeCost)),
        numbers("gzip", (row) => whole(row.gzipBytes)),
        numbers("keys", (row) => decimal(row.keyAccuracy, 4)),
        numbers("URIs", (row) => decimal(row.uriAccuracy, 4), { isShown: hasUris }),
        numbers("hosts", (row) => decimal(row.heldHosts.keys.accuracy, 4)),
        // Never rounded up: what is lost must be seen.
        numbers("recall", ({ recall }) =>
          recall === 1 ? "1" : (Math.floor(recall * 1e4) / 1e4).toFixed(4),
        ),
        numbers("fresh", (row) => decimal(row.freshness, 4), { isShown: hasFreshness }),
      ],
      rows: evaluations,
    }),
    ...evaluations.flatMap(({ map, asOf }) => (asOf === undefined ? [] : [periodLines(map, asOf)])),
  ];
  const text = tables.map((lines) => lines.join("\n")).join("\n\n");
  return `${text}\n\n${legend(evaluations, truth).join("\n")}\n`;
}

/** What the table is about: how much was asked, and what is divided by what. */
function legend(evaluations: readonly Evaluation[], truth: TruthSummary): string[] {
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

function heldText({ truePositives, falseNegatives }: AnswerCounts): string {
  return wholeNumber(truePositives + falseNegatives);
}

export type PeriodRow = LaterCounts & { readonly period: string };

/** What a map made as of a date says of a period after it. */
export const PERIOD_COLUMNS: readonly Column<PeriodRow>[] = [
  texts("Period", (row) => row.period),
  numbers("Captures", (row) => whole(row.captures)),
  numbers("Present %", (row) => shareOf(row.capturesPresent, row.captures)),
  numbers("New originals", (row) => whole(row.newOriginals)),
  numbers("Present %", (row) => shareOf(row.newOriginalsPresent, row.newOriginals)),
];

function shareOf(part: number, all: number): Cell {
  return share(all === 0 ? null : part / all);
}

function periodLines(map: string, asOf: AsOfFreshness): string[] {
  return textTable({
    title: `Captured after ${asOf.date}: ${map}`,
    columns: PERIOD_COLUMNS,
    rows: asOf.periods,
    footer: [{ period: "all", ...asOf }],
  });
}

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
  const isWide = textWidth(exact) > TEXT_WIDTH;
  const table = isWide ? sweepTable(base, evaluations, shortNumber) : exact;
  const remarks = [
    "map, input: weights of hosts and paths, as Wh/Wp; each map is made of its input",
    ...legend(evaluations, truth),
  ];
  return `${textTable(table).join("\n")}\n\n${remarks.join("\n")}\n`;
}

function sweepTable(
  base: Evaluation,
  evaluations: readonly Evaluation[],
  count: (value: number) => string,
): TextTable<Evaluation> {
  return {
    title: "Maps by weights, each made of its input (size and gzip in bytes)",
    columns: [
      texts("map", ({ made }) => (made === undefined ? "base" : weights(made))),
      texts("input", ({ made }) => (made === undefined ? "-" : inputName(made.input))),
      numbers("lines", (row) => count(row.lines ?? 0)),
      numbers("size", (row) => count(row.bytes)),
      numbers("gzip", (row) => count(row.gzipBytes)),
      numbers("rollups", ({ made }) => (made === undefined ? "-" : count(made.rollUps))),
      numbers("sec", ({ made }) => decimal(made?.seconds, (made?.seconds ?? 0) < 100 ? 2 : 0)),
      numbers("cost %", (row) => share(row.relativeCost ?? 0)),
      numbers("keys", (row) => decimal(row.keyAccuracy, 3)),
      numbers("URIs", (row) => decimal(row.uriAccuracy, 3), { isShown: base.uris !== null }),
    ],
    rows: [base, ...evaluations],
  };
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
