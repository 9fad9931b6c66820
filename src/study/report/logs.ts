import { formatAmount, formatCount, formatPercent } from "../../format.ts";
import { rowChart } from "../../page/chart/bar-charts.ts";
import type { ArchiveRow, LogReport } from "../logs/log-report.ts";
import { type GridRow, heatFigure } from "./figures.ts";
import { column, fact, factTable, type Report, table, type Table } from "./report.ts";

/** Requests to archives, according to the logs of an aggregator. */
export function logsReport(logs: LogReport): Report {
  const { counts, all, archives, overlap, asked } = logs;
  return {
    name: "logs",
    title: "Requests to archives",
    lead: `${formatAmount(counts.requests, "request")} to an aggregator became ${formatAmount(all.requests, "request")} to ${formatAmount(archives.length, "archive")}. ${formatPercent(all.hitShare)} % of those were hits.`,
    facts: [
      fact("count", "Requests", counts.requests),
      fact("count", "Requests to archives", all.requests),
      fact("share", "Hits", all.hitShare, { remark: formatCount(all.hits) }),
      fact("share", "Misses", all.missShare, { remark: formatCount(all.misses) }),
      fact("share", "Errors", all.errorShare, { remark: formatCount(all.errors) }),
      fact("count", "Originals requested", asked + logs.unknown),
    ],
    sections: [
      {
        id: "archives",
        title: "Archives",
        text: "The responses of each archive to requests for the mementos of a URI.",
        blocks: [archiveTable(logs), archiveBars(logs)],
      },
      {
        id: "overlap",
        title: "Overlap",
        text:
          overlap.source === "index"
            ? "Mementos are counted in the index."
            : "Mementos are counted in the responses of archives; an index also shows originals without requests.",
        blocks: asked === 0 ? [] : [overlapTable(logs)],
      },
      {
        id: "missing",
        title: "Seed candidates",
        text: "The most requested URIs that are not held: candidates for seeds. URIs whose responses failed or are ambiguous are excluded.",
        blocks: [missingTable(logs)],
      },
      {
        id: "read",
        title: "Input",
        text: "The lines of the logs, and the requested originals.",
        blocks: [
          factTable("read-table", "Input", [
            fact("count", "Lines", counts.lines),
            fact("count", "Other lines", counts.otherLines),
            fact("count", "Ambiguous responses", counts.ambiguous),
            fact("count", "Originals held", logs.askedAndHeld),
            fact("count", "Originals not held", asked - logs.askedAndHeld),
            fact("count", "Originals unknown: responses failed or pending", logs.unknown),
            fact("share", "Share of unknown originals", logs.unknownShare),
          ]),
        ],
      },
    ],
    data: logs,
  };
}

function missingTable({ missing }: LogReport): Table<LogReport["missing"][number]> {
  return table("missing-table", "Requested but not held: candidates for seeds", missing, [
    column.text("URI", ({ uri }) => uri),
    column.count("Requests", ({ requests }) => requests),
  ]);
}

function archiveTable({ archives, all }: LogReport): Table<ArchiveRow> {
  const rows = table("archive-table", "Responses by archive", archives, [
    column.text("Archive", ({ archive }) => archive),
    column.count("Requests", ({ requests }) => requests),
    column.share("Hit", ({ hitShare }) => hitShare),
    column.share("Miss", ({ missShare }) => missShare),
    column.share("Error", ({ errorShare }) => errorShare),
    column.count(
      "Pauses",
      ({ sleeps }) => sleeps,
      "How often the archive was paused after repeated failures",
    ),
  ]);
  return { ...rows, totals: [all] };
}

function archiveBars(logs: LogReport): Table<ArchiveRow> {
  const { archives } = logs;
  return {
    ...archiveTable(logs),
    id: "archive-bars",
    totals: [],
    isLong: true,
    figure: {
      caption: "Share of hits, misses and errors of each archive, by share of hits.",
      draw: () =>
        rowChart({
          layers: [
            { name: "hits", color: 0 },
            { name: "misses", color: 7 },
            { name: "errors", color: 1 },
          ],
          bars: archives.map(({ archive, hitShare, missShare, errorShare }) => ({
            name: archive,
            values: [hitShare, missShare, errorShare],
          })),
        }),
    },
  };
}

/** Originals by mementos and requests, up to the largest magnitude that has any. */
function overlapTable({ overlap: { cells, magnitudes } }: LogReport): Table<GridRow> {
  const used = cells.flatMap((row, i) => row.flatMap((cell, j) => (cell ? [Math.max(i, j)] : [])));
  const shown = Math.max(1, ...used) + 1;
  return heatFigure({
    id: "overlap-map",
    title: "Originals by mementos (rows) and requests (columns)",
    caption:
      "Originals by number of mementos (rows) and of requests (columns). Ones are 1 to 9, Tens 10 to 99. The Zero row is requested but not held; the Zero column is held but never requested.",
    corner: "Mementos",
    columnName: "requests",
    columns: magnitudes.slice(0, shown),
    rows: cells
      .slice(0, shown)
      .map((row, i) => ({ name: magnitudes[i], cells: row.slice(0, shown) })),
    showsNumbers: true,
  });
}
