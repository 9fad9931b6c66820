import type { ArchiveRow, LogReport } from "../logs/log-report.ts";
import { percent, shortNumber, wholeNumber } from "./number-format.ts";
import { type TextTable, textTableLines } from "./table.ts";

/** What logs tell, as text: the paper's table and figure, in at most 80 columns. */
export function logsText(report: LogReport): string {
  const tables = [
    countTable(report),
    archiveTable(report),
    overlapTable(report),
    missingTable(report),
  ].filter(({ rows }) => rows.length > 0);
  return `${tables.map((table) => textTableLines(table).join("\n")).join("\n\n")}\n`;
}

function countTable({ counts, asked, askedAndHeld, unknown }: LogReport): TextTable {
  const all = asked + unknown;
  const part = (count: number): string =>
    all === 0 ? wholeNumber(count) : `${wholeNumber(count)} (${percent(count / all)} %)`;
  return {
    title: "Logs",
    columns: ["", ""],
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
  };
}

function archiveTable({ archives, all }: LogReport): TextTable {
  return {
    title: "Answers by archive",
    columns: ["archive", "requests", "hit %", "miss %", "error %", "sleeps"],
    rows: archives.length === 0 ? [] : [...archives, all].map(archiveCells),
  };
}

function archiveCells(row: ArchiveRow): string[] {
  return [
    row.archive,
    wholeNumber(row.requests),
    percent(row.hitShare),
    percent(row.missShare),
    percent(row.errorShare),
    wholeNumber(row.sleeps),
  ];
}

/** Magnitudes that have no original at either end are left out. */
export function shownMagnitudes({ overlap: { cells } }: LogReport): number {
  const used = cells.flatMap((row, i) => row.flatMap((cell, j) => (cell ? [Math.max(i, j)] : [])));
  return Math.max(1, ...used) + 1;
}

function overlapTable(report: LogReport): TextTable {
  const { overlap, asked } = report;
  const shown = shownMagnitudes(report);
  const where = overlap.source === "index" ? "the index" : "what archives answered";
  return {
    title: `Originals by mementos in ${where} (rows) and by requests (columns)`,
    columns: ["", ...overlap.magnitudes.slice(0, shown)],
    rows:
      asked === 0
        ? []
        : overlap.cells
            .slice(0, shown)
            .map((row, i) => [
              overlap.magnitudes[i] ?? "",
              ...row.slice(0, shown).map((cell) => (cell === null ? "N/A" : shortNumber(cell))),
            ]),
  };
}

function missingTable({ missing }: LogReport): TextTable {
  return {
    title: "Asked for most often and not held: candidates for seeds",
    columns: ["URI", "requests"],
    rows: missing.map(({ uri, requests }) => [uri, wholeNumber(requests)]),
  };
}
