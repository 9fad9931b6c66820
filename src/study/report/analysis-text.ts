import type { Analysis, Fault, MalformedValues } from "../analyze/analysis.ts";
import { STATUS_CLASSES } from "../analyze/capture-tally.ts";
import type { HeapsFit } from "../analyze/histogram.ts";
import type { PowerLawFit } from "../../map/compact/children-fit.ts";
import type { Fact } from "./analysis-tables.ts";
import {
  biasTable,
  depthTable,
  distributionTable,
  domainTable,
  exactDepthTable,
  hostTable,
  mimeTable,
  monthTable,
  originalTable,
  pathQueryTable,
  pathTable,
  tldTable,
  yearTable,
} from "./analysis-tables.ts";
import {
  dateOf,
  fitQuality,
  percent,
  shortened,
  TEXT_WIDTH,
  wholeNumber,
  wrapped,
} from "../../page/text-format.ts";
import type { Cell, Column } from "./table.ts";
import { countColumns, gridTable, numbers, textTable, texts, whole } from "./table.ts";

/** The analysis of an archive as text: the paper's tables, in at most 80 columns. */
export function analysisText(analysis: Analysis): string {
  const blocks = [
    indexLines(analysis),
    textTable(tldTable(analysis)),
    textTable({ ...distributionTable(analysis), columns: FACTS }),
    textTable(originalTable(analysis)),
    textTable(hostTable(analysis)),
    textTable(domainTable(analysis)),
    textTable(pathTable(analysis)),
    textTable(biasTable(analysis)),
    textTable(yearTable(analysis)),
    statusLines(analysis),
    textTable(exactDepthTable(analysis)),
    ...depthLines(analysis),
    textTable(mimeTable(analysis)),
    textTable(pathQueryTable(analysis)),
    monthLines(analysis),
    malformedLines(analysis),
    faultExamples(analysis),
    fitLines(analysis),
    sampleLines(analysis),
    noteLines(analysis),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const FACTS: readonly Column<Pick<Fact, "short" | "value">>[] = [
  texts("", ({ short }) => short),
  numbers("", ({ value }) => value),
];

function indexLines({ index }: Analysis): string[] {
  const { lines } = index;
  const left = Object.values(lines.filtered).reduce((sum, count) => sum + count, 0);
  const coverage = index.first === "" ? "-" : `${dateOf(index.first)} to ${dateOf(index.last)}`;
  const rows: [short: string, value: Cell, isShown?: boolean][] = [
    ["files", whole(index.files)],
    ["bytes stored", whole(index.storedBytes), index.storedBytes !== null],
    ["coverage", coverage],
    ["lines", whole(lines.lines)],
    ["  headers and blanks", whole(lines.headers + lines.blank), lines.headers + lines.blank > 0],
    ["  not of the web", whole(lines.nonWeb), lines.nonWeb > 0],
    ["  showing nothing", whole(lines.unproven), lines.unproven > 0],
    ["  left out by filters", whole(left), left > 0],
    ["  bad", whole(lines.bad), lines.bad > 0],
    ["mementos", whole(index.mementos)],
    ["originals", whole(index.originals)],
    ["keys (HxPx)", whole(index.keys)],
    ["hosts", whole(index.hosts)],
    ["  IP addresses", whole(index.ipAddresses)],
  ];
  return textTable({
    title: "Index",
    columns: FACTS,
    rows: rows
      .filter(([, , isShown]) => isShown !== false)
      .map(([short, value]) => ({ short, value })),
  });
}

function statusLines({ years }: Analysis): string[] {
  return textTable(
    gridTable({
      id: "year-status",
      title: "Status codes by year, percents",
      corner: "Year",
      columns: STATUS_CLASSES,
      show: percent,
      rows: years.map(({ year, statusShares }) => ({ name: String(year), cells: statusShares })),
    }),
  );
}

/** The page's table of depths, as two that are narrow enough. */
function depthLines(analysis: Analysis): string[][] {
  const table = depthTable(analysis);
  const [depth, ...columns] = table.columns;
  return [
    textTable({ ...table, columns: [depth, ...columns.slice(0, 6)] }),
    textTable({
      ...table,
      textTitle: "Reduction and children by depth",
      columns: [depth, ...columns.slice(6)],
    }),
  ];
}

function monthLines(analysis: Analysis): string[] {
  const widest = Math.max(0, ...analysis.captures.yearMonth.flatMap(({ months }) => months));
  const names = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"];
  // Twelve columns of counts fit as long as they are short; thousands do beyond that.
  const unit = widest >= 10_000 ? 1000 : 1;
  const table = monthTable(analysis, names, (count) => String(Math.round(count / unit)));
  return textTable({ ...table, title: `${table.title}${unit === 1 ? "" : ", thousands"}` });
}

function malformedLines({ malformed }: Analysis): string[] {
  return textTable({
    title: "Malformed",
    columns: countColumns("what", "captures"),
    rows: [
      ...valueRows("MIME type", malformed.mimeTypes),
      ...valueRows("status code", malformed.statusCodes),
      ...faultRows("datetime", malformed.datetimes),
      ...faultRows("URI", malformed.uris),
      ...faultRows("line", malformed.lines),
    ],
  });
}

function faultExamples({ malformed }: Analysis): string[] {
  const examples = [
    ...malformed.mimeTypes.examples.map(({ value }) => ["MIME type", value]),
    ...malformed.statusCodes.examples.map(({ value }) => ["status code", value]),
    ...[...malformed.datetimes, ...malformed.uris, ...malformed.lines].flatMap((fault) =>
      fault.examples.slice(0, 2).map((example) => [fault.fault, example]),
    ),
  ];
  if (examples.length === 0) return [];
  const lines = examples.map(([what = "", value = ""]) =>
    shortened(`  ${what}: ${JSON.stringify(value)}`, TEXT_WIDTH),
  );
  return ["Malformed, examples", ...lines];
}

function fitLines({ fits }: Analysis): string[] {
  return [
    "Fits",
    powerLine("hosts", fits.hostPower),
    powerLine("paths", fits.pathPower),
    heapsLine(fits.heaps),
  ];
}

function sampleLines({ captures }: Analysis): string[] {
  if (captures.samples.length === 0) return [];
  const lines = captures.samples.map(({ datetime, uri }) =>
    shortened(`  ${datetime} ${uri}`, TEXT_WIDTH),
  );
  return ["Pages drawn at random", ...lines];
}

function noteLines({ method }: Analysis): string[] {
  const lines = method.notes.flatMap((note) => wrapped(note, TEXT_WIDTH - 2));
  return ["Method", ...lines.map((line) => `  ${line}`)];
}

function faultRows(what: string, list: readonly Fault[]): [string, number][] {
  return list.map(({ fault, count }) => [`${what}: ${fault}`, count]);
}

function valueRows(what: string, { count, distinct }: MalformedValues): [string, number][] {
  return count === 0 ? [] : [[`${what}: ${wholeNumber(distinct)} values`, count]];
}

function powerLine(name: string, law: PowerLawFit | undefined): string {
  if (law === undefined) return `  ${name}: too few depths`;
  const [a, k] = [law.a.toPrecision(5), law.k.toPrecision(4)];
  return `  ${name}: children = ${a} * depth^-${k}   (${fitQuality(law)})`;
}

function heapsLine(law: HeapsFit | undefined): string {
  if (law === undefined) return "  growth: too few months";
  const [k, beta] = [law.k.toPrecision(5), law.beta.toPrecision(4)];
  return `  growth: originals = ${k} * mementos^${beta}   (${fitQuality(law)})`;
}
