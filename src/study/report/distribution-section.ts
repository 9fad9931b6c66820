import type { Analysis } from "../analyze/analysis.ts";
import type { CurvePoint } from "../analyze/histogram.ts";
import {
  biasTable,
  distributionTable,
  domainTable,
  hostTable,
  originalTable,
  pathTable,
  tldTable,
} from "./analysis-tables.ts";
import { figureHtml, lineChart, type Series } from "./charts.ts";
import { htmlTable, numbers, share } from "./table.ts";
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
      grid(card(htmlTable(distributionTable(analysis))), card(htmlTable(originalTable(analysis)))),
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
  return figureHtml<CurvePoint>({
    id,
    title,
    caption,
    drawing: lineChart({
      x: { name: figure.x, text },
      y: { name: "mementos (%)", text, max: 1 },
      series: [
        { name: "mementos", points },
        { ...reference, style: "dashed", color: 7 },
      ],
    }),
    columns: [
      numbers("Originals %", ({ x }) => share(x, 3)),
      numbers("Mementos %", ({ y }) => share(y, 3)),
    ],
    rows: points,
  });
}

/** Where captures are: hosts, domains, paths, and those out of proportion. */
export function placesSection(analysis: Analysis): PageSection {
  return {
    id: "places",
    title: "Places",
    text:
      "Which domains, hosts and paths hold the most, and which were captured out of proportion: a " +
      "host whose mementos are mostly of one original is often a trap, such as a blank image.",
    content: [
      grid(card(htmlTable(tldTable(analysis))), card(htmlTable(biasTable(analysis)))),
      grid(card(htmlTable(hostTable(analysis))), card(htmlTable(domainTable(analysis)))),
      card(htmlTable(pathTable(analysis))),
    ].join("\n"),
  };
}
