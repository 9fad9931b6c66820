import type { Analysis, ExactDepthRow, SubTreeRow, TldRow, YearRow } from "../analyze/analysis.ts";
import { STATUS_CLASSES } from "../analyze/capture-tally.ts";
import type { DepthRow } from "../analyze/histogram.ts";
import type { Cell, GridRow, Table } from "./table.ts";
import { decimal, gridTable, median, numbers, share, texts, whole } from "./table.ts";

// The tables that the text and the page of an analysis share.

export function tldTable({ tlds }: Analysis): Table<TldRow> {
  return {
    id: "tlds",
    title: "Top-level domains",
    columns: [
      texts("TLD", (row) => row.tld),
      numbers("Originals", (row) => whole(row.originals)),
      numbers("Mementos", (row) => whole(row.mementos)),
      numbers("Orig. %", (row) => share(row.originalShare, 3)),
      numbers("Mem. %", (row) => share(row.mementoShare, 3)),
    ],
    rows: [...tlds.rows, tlds.ipAddresses, tlds.other].filter(({ mementos }) => mementos > 0),
  };
}

/** A fact: its value, its name on the page, and its name in a terminal. */
export interface Fact {
  readonly value: Cell;
  readonly name: string;
  readonly short: string;
}

function fact(name: string, short: string, value: Cell): Fact {
  return { name, short, value };
}

export function distributionTable({ distribution }: Analysis): Table<Fact> {
  const { count, sum, max, mean, standardDeviation, gini, paretoShare } = distribution;
  const most = Math.round((1 - paretoShare) * 100);
  return {
    id: "distribution-table",
    title: "Mementos over originals",
    columns: [texts("Attribute", ({ name }) => name), numbers("Value", ({ value }) => value)],
    rows: [
      fact("Unique originals (URI-R)", "originals", whole(count)),
      fact("Mementos (URI-M)", "mementos", whole(sum)),
      fact("Most mementos of one original", "most mementos of one", whole(max)),
      fact("Median", "median", median(distribution.median)),
      fact("Mean (γ)", "mean (gamma)", decimal(mean)),
      fact("Standard deviation", "standard deviation", decimal(standardDeviation)),
      fact("Gini coefficient", "Gini coefficient", decimal(gini)),
      fact("Pareto break point", "Pareto break point", {
        value: paretoShare,
        text: `${most}/${100 - most}`,
      }),
    ],
  };
}

export function originalTable({ top }: Analysis): Table<Analysis["top"]["originals"][number]> {
  return {
    id: "top-originals",
    title: "Most archived originals",
    columns: [texts("SURT", (row) => row.surt), numbers("Mementos", (row) => whole(row.mementos))],
    rows: top.originals,
  };
}

export function hostTable({ top }: Analysis): Table<SubTreeRow> {
  return subTreeTable("top-hosts", "Most archived hosts", top.hosts);
}

export function domainTable({ top }: Analysis): Table<SubTreeRow> {
  return {
    ...subTreeTable("top-domains", "Most archived domains of several hosts", top.domains),
    textTitle: "Most archived domains (more than one host)",
  };
}

export function pathTable({ top }: Analysis): Table<SubTreeRow> {
  return {
    ...subTreeTable("top-paths", "Most archived paths of several keys", top.paths),
    textTitle: "Most archived paths (more than one key)",
  };
}

export function biasTable({ top }: Analysis): Table<SubTreeRow> {
  const title = "Out of proportion: captures beyond the archive’s mean";
  return {
    ...subTreeTable("top-biases", title, top.biases, true),
    textTitle: "Biases: hosts captured beyond proportion (excess over the mean gamma)",
  };
}

function subTreeTable(
  id: string,
  title: string,
  rows: readonly SubTreeRow[],
  showsExcess: boolean = false,
): Table<SubTreeRow> {
  return {
    id,
    title,
    columns: [
      texts("Sub-tree", (row) => row.name, { short: showsExcess ? "host" : undefined }),
      numbers("Excess", (row) => whole(row.excess), {
        help: "Mementos beyond originals × the archive’s γ",
        isShown: showsExcess,
      }),
      numbers("Mementos", (row) => whole(row.mementos)),
      numbers("Originals", (row) => whole(row.originals), {
        short: showsExcess ? null : undefined,
      }),
      numbers("γ", (row) => decimal(row.gamma), { help: "Mementos per original", short: "gamma" }),
      numbers("Largest %", (row) => share(row.largestShare, 1), {
        help: "Share of the mementos that its most archived original has",
      }),
    ],
    rows,
  };
}

export function yearTable({ years }: Analysis): Table<Omit<YearRow, "year"> & { year: unknown }> {
  return {
    id: "year-table",
    title: "Yearly originals, mementos and status codes",
    textTitle: "Years (+ is cumulative; dup: share of originals seen in an earlier year)",
    columns: [
      texts("Year", (row) => String(row.year)),
      numbers("Originals", (row) => whole(row.originals), {
        help: "Originals captured in the year",
      }),
      numbers("Originals+", (row) => whole(row.cumulativeOriginals), {
        help: "Originals captured up to the end of the year",
      }),
      numbers("Mementos", (row) => whole(row.mementos), { help: "Mementos of the year" }),
      numbers("Mementos+", (row) => whole(row.cumulativeMementos), {
        help: "Mementos up to the end of the year",
      }),
      numbers("Dup. %", (row) => share(row.duplicateShare), {
        help: "Originals of the year that were captured in an earlier one",
        short: "dup %",
      }),
      numbers("γ", (row) => decimal(row.gamma), {
        help: "Mementos per original in the year",
        short: "g",
      }),
      numbers("γ+", (row) => decimal(row.cumulativeGamma), {
        help: "Mementos per original up to the end of the year",
        short: "g+",
      }),
      ...STATUS_CLASSES.slice(0, 4).map((name, i) =>
        numbers<Pick<YearRow, "statusShares">>(
          `${name} %`,
          ({ statusShares }) => share(statusShares[i]),
          { short: null },
        ),
      ),
    ],
    rows: years,
  };
}

export function exactDepthTable({
  exactDepths,
}: Analysis): Table<Omit<ExactDepthRow, "depth"> & { depth: unknown }> {
  return {
    id: "exact-depths",
    title: "Items of exact depth",
    columns: [
      texts("Depth", (row) => String(row.depth)),
      numbers("Hosts", (row) => whole(row.hosts)),
      numbers("Keys by host depth", (row) => whole(row.keysByHost), { short: "keys by host" }),
      numbers("Keys by path depth", (row) => whole(row.keysByPath), { short: "keys by path" }),
    ],
    rows: exactDepths,
  };
}

export function depthTable({ depths }: Analysis): Table<DepthRow> {
  return {
    id: "depth-table",
    title: "Keys by host and path depth",
    textTitle: "Keys by host (H) and path (P) depth",
    columns: [
      texts("Depth", (row) => row.depth),
      numbers("Count", (row) => whole(row.count), { help: "Distinct prefixes of this depth" }),
      numbers("Sum", (row) => whole(row.sum), { help: "Keys of this depth or deeper" }),
      numbers("Max", (row) => whole(row.max), { help: "Keys under the largest prefix" }),
      numbers("Mean", (row) => decimal(row.mean)),
      numbers("Median", (row) => median(row.median)),
      numbers("StdDev", (row) => decimal(row.standardDeviation), { short: "std. dev." }),
      numbers("RedQ", (row) => decimal(row.reductionQuotient, 5), {
        help: "Share of all keys that would go if keys were cut here: (Sum − Count) / all",
      }),
      numbers("Parents", (row) => whole(row.parents), { help: "Nodes above that have children" }),
      numbers("Children", (row) => whole(row.children)),
      numbers("MeanChld", (row) => decimal(row.meanChildren), {
        help: "Children / Parents",
        short: "mean children",
      }),
    ],
    rows: depths,
  };
}

export function mimeTable({ captures }: Analysis): Table<GridRow> {
  return gridTable({
    id: "mime-status",
    title: "Mementos by MIME group and status",
    textTitle: "Mementos by MIME group and status class",
    corner: "MIME",
    columns: STATUS_CLASSES,
    rows: captures.mimeStatus.map(({ group, counts }) => ({ name: group, cells: counts })),
  });
}

export function pathQueryTable({ captures }: Analysis): Table<GridRow> {
  return gridTable({
    id: "path-query",
    title: "Mementos by path segments and query parameters",
    corner: "Path",
    columns: [0, 1, 2, 3, 4, 5].map((depth) => gridName("Q", depth)),
    rows: captures.pathQuery.map((cells, depth) => ({ name: gridName("P", depth), cells })),
  });
}

function gridName(layer: string, depth: number): string {
  return `${layer}${depth}${depth > 4 ? "+" : ""}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function monthTable(
  { captures }: Analysis,
  columns: readonly string[] = MONTHS,
  show?: (count: number) => string,
): Table<GridRow> {
  return gridTable({
    id: "month-map",
    title: "Mementos by year and month",
    corner: "Year",
    columns,
    show,
    rows: captures.yearMonth.map(({ year, months }) => ({
      name: String(year),
      cells: months.slice(1),
    })),
  });
}
