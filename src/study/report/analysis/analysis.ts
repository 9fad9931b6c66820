import {
  formatAmount,
  formatCount,
  formatDate,
  formatPercent,
  shortPercent,
} from "../../../format.ts";
import { NEUTRAL } from "../../../page/chart/drawing.ts";
import { lineChart } from "../../../page/chart/line-chart.ts";
import type { Analysis, SubTreeRow, TldRow } from "../../analyze/analysis.ts";
import { STATUS_CLASSES } from "../../analyze/capture-tally.ts";
import type { CurvePoint } from "../../analyze/histogram.ts";
import {
  column,
  type Fact,
  factTable,
  heatFigure,
  type Report,
  type Section,
  type Table,
} from "../report.ts";
import { growthSection } from "./growth.ts";
import { reductionSection, treeSection } from "./tree.ts";

/** What an archive holds: the tables and figures of the paper and of cdx-summary. */
export function analysisReport(analysis: Analysis, title: string): Report {
  return {
    name: "analysis",
    title,
    lead: lead(analysis),
    facts: facts(analysis),
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
    data: analysis,
  };
}

function lead({ index, distribution, tlds }: Analysis): string {
  if (index.mementos === 0) return "There is no capture in the index.";
  const [first] = tlds.rows;
  const place =
    first === undefined
      ? ""
      : ` ${formatPercent(first.mementoShare, 0)} % of the mementos are under .${first.tld}.`;
  return `${formatAmount(index.mementos, "memento")} of ${formatAmount(index.originals, "original")} on ${formatAmount(index.hosts, "host")}${index.first === "" ? "" : `, captured ${coverage(index)}`}. An original has ${distribution.mean.toFixed(2)} mementos on average.${place}`;
}

function coverage({ first, last }: { readonly first: string; readonly last: string }): string {
  const [from, to] = [formatDate(first), formatDate(last)];
  return from === to ? `on ${from}` : `from ${from} to ${to}`;
}

function facts({ index, distribution, years }: Analysis): Fact[] {
  const { gini, paretoShare, mean } = distribution;
  const [from, to] = [formatDate(index.first), formatDate(index.last)];
  const few = formatPercent(paretoShare, 0);
  return [
    { name: "Mementos", unit: "count", value: index.mementos },
    { name: "Originals", unit: "count", value: index.originals },
    { name: "Keys (HxPx)", unit: "count", value: index.keys },
    {
      name: "Hosts",
      unit: "count",
      value: index.hosts,
      remark: `${formatCount(index.ipAddresses)} of them IP addresses`,
    },
    {
      name: "Coverage",
      unit: "text",
      value: from === "" ? null : from === to ? from : `${from} to ${to}`,
      remark: `${formatCount(years.length)} year${years.length === 1 ? "" : "s"} with captures`,
    },
    {
      name: "Mementos per original (γ)",
      unit: "number",
      value: mean,
      remark:
        index.mementos === 0
          ? undefined
          : `Gini ${gini.toFixed(2)}, Pareto ${formatPercent(1 - paretoShare, 0)}/${few}`,
    },
  ];
}

/** How captures spread over originals: the paper's table, growth curve and Gini figure. */
function distributionSection({ distribution, top }: Analysis): Section {
  const { gini, paretoShare, concentration, lorenz } = distribution;
  const [few, most] = [formatPercent(paretoShare, 0), formatPercent(1 - paretoShare, 0)];
  const originals: Table<Analysis["top"]["originals"][number]> = {
    id: "top-originals",
    title: "Most archived originals",
    columns: [
      column.text("SURT", ({ surt }) => surt),
      column.count("Mementos", ({ mementos }) => mementos),
    ],
    rows: top.originals,
  };
  return {
    id: "distribution",
    title: "Distribution",
    text: "How evenly captures are spread over originals. If all had the same number, both curves would be straight.",
    blocks: [
      [
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
      ],
      [
        factTable("distribution-table", "Mementos over originals", [
          { name: "Unique originals (URI-R)", unit: "count", value: distribution.count },
          { name: "Mementos (URI-M)", unit: "count", value: distribution.sum },
          { name: "Maximum of one original", unit: "count", value: distribution.max },
          { name: "Median", unit: "number", digits: 1, value: distribution.median },
          { name: "Mean (γ)", unit: "number", value: distribution.mean },
          { name: "Standard deviation", unit: "number", value: distribution.standardDeviation },
          { name: "Gini coefficient", unit: "number", value: gini },
          {
            name: "Originals up to the Pareto break point",
            unit: "share",
            digits: 0,
            value: distribution.count === 0 ? null : paretoShare,
          },
        ]),
        originals,
      ],
    ],
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
}): Table<CurvePoint> {
  const { id, title, caption, points, reference } = figure;
  const { name, from, to } = reference;
  const ends = [from, to].map((y, x) => ({ x, y }));
  const text = shortPercent;
  return {
    id,
    title,
    columns: [
      column.share("Originals", ({ x }) => x, { digits: 3 }),
      column.share("Mementos", ({ y }) => y, { digits: 3 }),
    ],
    rows: points,
    isLong: true,
    figure: {
      caption,
      draw: () =>
        lineChart({
          x: { name: figure.x, text },
          y: { name: "mementos (%)", text, max: 1 },
          series: [
            { name: "mementos", points },
            { name, points: ends, style: "dashed", color: NEUTRAL },
          ],
        }),
    },
  };
}

/** Where captures are: hosts, domains, paths, and those out of proportion. */
function placesSection({ tlds, top }: Analysis): Section {
  const tldTable: Table<TldRow> = {
    id: "tlds",
    title: "Top-level domains",
    columns: [
      column.text("TLD", ({ tld }) => tld),
      column.count("Originals", ({ originals }) => originals),
      column.count("Mementos", ({ mementos }) => mementos),
      column.share("Orig.", ({ originalShare }) => originalShare, { digits: 3 }),
      column.share("Mem.", ({ mementoShare }) => mementoShare, { digits: 3 }),
    ],
    rows: [...tlds.rows, tlds.ipAddresses, tlds.other].filter(({ mementos }) => mementos > 0),
  };
  const excess = column.count<SubTreeRow>("Excess", (row) => Math.round(row.excess), {
    help: "Mementos beyond originals × the archive’s γ",
  });
  return {
    id: "places",
    title: "Places",
    text:
      "Which domains, hosts and paths hold the most, and which were captured out of proportion: a " +
      "host whose mementos are mostly of one original is often a trap, such as a blank image.",
    blocks: [
      [
        tldTable,
        subTrees(
          "top-biases",
          "Captured beyond proportion: more than the archive’s mean γ",
          top.biases,
          excess,
        ),
      ],
      [
        subTrees("top-hosts", "Most archived hosts", top.hosts),
        subTrees("top-domains", "Most archived domains of several hosts", top.domains),
      ],
      subTrees("top-paths", "Most archived paths of several keys", top.paths),
    ],
  };
}

function subTrees(
  id: string,
  title: string,
  rows: readonly SubTreeRow[],
  excess?: ReturnType<typeof column.count<SubTreeRow>>,
): Table<SubTreeRow> {
  return {
    id,
    title,
    columns: [
      column.text("Sub-tree", ({ name }) => name),
      ...(excess === undefined ? [] : [excess]),
      column.count("Mementos", ({ mementos }) => mementos),
      column.count("Originals", ({ originals }) => originals),
      column.number("γ", ({ gamma }) => gamma, { help: "Mementos per original" }),
      column.share("Largest", ({ largestShare }) => largestShare, {
        digits: 1,
        help: "Share of the mementos that its most archived original has",
      }),
    ],
    rows,
  };
}

/** What captures are: types, statuses, paths and queries, and pages drawn at random. */
function contentSection({ captures }: Analysis): Section {
  const samples: Table<Analysis["captures"]["samples"][number]> = {
    id: "samples",
    title: "Random sample of pages (200, HTML)",
    columns: [
      column.text("Captured", ({ datetime }) => formatDate(datetime)),
      column.text("URI", ({ uri }) => uri),
    ],
    rows: captures.samples,
  };
  return {
    id: "content",
    title: "Content",
    text: "What was captured: types and status codes, the form of addresses, and pages drawn at random.",
    blocks: [
      [
        heatFigure({
          id: "mime-status",
          title: "Mementos by MIME group and status",
          caption:
            "Groups as in cdx-summary. “None” is a record without status code, such as a revisit.",
          corner: "MIME",
          columnName: "status",
          columns: STATUS_CLASSES,
          rows: captures.mimeStatus.map(({ group, counts: cells }) => ({ name: group, cells })),
          showsNumbers: true,
        }),
        heatFigure({
          id: "path-query",
          title: "Mementos by path segments and query parameters",
          caption: "P2 × Q1: addresses with two path segments and one query parameter.",
          corner: "Path",
          columnName: "query",
          columns: [0, 1, 2, 3, 4, 5].map((depth) => gridName("Q", depth)),
          rows: captures.pathQuery.map((cells, depth) => ({ name: gridName("P", depth), cells })),
          showsNumbers: true,
        }),
      ],
      [
        countTable(
          "mime-types",
          "MIME types",
          "MIME type",
          captures.mimeTypes.map(({ mime, count }) => ({ name: mime, count })),
        ),
        countTable(
          "status-codes",
          "Status codes",
          "Status",
          captures.statusCodes.map(({ status, count }) => ({ name: String(status), count })),
        ),
      ],
      samples,
    ],
  };
}

interface CountRow {
  readonly name: string;
  readonly count: number;
}

function countTable(
  id: string,
  title: string,
  name: string,
  rows: readonly CountRow[],
): Table<CountRow> {
  const columns = [
    column.text<CountRow>(name, (row) => row.name),
    column.count<CountRow>("Mementos", ({ count }) => count),
  ];
  return { id, title, columns, rows };
}

function gridName(layer: string, depth: number): string {
  return `${layer}${depth}${depth > 4 ? "+" : ""}`;
}

interface FaultRow {
  readonly what: string;
  readonly fault: string;
  readonly count: number;
  readonly examples: readonly string[];
}

/** What is malformed, counted, with examples. */
function faultSection({ malformed, index }: Analysis): Section {
  const { mimeTypes, statusCodes, datetimes, lines } = malformed;
  const values = [
    ...mimeTypes.examples.map((example) => ({ what: "MIME type", ...example })),
    ...statusCodes.examples.map((example) => ({ what: "status code", ...example })),
  ];
  const faults: FaultRow[] = [
    ...datetimes.map((fault) => ({ what: "datetime", ...fault })),
    ...lines.map((fault) => ({ what: "line", ...fault })),
  ];
  const total =
    mimeTypes.count + statusCodes.count + faults.reduce((sum, { count }) => sum + count, 0);
  const valueTable: Table<(typeof values)[number]> = {
    id: "malformed-values",
    title: `Malformed MIME types (${formatCount(mimeTypes.count)} captures) and status codes (${formatCount(statusCodes.count)})`,
    columns: [
      column.text("Value", ({ value }) => value),
      column.text("Column", ({ what }) => what),
      column.count("Captures", ({ count }) => count),
    ],
    rows: values,
  };
  const faultTable: Table<FaultRow> = {
    id: "malformed-other",
    title: "Malformed datetimes and lines",
    columns: [
      column.text("Fault", ({ fault }) => fault),
      column.text("What", ({ what }) => what),
      column.count("Count", ({ count }) => count),
      column.text("Examples", ({ examples }) => examples.slice(0, 3).join("  ·  ")),
    ],
    rows: faults,
  };
  return {
    id: "faults",
    title: "Malformed records",
    text:
      total === 0
        ? "No MIME type, status code, datetime or line is malformed."
        : `Archives are messy. Lines that could not be read: ${formatCount(index.lines.bad)}. Invalid values by column:`,
    blocks: [valueTable, faultTable],
  };
}

function methodSection({ index, method }: Analysis): Section {
  const { lines } = index;
  const filtered = Object.entries(lines.filtered).filter(([, count]) => count > 0);
  const rows: readonly (readonly [name: string, value: number | null])[] = [
    ["Files", index.files],
    ["Bytes of the index files", index.storedBytes],
    ["Lines", lines.lines],
    ["Headers and blank lines", lines.headers + lines.blank],
    ["Records not of the web", lines.nonWeb],
    ["Lines without captures", lines.unproven],
    ...filtered.map(([reason, count]) => [`Left out by ${reason}`, count] as const),
    ["Bad lines", lines.bad],
  ];
  const counts = rows.map(([name, value]): Fact => ({ name, value, unit: "count" }));
  return {
    id: "method",
    title: "Method",
    text: "What was read, and how far the numbers can be trusted.",
    blocks: [factTable("method-table", "What was read", counts), { notes: method.notes }],
  };
}
