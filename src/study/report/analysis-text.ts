import type { Analysis, Fault, MalformedValues, SubTreeRow } from "../analyze/analysis.ts";
import type { HeapsFit } from "../analyze/depth-statistics.ts";
import type { PowerLawFit } from "../../map/compact/fit.ts";
import { dateOf, decimalNumber, fitQuality, percent, wholeNumber } from "./number-format.ts";
import { shortened, TEXT_WIDTH, type TextTable, textTableLines } from "./table.ts";

/** The analysis of an archive as text: the paper's tables, in at most 80 columns. */
export function analysisText(analysis: Analysis): string {
  const tables = [
    indexTable(analysis),
    tldTable(analysis),
    distributionTable(analysis),
    topOriginals(analysis),
    subTreeTable("Most archived hosts", analysis.top.hosts),
    subTreeTable("Most archived domains (more than one host)", analysis.top.domains),
    subTreeTable("Most archived paths (more than one key)", analysis.top.paths),
    biasTable(analysis),
    yearTable(analysis),
    statusTable(analysis),
    exactDepthTable(analysis),
    depthTable(analysis),
    reductionTable(analysis),
    mimeTable(analysis),
    pathQueryTable(analysis),
    monthTable(analysis),
    malformedTable(analysis),
  ].filter(({ rows }) => rows.length > 0);
  const blocks = [
    ...tables.map((table) => textTableLines(table)),
    faultExamples(analysis),
    fitLines(analysis),
    sampleLines(analysis),
    noteLines(analysis),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function indexTable({ index }: Analysis): TextTable {
  const { lines } = index;
  const left = Object.values(lines.filtered).reduce((sum, count) => sum + count, 0);
  return {
    title: "Index",
    columns: ["", ""],
    rows: [
      ["files", wholeNumber(index.files)],
      ...(index.storedBytes === null ? [] : [["bytes stored", wholeNumber(index.storedBytes)]]),
      ["coverage", index.first === "" ? "-" : `${dateOf(index.first)} to ${dateOf(index.last)}`],
      ["lines", wholeNumber(lines.lines)],
      ...some("  headers and blanks", lines.headers + lines.blank),
      ...some("  not of the web", lines.nonWeb),
      ...some("  showing nothing", lines.unproven),
      ...some("  left out by filters", left),
      ...some("  bad", lines.bad),
      ["mementos", wholeNumber(index.mementos)],
      ["originals", wholeNumber(index.originals)],
      ["keys (HxPx)", wholeNumber(index.keys)],
      ["hosts", wholeNumber(index.hosts)],
      ["  IP addresses", wholeNumber(index.ipAddresses)],
    ],
  };
}

function tldTable({ tlds }: Analysis): TextTable {
  return {
    title: "Top-level domains",
    columns: ["TLD", "originals", "mementos", "orig. %", "mem. %"],
    rows: [...tlds.rows, tlds.ipAddresses, tlds.other]
      .filter(({ mementos }) => mementos > 0)
      .map(({ tld, originals, mementos, originalShare, mementoShare }) => [
        tld,
        wholeNumber(originals),
        wholeNumber(mementos),
        percent(originalShare, 3),
        percent(mementoShare, 3),
      ]),
  };
}

function distributionTable({ distribution }: Analysis): TextTable {
  const { count, sum, max, median, mean, standardDeviation, gini, paretoShare } = distribution;
  const most = Math.round((1 - paretoShare) * 100);
  return {
    title: "Mementos over originals",
    columns: ["", ""],
    rows: [
      ["originals", wholeNumber(count)],
      ["mementos", wholeNumber(sum)],
      ["most mementos of one", wholeNumber(max)],
      ["median", decimalNumber(median, Number.isInteger(median) ? 0 : 1)],
      ["mean (gamma)", mean.toFixed(2)],
      ["standard deviation", standardDeviation.toFixed(2)],
      ["Gini coefficient", gini.toFixed(2)],
      ["Pareto break point", `${most}/${100 - most}`],
    ],
  };
}

function topOriginals({ top }: Analysis): TextTable {
  return {
    title: "Most archived originals",
    columns: ["SURT", "mementos"],
    rows: top.originals.map(({ surt, mementos }) => [surt, wholeNumber(mementos)]),
  };
}

function subTreeTable(title: string, list: readonly SubTreeRow[]): TextTable {
  return {
    title,
    columns: ["sub-tree", "mementos", "originals", "gamma", "largest %"],
    rows: list.map(({ name, mementos, originals, gamma, largestShare }) => [
      name,
      wholeNumber(mementos),
      wholeNumber(originals),
      gamma.toFixed(2),
      percent(largestShare, 1),
    ]),
  };
}

function biasTable({ top }: Analysis): TextTable {
  return {
    title: "Biases: hosts captured beyond proportion (excess over the mean gamma)",
    columns: ["host", "excess", "mementos", "gamma", "largest %"],
    rows: top.biases.map(({ name, mementos, excess, gamma, largestShare }) => [
      name,
      wholeNumber(excess),
      wholeNumber(mementos),
      gamma.toFixed(2),
      percent(largestShare, 1),
    ]),
  };
}

function yearTable({ years }: Analysis): TextTable {
  return {
    title: "Years (+ is cumulative; dup: share of originals seen in an earlier year)",
    columns: ["year", "originals", "originals+", "mementos", "mementos+", "dup %", "g", "g+"],
    rows: years.map((row) => [
      String(row.year),
      wholeNumber(row.originals),
      wholeNumber(row.cumulativeOriginals),
      wholeNumber(row.mementos),
      wholeNumber(row.cumulativeMementos),
      percent(row.duplicateShare),
      row.gamma.toFixed(2),
      row.cumulativeGamma.toFixed(2),
    ]),
  };
}

function statusTable({ years }: Analysis): TextTable {
  return {
    title: "Status codes by year, percents",
    columns: ["year", "2xx", "3xx", "4xx", "5xx", "none", "other"],
    rows: years.map(({ year, statusShares }) => [
      String(year),
      ...statusShares.map((part) => percent(part)),
    ]),
  };
}

function exactDepthTable({ exactDepths }: Analysis): TextTable {
  return {
    title: "Items of exact depth",
    columns: ["depth", "hosts", "keys by host", "keys by path"],
    rows: exactDepths.map(({ depth, hosts, keysByHost, keysByPath }) => [
      String(depth),
      wholeNumber(hosts),
      wholeNumber(keysByHost),
      wholeNumber(keysByPath),
    ]),
  };
}

function depthTable({ depths }: Analysis): TextTable {
  return {
    title: "Keys by host (H) and path (P) depth",
    columns: ["depth", "count", "sum", "max", "mean", "median", "std. dev."],
    rows: depths.map((row) => [
      row.depth,
      wholeNumber(row.count),
      wholeNumber(row.sum),
      wholeNumber(row.max),
      decimalNumber(row.mean, 2),
      decimalNumber(row.median, Number.isInteger(row.median) ? 0 : 1),
      decimalNumber(row.standardDeviation, 2),
    ]),
  };
}

function reductionTable({ depths }: Analysis): TextTable {
  return {
    title: "Reduction and children by depth",
    columns: ["depth", "RedQ", "parents", "children", "mean children"],
    rows: depths.map((row) => [
      row.depth,
      row.reductionQuotient.toFixed(5),
      wholeNumber(row.parents),
      wholeNumber(row.children),
      decimalNumber(row.meanChildren, 2),
    ]),
  };
}

function mimeTable({ captures }: Analysis): TextTable {
  return {
    title: "Mementos by MIME group and status class",
    columns: ["MIME", "2xx", "3xx", "4xx", "5xx", "none", "other"],
    rows: captures.mimeStatus.map(({ group, counts }) => [
      group,
      ...counts.map((count) => wholeNumber(count)),
    ]),
  };
}

function pathQueryTable({ captures }: Analysis): TextTable {
  return {
    title: "Mementos by path segments and query parameters",
    columns: ["path", ...[0, 1, 2, 3, 4, 5].map((depth) => gridLabel("Q", depth))],
    rows: captures.pathQuery.map((counts, depth) => [
      gridLabel("P", depth),
      ...counts.map((count) => wholeNumber(count)),
    ]),
  };
}

function monthTable({ captures }: Analysis): TextTable {
  const widest = Math.max(0, ...captures.yearMonth.flatMap(({ months }) => months));
  const names = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"];
  // Twelve columns of counts fit as long as they are short; thousands do beyond that.
  const unit = widest >= 10_000 ? 1000 : 1;
  return {
    title: `Mementos by year and month${unit === 1 ? "" : ", thousands"}`,
    columns: ["year", ...names],
    rows: captures.yearMonth.map(({ year, months }) => [
      String(year),
      ...months.slice(1).map((count) => String(Math.round(count / unit))),
    ]),
  };
}

function malformedTable({ malformed }: Analysis): TextTable {
  const { mimeTypes, statusCodes } = malformed;
  return {
    title: "Malformed",
    columns: ["what", "captures"],
    rows: [
      ...valueRows("MIME type", mimeTypes),
      ...valueRows("status code", statusCodes),
      ...faultRows("datetime", malformed.datetimes),
      ...faultRows("URI", malformed.uris),
      ...faultRows("line", malformed.lines),
    ],
  };
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
  return ["Method", ...method.notes.flatMap((note) => wrapped(note, TEXT_WIDTH - 2))];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > width) {
      lines.push(`  ${line}`);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, `  ${line}`];
}

function some(name: string, count: number): string[][] {
  return count === 0 ? [] : [[name, wholeNumber(count)]];
}

function gridLabel(layer: string, depth: number): string {
  return `${layer}${depth}${depth > 4 ? "+" : ""}`;
}

function faultRows(what: string, list: readonly Fault[]): string[][] {
  return list.map(({ fault, count }) => [`${what}: ${fault}`, wholeNumber(count)]);
}

function valueRows(what: string, { count, distinct }: MalformedValues): string[][] {
  return count === 0 ? [] : [[`${what}: ${wholeNumber(distinct)} values`, wholeNumber(count)]];
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
