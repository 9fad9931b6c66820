import {
  formatAmount,
  formatCount,
  formatDate,
  formatPercent,
  shortPercent,
} from "../../../format.ts";
import { NEUTRAL } from "../../../page/chart/drawing.ts";
import type { Analysis, SubTreeRow } from "../../analyze/analysis.ts";
import { STATUS_CLASSES } from "../../analyze/capture-tally.ts";
import type { CurvePoint } from "../../analyze/histogram.ts";
import { type FigureTexts, heatFigure, lineFigure } from "../figures.ts";
import {
  column,
  type Column,
  fact,
  type Fact,
  factTable,
  type Report,
  type Section,
  table,
  type Table,
} from "../report.ts";
import { growthSection } from "./growth.ts";
import { reductionSection, treeSection } from "./tree.ts";

/** The holdings of an archive: the tables and figures of the paper and of cdx-summary. */
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
  if (index.mementos === 0) return "The index has no captures.";
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
  const pareto = `${formatPercent(1 - paretoShare, 0)}/${formatPercent(paretoShare, 0)}`;
  return [
    fact("count", "Mementos", index.mementos),
    fact("count", "Originals", index.originals),
    fact("count", "Keys (HxPx)", index.keys),
    fact("count", "Hosts", index.hosts, {
      remark: `${formatCount(index.ipAddresses)} of them IP addresses`,
    }),
    fact("text", "Coverage", from === "" ? null : from === to ? from : `${from} to ${to}`, {
      remark: `${formatAmount(years.length, "year")} with captures`,
    }),
    fact("number", "Mementos per original (γ)", mean, {
      remark: index.mementos === 0 ? undefined : `Gini ${gini.toFixed(2)}, Pareto ${pareto}`,
    }),
  ];
}

/** The distribution of captures over originals: the paper's table, growth curve and Gini figure. */
function distributionSection({ distribution, top }: Analysis): Section {
  const { count, gini, paretoShare, concentration, lorenz } = distribution;
  const [few, most] = [formatPercent(paretoShare, 0), formatPercent(1 - paretoShare, 0)];
  const breakPoint = count === 0 ? null : paretoShare;
  return {
    id: "distribution",
    title: "Distribution",
    text: "The distribution of captures over originals. If all had the same number, both curves would be straight.",
    blocks: [
      [
        shareFigure(
          {
            id: "concentration",
            title: "Mementos by popularity of originals",
            caption: `The ${few} % of originals with the most mementos hold ${most} % of all (the Pareto break point).`,
          },
          "originals, most archived first (%)",
          concentration,
          { line: "break line", from: 1 },
        ),
        shareFigure(
          {
            id: "lorenz",
            title: "Lorenz curve",
            caption: `The Gini coefficient is ${gini.toFixed(2)}: the area between the curve and the line of equality, doubled.`,
          },
          "originals, least archived first (%)",
          lorenz,
          { line: "equality", from: 0 },
        ),
      ],
      [
        factTable("distribution-table", "Mementos over originals", [
          fact("count", "Unique originals (URI-R)", count),
          fact("count", "Mementos (URI-M)", distribution.sum),
          fact("count", "Maximum of one original", distribution.max),
          fact("number", "Median", distribution.median, { digits: 1 }),
          fact("number", "Mean (γ)", distribution.mean),
          fact("number", "Standard deviation", distribution.standardDeviation),
          fact("number", "Gini coefficient", gini),
          fact("share", "Originals up to the Pareto break point", breakPoint, { digits: 0 }),
        ]),
        countTable(
          "top-originals",
          "Most archived originals",
          "SURT",
          top.originals.map(({ surt, mementos }) => [surt, mementos]),
        ),
      ],
    ],
  };
}

/** A curve of shares, and a straight line over the whole width that begins at `from`. */
function shareFigure(
  texts: FigureTexts,
  x: string,
  points: readonly CurvePoint[],
  { line, from }: { line: string; from: 0 | 1 },
): Table<CurvePoint> {
  const ends = [
    { x: 0, y: from },
    { x: 1, y: 1 - from },
  ];
  return lineFigure<CurvePoint>({
    ...texts,
    columns: [
      column.share("Originals", (point) => point.x, 3),
      column.share("Mementos", (point) => point.y, 3),
    ],
    rows: points,
    x: { name: x, text: shortPercent },
    y: { name: "mementos (%)", text: shortPercent, max: 1 },
    series: [
      { name: "mementos", points },
      { name: line, points: ends, style: "dashed", color: NEUTRAL },
    ],
  });
}

/** Captures by host, domain and path, and disproportionate ones. */
function placesSection({ tlds, top }: Analysis): Section {
  const rows = [...tlds.rows, tlds.ipAddresses, tlds.other].filter(({ mementos }) => mementos > 0);
  const tldTable = table("tlds", "Top-level domains", rows, [
    column.text("TLD", ({ tld }) => tld),
    column.count("Originals", ({ originals }) => originals),
    column.count("Mementos", ({ mementos }) => mementos),
    column.share("Orig.", ({ originalShare }) => originalShare, 3),
    column.share("Mem.", ({ mementoShare }) => mementoShare, 3),
  ]);
  const excess = column.count<SubTreeRow>(
    "Excess",
    (row) => Math.round(row.excess),
    "Mementos beyond originals × the archive’s γ",
  );
  return {
    id: "places",
    title: "Places",
    text:
      "The largest domains, hosts and paths, and disproportionately captured ones: a host whose " +
      "mementos are mostly of one original is often a crawler trap, such as a blank image.",
    blocks: [
      [
        tldTable,
        subTrees(
          "top-biases",
          "Captured disproportionately: more than the archive’s mean γ",
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
  excess?: Column<SubTreeRow>,
): Table<SubTreeRow> {
  return table(id, title, rows, [
    column.text("Sub-tree", ({ name }) => name),
    ...(excess === undefined ? [] : [excess]),
    column.count("Mementos", ({ mementos }) => mementos),
    column.count("Originals", ({ originals }) => originals),
    column.number("γ", ({ gamma }) => gamma, "Mementos per original"),
    column.share("Largest", ({ largestShare }) => largestShare, {
      digits: 1,
      help: "Share of its mementos that are of its most archived original",
    }),
  ]);
}

/** Types, statuses, paths and queries of captures, and a random sample of pages. */
function contentSection({ captures }: Analysis): Section {
  const samples = table("samples", "Random sample of pages (200, HTML)", captures.samples, [
    column.text("Captured", ({ datetime }) => formatDate(datetime)),
    column.text("URI", ({ uri }) => uri),
  ]);
  return {
    id: "content",
    title: "Content",
    text: "Types and status codes of captures, the form of URLs, and a random sample of pages.",
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
          caption: "P2 × Q1: URLs with two path segments and one query parameter.",
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
          captures.mimeTypes.map(({ mime, count }) => [mime, count]),
        ),
        countTable(
          "status-codes",
          "Status codes",
          "Status",
          captures.statusCodes.map(({ status, count }) => [String(status), count]),
        ),
      ],
      samples,
    ],
  };
}

/** A table of values with their numbers of mementos. */
function countTable(
  id: string,
  title: string,
  name: string,
  rows: readonly (readonly [name: string, mementos: number])[],
): Table<(typeof rows)[number]> {
  return table(id, title, rows, [
    column.text(name, ([text]) => text),
    column.count("Mementos", ([, mementos]) => mementos),
  ]);
}

function gridName(layer: string, depth: number): string {
  return `${layer}${depth}${depth > 4 ? "+" : ""}`;
}

/** Counts of malformed values, with examples. */
function faultSection({ malformed, index }: Analysis): Section {
  const { mimeTypes, statusCodes, datetimes, lines } = malformed;
  const values = [
    ...mimeTypes.examples.map((example) => ({ what: "MIME type", ...example })),
    ...statusCodes.examples.map((example) => ({ what: "status code", ...example })),
  ];
  const faults = [
    ...datetimes.map((fault) => ({ what: "datetime", ...fault })),
    ...lines.map((fault) => ({ what: "line", ...fault })),
  ];
  const [mimes, statuses] = [mimeTypes.count, statusCodes.count];
  const isSound = mimes + statuses === 0 && faults.every(({ count }) => count === 0);
  const title = `Malformed MIME types (${formatCount(mimes)} captures) and status codes (${formatCount(statuses)})`;
  return {
    id: "faults",
    title: "Malformed records",
    text: isSound
      ? "No MIME type, status code, datetime or line is malformed."
      : `Unreadable lines: ${formatCount(index.lines.bad)}. Invalid values by column:`,
    blocks: [
      table("malformed-values", title, values, [
        column.text("Value", ({ value }) => value),
        column.text("Column", ({ what }) => what),
        column.count("Captures", ({ count }) => count),
      ]),
      table("malformed-other", "Malformed datetimes and lines", faults, [
        column.text("Fault", ({ fault }) => fault),
        column.text("What", ({ what }) => what),
        column.count("Count", ({ count }) => count),
        column.text("Examples", ({ examples }) => examples.slice(0, 3).join("  ·  ")),
      ]),
    ],
  };
}

function methodSection({ index, method }: Analysis): Section {
  const { lines } = index;
  const filtered = Object.entries(lines.filtered).filter(([, count]) => count > 0);
  const facts = [
    fact("count", "Files", index.files),
    fact("count", "Bytes of the index files", index.storedBytes),
    fact("count", "Lines", lines.lines),
    fact("count", "Headers and blank lines", lines.headers + lines.blank),
    fact("count", "Records that are not web content", lines.nonWeb),
    fact("count", "Lines without captures", lines.unproven),
    ...filtered.map(([reason, count]) => fact("count", `Excluded by ${reason}`, count)),
    fact("count", "Bad lines", lines.bad),
  ];
  return {
    id: "method",
    title: "Method",
    text: "The input, and the accuracy of the numbers.",
    blocks: [factTable("method-table", "Input", facts), { notes: method.notes }],
  };
}
