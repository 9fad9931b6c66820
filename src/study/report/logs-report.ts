import type { ArchiveRow, LogReport } from "../logs/log-report.ts";
import { formatAmount } from "../../errors.ts";
import { rowChart } from "../../page/chart/bar-charts.ts";
import { figureHtml, heatFigure } from "./figure.ts";
import { percent, shortNumber, shortPercent, wholeNumber } from "../../page/text-format.ts";
import type { PageSection, RunRecord } from "./page.ts";
import { card, countTile, pageHtml } from "./page.ts";
import type { GridRow, Table } from "./table.ts";
import { countColumns, gridTable, numbers, share, texts, textTable, whole } from "./table.ts";

/** A report of logs as text: the paper's table and figure, in at most 80 columns. */
export function logsText(report: LogReport): string {
  const { overlap, asked } = report;
  const where = overlap.source === "index" ? "the index" : "what archives answered";
  const blocks = [
    countLines(report),
    textTable(archiveTable(report)),
    asked === 0
      ? []
      : textTable({
          ...overlapTable(report, "", shortNumber),
          textTitle: `Originals by mementos in ${where} (rows) and by requests (columns)`,
        }),
    textTable(missingTable(report)),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function countLines({ counts, asked, askedAndHeld, unknown }: LogReport): string[] {
  const all = asked + unknown;
  const part = (count: number): string =>
    all === 0 ? wholeNumber(count) : `${wholeNumber(count)} (${percent(count / all)} %)`;
  return textTable<[name: string, value: string]>({
    title: "Logs",
    columns: [texts("", ([name]) => name), numbers("", ([, value]) => value)],
    rows: [
      ["lines", wholeNumber(counts.lines)],
      ["  of another kind", wholeNumber(counts.otherLines)],
      ["requests to the aggregator", wholeNumber(counts.requests)],
      ["answers that fit several URIs", wholeNumber(counts.ambiguous)],
      ["originals asked for", wholeNumber(all)],
      ["  held", part(askedAndHeld)],
      ["  not held", part(asked - askedAndHeld)],
      ["  unknown: answers failed or open", part(unknown)],
    ],
  });
}

function archiveTable({ archives, all }: LogReport): Table<ArchiveRow> {
  return {
    id: "archive-table",
    title: "Answers by archive",
    columns: [
      texts("Archive", (row) => row.archive),
      numbers("Requests", (row) => whole(row.requests)),
      numbers("Hit %", (row) => share(row.hitShare)),
      numbers("Miss %", (row) => share(row.missShare)),
      numbers("Error %", (row) => share(row.errorShare)),
      numbers("Sleeps", (row) => whole(row.sleeps), {
        help: "How often the archive was not asked because it had failed too often",
      }),
    ],
    rows: archives,
    footer: [all],
  };
}

/** Originals by mementos and requests, up to the largest magnitude that has any. */
function overlapTable(
  { overlap: { cells, magnitudes } }: LogReport,
  corner: string,
  show?: (count: number) => string,
): Table<GridRow> {
  const used = cells.flatMap((row, i) => row.flatMap((cell, j) => (cell ? [Math.max(i, j)] : [])));
  const shown = Math.max(1, ...used) + 1;
  return gridTable({
    id: "overlap-map",
    title: "Archived and accessed",
    corner,
    columns: magnitudes.slice(0, shown),
    show,
    rows: cells
      .slice(0, shown)
      .map((row, i) => ({ name: magnitudes[i], cells: row.slice(0, shown) })),
  });
}

function missingTable({ missing }: LogReport): Table<readonly [string, number]> {
  return {
    id: "missing-table",
    title: "Requested but not held",
    textTitle: "Asked for most often and not held: candidates for seeds",
    columns: countColumns("URI", "Requests"),
    rows: missing.map(({ uri, requests }) => [uri, requests]),
  };
}

export function logsPage(report: LogReport, run: RunRecord): string {
  const { counts, all, asked, askedAndHeld, unknown, unknownShare } = report;
  return pageHtml({
    title: "What archives are asked for",
    lead: `${shortNumber(counts.requests)} requests to an aggregator became ${shortNumber(all.requests)} requests to ${formatAmount(report.archives.length, "archive")}. ${percent(all.hitShare)} % of those were hits; the rest was wasted.`,
    tiles: [
      countTile("Requests", counts.requests),
      countTile("Requests to archives", all.requests),
      { name: "Hits", value: shortPercent(all.hitShare), remark: wholeNumber(all.hits) },
      { name: "Misses", value: shortPercent(all.missShare), remark: wholeNumber(all.misses) },
      { name: "Errors", value: shortPercent(all.errorShare), remark: wholeNumber(all.errors) },
      {
        name: "Originals asked for",
        value: shortNumber(asked + unknown),
        remark: `${percent(askedAndHeld / Math.max(1, asked + unknown))} % held, ${percent(unknownShare)} % unknown`,
      },
    ],
    sections: [archiveSection(report), overlapSection(report), missingSection(report)],
    data: { ...report, run },
    dataName: "logs.json",
    run,
  });
}

function archiveSection(report: LogReport): PageSection {
  const { archives } = report;
  const table = archiveTable(report);
  const chart = figureHtml({
    ...table,
    id: "archive-bars",
    caption: "Share of hits, misses and errors of each archive, that with the most hits first.",
    drawing: rowChart({
      layers: [
        { name: "hits", color: 0 },
        { name: "misses", color: 7 },
        { name: "errors", color: 1 },
      ],
      bars: archives.map((row) => ({
        name: row.archive,
        values: [row.hitShare, row.missShare, row.errorShare],
      })),
    }),
    footer: [],
  });
  return {
    id: "archives",
    title: "Archives",
    text: "What each archive answered when it was asked for the mementos of a URI.",
    content: `${card(table)}${chart}`,
  };
}

function overlapSection(report: LogReport): PageSection {
  return {
    id: "overlap",
    title: "Overlap",
    text:
      report.overlap.source === "index"
        ? "Mementos are counted in the index."
        : "Mementos are those that archives answered with; give an index to see what nobody requests.",
    content: heatFigure(overlapTable(report, "Mementos"), {
      caption:
        "Originals by how many mementos they have (rows) and how often they were requested (columns). Ones are 1 to 9, Tens 10 to 99. The Zero row is requested but not held; the Zero column is never requested.",
      columnName: "requests",
      showsNumbers: true,
    }),
  };
}

function missingSection(report: LogReport): PageSection {
  return {
    id: "missing",
    title: "Seed candidates",
    text: "The most requested URIs that are not held: candidates for seeds. URIs whose responses failed or are ambiguous are excluded.",
    content: card(missingTable(report)),
  };
}
