import type { Analysis } from "../analyze/analysis.ts";
import { escapeHtml } from "../../page/html.ts";
import {
  biasTable,
  distributionTable,
  domainTable,
  hostTable,
  mimeTable,
  originalTable,
  pathQueryTable,
  pathTable,
  tldTable,
} from "./analysis-tables.ts";
import { NEUTRAL } from "../../page/chart/drawing.ts";
import { lineChart } from "../../page/chart/line-chart.ts";
import { figureHtml, heatFigure } from "./figure.ts";
import { growthSection } from "./growth-section.ts";
import {
  dateOf,
  percent,
  shortAmount,
  shortNumber,
  shortPercent,
  wholeNumber,
} from "../../page/text-format.ts";
import {
  card,
  countTile,
  grid,
  pageHtml,
  type PageSection,
  type RunRecord,
  type Tile,
} from "./page.ts";
import { countColumns, numbers, share, texts, whole } from "./table.ts";
import { reductionSection, treeSection } from "./tree-section.ts";
import type { CurvePoint } from "../analyze/histogram.ts";

interface ReportNames {
  readonly title: string;
  readonly run: RunRecord;
}

export function analysisPage(analysis: Analysis, { title, run }: ReportNames): string {
  return pageHtml({
    title,
    lead: lead(analysis),
    tiles: tiles(analysis),
    sections: [
      growthSection(analysis),
      distributionSection(analysis),
      placesSection(analysis),
      treeSection(analysis),
      reductionSection(analysis),
      contentSection(analysis),
      faultSection(analysis),
      methodSection(analysis),
    ],
    data: { ...analysis, run },
    dataName: "analysis.json",
    run,
  });
}

function lead({ index, distribution, tlds }: Analysis): string {
  if (index.mementos === 0) return "There is no capture in the index.";
  const [first] = tlds.rows;
  const place =
    first === undefined
      ? ""
      : ` ${percent(first.mementoShare, 0)} % of the mementos are under .${first.tld}.`;
  const [from, to] = [dateOf(index.first), dateOf(index.last)];
  const when =
    from === "" ? "" : from === to ? `, captured on ${from}` : `, captured from ${from} to ${to}`;
  return `${shortAmount(index.mementos, "memento")} of ${shortAmount(index.originals, "original")} on ${shortAmount(index.hosts, "host")}${when}. An original has ${distribution.mean.toFixed(2)} mementos on average.${place}`;
}

function tiles({ index, distribution, years }: Analysis): Tile[] {
  const [from, to] = [index.first.slice(0, 4), index.last.slice(0, 4)];
  const span = from === "" ? "-" : from === to ? from : `${from}–${to}`;
  const { paretoShare, gini, mean } = distribution;
  return [
    countTile("Mementos", index.mementos),
    countTile("Originals", index.originals),
    countTile("Keys (HxPx)", index.keys),
    {
      name: "Hosts",
      value: shortNumber(index.hosts),
      remark: `${wholeNumber(index.ipAddresses)} IP addresses`,
    },
    { name: "Coverage", value: span, remark: `${shortAmount(years.length, "year")} with captures` },
    {
      name: "Mementos per original (γ)",
      value: mean.toFixed(2),
      remark: `Gini ${gini.toFixed(2)}, Pareto ${percent(1 - paretoShare, 0)}/${percent(paretoShare, 0)}`,
    },
  ];
}

function methodSection({ index, method }: Analysis): PageSection {
  const { lines } = index;
  const left = Object.entries(lines.filtered).filter(([, count]) => count > 0);
  const rows: [string, number | null][] = [
    ["Files", index.files],
    ["Bytes of the index files", index.storedBytes],
    ["Lines", lines.lines],
    ["Headers and blank lines", lines.headers + lines.blank],
    ["Records not of the web", lines.nonWeb],
    ["Lines that show nothing", lines.unproven],
    ...left.map(([reason, count]): [string, number] => [`Left out by ${reason}`, count]),
    ["Bad lines", lines.bad],
    ["Mementos", index.mementos],
  ];
  const notes = method.notes.map((note) => `<li>${escapeHtml(note)}</li>`);
  return {
    id: "method",
    title: "Method",
    text: "What was read, and how far the numbers can be trusted.",
    content: card(
      {
        id: "method-table",
        title: "What was read",
        columns: countColumns("What", "Count"),
        rows: rows.flatMap(([name, count]) => (count === null ? [] : [[name, count] as const])),
      },
      `<ul>${notes.join("")}</ul>`,
    ),
  };
}

/** What captures are: types, statuses, paths and queries, and pages drawn at random. */
function contentSection(analysis: Analysis): PageSection {
  const { captures } = analysis;
  return {
    id: "content",
    title: "Content",
    text: "What was captured: types and status codes, the form of addresses, and pages drawn at random.",
    content: [
      grid(
        heatFigure(mimeTable(analysis), {
          caption:
            "Groups as in cdx-summary. “None” is a record without status code, such as a revisit.",
          columnName: "status",
          showsNumbers: true,
        }),
        heatFigure(pathQueryTable(analysis), {
          caption: "P2 × Q1: addresses with two path segments and one query parameter.",
          columnName: "query",
          showsNumbers: true,
        }),
      ),
      grid(
        card({
          id: "mime-types",
          title: "MIME types",
          columns: countColumns("MIME type", "Mementos"),
          rows: captures.mimeTypes.map(({ mime, count }) => [mime, count] as const),
        }),
        card({
          id: "status-codes",
          title: "Status codes",
          columns: countColumns("Status", "Mementos"),
          rows: captures.statusCodes.map(({ status, count }) => [status, count] as const),
        }),
      ),
      card<{ datetime: string; uri: string }>({
        id: "samples",
        title: "Pages drawn at random (200, HTML)",
        columns: [texts("Captured", (row) => dateOf(row.datetime)), texts("URI", (row) => row.uri)],
        rows: captures.samples,
      }),
    ].join("\n"),
  };
}

/** What is malformed, counted, with examples; and how the numbers came about. */
function faultSection({ malformed, index }: Analysis): PageSection {
  const { mimeTypes, statusCodes } = malformed;
  const values = [
    ...mimeTypes.examples.map((example) => ({ column: "MIME type", ...example })),
    ...statusCodes.examples.map((example) => ({ column: "status code", ...example })),
  ];
  const faults = [
    ...malformed.datetimes.map((fault) => ({ what: "datetime", ...fault })),
    ...malformed.uris.map((fault) => ({ what: "URI", ...fault })),
    ...malformed.lines.map((fault) => ({ what: "line", ...fault })),
  ];
  const total =
    mimeTypes.count + statusCodes.count + faults.reduce((sum, { count }) => sum + count, 0);
  return {
    id: "faults",
    title: "Malformed records",
    text:
      total === 0
        ? "No malformed MIME type, status code, datetime, URI or line was met."
        : `Archives are messy. Lines that could not be read: ${wholeNumber(index.lines.bad)}. These values are not what their column should hold.`,
    content: [
      values.length === 0
        ? ""
        : card<(typeof values)[number]>({
            id: "malformed-values",
            title: `Malformed MIME types (${wholeNumber(mimeTypes.count)} captures) and status codes (${wholeNumber(statusCodes.count)})`,
            columns: [
              texts("Column", (row) => row.column),
              texts("Value", (row) => row.value),
              numbers("Captures", (row) => whole(row.count)),
            ],
            rows: values,
          }),
      faults.length === 0
        ? ""
        : card<(typeof faults)[number]>({
            id: "malformed-other",
            title: "Malformed datetimes, URIs and lines",
            columns: [
              texts("What", (row) => row.what),
              texts("Fault", (row) => row.fault),
              numbers("Count", (row) => whole(row.count)),
              texts("Examples", (row) => row.examples.slice(0, 3).join("  ·  ")),
            ],
            rows: faults,
          }),
    ].join("\n"),
  };
}

/** How captures spread over originals: the paper's table, growth curve and Gini figure. */
function distributionSection(analysis: Analysis): PageSection {
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
          reference: { name: "break line", from: 1, to: 0 },
        }),
        shareFigure({
          id: "lorenz",
          title: "Lorenz curve",
          caption: `The Gini coefficient is ${gini.toFixed(2)}: the area between the curve and the line of equality, doubled.`,
          x: "originals, least archived first (%)",
          points: lorenz,
          reference: { name: "equality", from: 0, to: 1 },
        }),
      ),
      grid(card(distributionTable(analysis)), card(originalTable(analysis))),
    ].join("\n"),
  };
}

function shareFigure(figure: {
  id: string;
  title: string;
  caption: string;
  x: string;
  points: readonly CurvePoint[];
  /** A straight line over the whole width. */
  reference: { name: string; from: number; to: number };
}): string {
  const { id, title, caption, points, reference } = figure;
  const { name, from, to } = reference;
  const ends = [from, to].map((y, x) => ({ x, y }));
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
        { name, points: ends, style: "dashed", color: NEUTRAL },
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
function placesSection(analysis: Analysis): PageSection {
  return {
    id: "places",
    title: "Places",
    text:
      "Which domains, hosts and paths hold the most, and which were captured out of proportion: a " +
      "host whose mementos are mostly of one original is often a trap, such as a blank image.",
    content: [
      grid(card(tldTable(analysis)), card(biasTable(analysis))),
      grid(card(hostTable(analysis)), card(domainTable(analysis))),
      card(pathTable(analysis)),
    ].join("\n"),
  };
}
