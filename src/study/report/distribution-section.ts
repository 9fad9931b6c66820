import type { Analysis, SubTreeRow } from "../analyze/analysis.ts";
import type { CurvePoint } from "../analyze/histogram.ts";
import { decimal, htmlTable, numbers, share, texts, whole } from "./table.ts";
import { figureHtml, lineChart, type Series } from "./charts.ts";
import { percent, shortPercent } from "./number-format.ts";
import type { PageSection } from "./page.ts";
import { card, grid } from "./page.ts";

/** How captures spread over originals: the paper's table, growth curve and Gini figure. */
export function distributionSection(analysis: Analysis): PageSection {
  const { gini, paretoShare, concentration, lorenz } = analysis.distribution;
  const [few, most] = [percent(paretoShare, 0), percent(1 - paretoShare, 0)];
  return {
    id: "distribution",
    title: "Distribution",
    text: "How evenly captures are spread over originals. If all had the same number, both curves would be straight.",
    content: [
      grid(
        shareFigure({
          id: "concentration",
          title: "Mementos by popularity of originals",
          caption: `The ${few} % of originals with the most mementos hold ${most} % of all (the Pareto break point).`,
          x: "originals, most archived first (%)",
          points: concentration,
          reference: {
            name: "break line",
            points: [
              { x: 0, y: 1 },
              { x: 1, y: 0 },
            ],
          },
        }),
        shareFigure({
          id: "lorenz",
          title: "Lorenz curve",
          caption: `The Gini coefficient is ${gini.toFixed(2)}: the area between the curve and the line of equality, doubled.`,
          x: "originals, least archived first (%)",
          points: lorenz,
          reference: {
            name: "equality",
            points: [
              { x: 0, y: 0 },
              { x: 1, y: 1 },
            ],
          },
        }),
      ),
      grid(card(summaryTable(analysis)), card(topOriginals(analysis))),
    ].join("\n"),
  };
}

function shareFigure(figure: {
  id: string;
  title: string;
  caption: string;
  x: string;
  points: readonly CurvePoint[];
  reference: Pick<Series, "name" | "points">;
}): string {
  const { id, title, caption, points, reference } = figure;
  const text = shortPercent;
  return figureHtml({
    id,
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
      x: { name: figure.x, text },
      y: { name: "mementos (%)", text, max: 1 },
      series: [
        { name: "mementos", points },
        { ...reference, style: "dashed", color: 7 },
      ],
    }),
    columns: [numbers("Originals %"), numbers("Mementos %")],
    rows: points.map(({ x, y }) => [share(x, 3), share(y, 3)]),
  });
}

function summaryTable({ distribution }: Analysis): string {
  const { count, sum, max, median, mean, standardDeviation, gini, paretoShare } = distribution;
  return htmlTable({
    id: "distribution-table",
    caption: "Mementos over originals",
    columns: [texts("Attribute"), numbers("Value")],
    rows: [
      ["Unique originals (URI-R)", whole(count)],
      ["Mementos (URI-M)", whole(sum)],
      ["Most mementos of one original", whole(max)],
      ["Median", decimal(median, Number.isInteger(median) ? 0 : 1)],
      ["Mean (γ)", decimal(mean)],
      ["Standard deviation", decimal(standardDeviation)],
      ["Gini coefficient", decimal(gini)],
      [
        "Pareto break point",
        { value: paretoShare, text: `${percent(1 - paretoShare, 0)}/${percent(paretoShare, 0)}` },
      ],
    ],
  });
}

function topOriginals({ top }: Analysis): string {
  return htmlTable({
    id: "top-originals",
    caption: "Most archived originals",
    columns: [texts("SURT"), numbers("Mementos")],
    rows: top.originals.map(({ surt, mementos }) => [surt, whole(mementos)]),
  });
}

/** Where captures are: hosts, domains, paths, and those out of proportion. */
export function placesSection({ top, tlds }: Analysis): PageSection {
  const tldRows = [...tlds.rows, tlds.ipAddresses, tlds.other]
    .filter(({ mementos }) => mementos > 0)
    .map(({ tld, originals, mementos, originalShare, mementoShare }) => [
      tld,
      whole(originals),
      whole(mementos),
      share(originalShare, 3),
      share(mementoShare, 3),
    ]);
  return {
    id: "places",
    title: "Places",
    text:
      "Which domains, hosts and paths hold the most, and which were captured out of proportion: a " +
      "host whose mementos are mostly of one original is often a trap, such as a blank image.",
    content: [
      grid(
        card(
          htmlTable({
            id: "tlds",
            caption: "Top-level domains",
            columns: [
              texts("TLD"),
              numbers("Originals"),
              numbers("Mementos"),
              numbers("Orig. %"),
              numbers("Mem. %"),
            ],
            rows: tldRows,
          }),
        ),
        card(
          subTrees(
            "biases",
            "Out of proportion: captures beyond the archive’s mean",
            top.biases,
            true,
          ),
        ),
      ),
      grid(
        card(subTrees("hosts", "Most archived hosts", top.hosts)),
        card(subTrees("domains", "Most archived domains of several hosts", top.domains)),
      ),
      card(subTrees("paths", "Most archived paths of several keys", top.paths)),
    ].join("\n"),
  };
}

function subTrees(
  id: string,
  caption: string,
  rows: readonly SubTreeRow[],
  showsExcess: boolean = false,
): string {
  return htmlTable({
    id: `top-${id}`,
    caption,
    columns: [
      texts("Sub-tree"),
      ...(showsExcess ? [numbers("Excess", "Mementos beyond originals × the archive’s γ")] : []),
      numbers("Mementos"),
      numbers("Originals"),
      numbers("γ", "Mementos per original"),
      numbers("Largest %", "Share of the mementos that its most archived original has"),
    ],
    rows: rows.map(({ name, excess, mementos, originals, gamma, largestShare }) => [
      name,
      ...(showsExcess ? [whole(excess)] : []),
      whole(mementos),
      whole(originals),
      decimal(gamma),
      share(largestShare, 1),
    ]),
  });
}
