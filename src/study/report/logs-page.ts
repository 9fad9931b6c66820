import type { LogReport } from "../logs/log-report.ts";
import { htmlTable, numbers, share, texts, whole } from "./table.ts";
import { figureHtml, heatMap, rowChart } from "./charts.ts";
import { shownMagnitudes } from "./logs-text.ts";
import { percent, shortNumber, shortPercent, wholeNumber } from "./number-format.ts";
import { card, pageHtml, type PageSection, type RunRecord } from "./page.ts";
import { formatAmount } from "../../errors.ts";

/** What aggregator logs tell, as one HTML file. */
export function logsPage(report: LogReport, run: RunRecord): string {
  const { counts, all, asked, askedAndHeld, unknown, unknownShare } = report;
  return pageHtml({
    title: "What people ask archives for",
    lead: `${shortNumber(counts.requests)} requests to an aggregator became ${shortNumber(all.requests)} requests to ${formatAmount(report.archives.length, "archive")}. ${percent(all.hitShare)} % of those were hits; the rest was wasted.`,
    tiles: [
      {
        name: "Requests",
        value: shortNumber(counts.requests),
        remark: wholeNumber(counts.requests),
      },
      {
        name: "Requests to archives",
        value: shortNumber(all.requests),
        remark: wholeNumber(all.requests),
      },
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

function archiveSection({ archives, all }: LogReport): PageSection {
  const title = "Answers by archive";
  const caption =
    "Share of hits, misses and errors of each archive, that with the most hits first.";
  const columns = [
    texts("Archive"),
    numbers("Requests"),
    numbers("Hit %"),
    numbers("Miss %"),
    numbers("Error %"),
    numbers("Sleeps", "How often the archive was left alone after failing too often"),
  ];
  const rows = [...archives, all].map((row) => [
    row.archive,
    whole(row.requests),
    share(row.hitShare),
    share(row.missShare),
    share(row.errorShare),
    whole(row.sleeps),
  ]);
  const chart = figureHtml({
    id: "archive-bars",
    title,
    caption,
    svg: rowChart({
      title,
      description: caption,
      layers: [
        { name: "hits", color: 2 },
        { name: "misses", color: 7 },
        { name: "errors", color: 5 },
      ],
      bars: archives.map((row) => ({
        name: row.archive,
        values: [row.hitShare, row.missShare, row.errorShare],
      })),
    }),
    columns,
    rows: rows.slice(0, -1),
  });
  return {
    id: "archives",
    title: "Archives",
    text: "What each archive answered when it was asked for the mementos of a URI.",
    content: `${card(htmlTable({ id: "archive-table", caption: title, columns, rows, footerRows: 1 }))}${chart}`,
  };
}

function overlapSection(report: LogReport): PageSection {
  const { overlap } = report;
  const shown = shownMagnitudes(report);
  const names = overlap.magnitudes.slice(0, shown);
  const cells = overlap.cells.slice(0, shown).map((row) => row.slice(0, shown));
  const title = "Archived and accessed";
  const caption =
    "Originals by how many mementos they have (rows) and how often they were asked for (columns). Ones are 1 to 9, Tens 10 to 99. The Zero row is asked for in vain; the Zero column is never asked for.";
  return {
    id: "overlap",
    title: "Overlap",
    text:
      overlap.source === "index"
        ? "Mementos are counted in the index."
        : "Mementos are those that archives answered with; give an index to see what nobody asks for.",
    content: figureHtml({
      id: "overlap-map",
      title,
      caption,
      svg: heatMap({
        title,
        description: caption,
        rowName: "mementos",
        columnName: "requests",
        rows: names,
        columns: names,
        cells,
        showsNumbers: true,
      }),
      columns: [texts("Mementos"), ...names.map((name) => numbers(name))],
      rows: cells.map((row, i) => [
        names[i] ?? "",
        ...row.map((cell) => (cell === null ? "N/A" : whole(cell))),
      ]),
    }),
  };
}

function missingSection({ missing }: LogReport): PageSection {
  return {
    id: "missing",
    title: "Seed candidates",
    text: "What was asked for most often and is not held: worth a look when you choose seeds. URIs whose answers failed or cannot be told apart are left out.",
    content: card(
      htmlTable({
        id: "missing-table",
        caption: "Asked for in vain",
        columns: [texts("URI"), numbers("Requests")],
        rows: missing.map(({ uri, requests }) => [uri, whole(requests)]),
      }),
    ),
  };
}
