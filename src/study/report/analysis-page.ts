import type { Analysis, Fault } from "../analyze/analysis.ts";
import { htmlTable, numbers, texts, whole } from "./table.ts";
import { distributionSection, placesSection } from "./distribution-section.ts";
import { growthSection } from "./growth-section.ts";
import { escapeHtml } from "./html.ts";
import { dateOf, percent, shortAmount, shortNumber, wholeNumber } from "./number-format.ts";
import { card, grid, pageHtml, type PageSection, type RunRecord, type Tile } from "./page.ts";
import { reductionSection, treeSection } from "./tree-section.ts";
import { STATUS_CLASSES } from "../analyze/capture-tally.ts";
import { figureHtml, heatMap } from "./charts.ts";

export interface ReportNames {
  /** The archive's name. */
  readonly title: string;
  readonly run: RunRecord;
}

/** The portrait of an archive as one HTML file. */
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
    { name: "Mementos", value: shortNumber(index.mementos), remark: wholeNumber(index.mementos) },
    {
      name: "Originals",
      value: shortNumber(index.originals),
      remark: wholeNumber(index.originals),
    },
    { name: "Keys (HxPx)", value: shortNumber(index.keys), remark: wholeNumber(index.keys) },
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
  const rows: [string, number][] = [
    ["Files", index.files],
    ...(index.storedBytes === null
      ? []
      : ([["Bytes of the index files", index.storedBytes]] satisfies [string, number][])),
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
      `${htmlTable({
        id: "method-table",
        caption: "What was read",
        columns: [texts("What"), numbers("Count")],
        rows: rows.map(([name, count]) => [name, whole(count)]),
      })}<ul>${notes.join("")}</ul>`,
    ),
  };
}

/** What captures are: types, statuses, paths and queries, and pages drawn at random. */
export function contentSection(analysis: Analysis): PageSection {
  const { captures } = analysis;
  return {
    id: "content",
    title: "Content",
    text: "What was captured: types and status codes, the form of addresses, and pages drawn at random.",
    content: [
      grid(mimeFigure(analysis), pathQueryFigure(analysis)),
      grid(
        card(
          htmlTable({
            id: "mime-types",
            caption: "MIME types",
            columns: [texts("MIME type"), numbers("Mementos")],
            rows: captures.mimeTypes.map(({ mime, count }) => [mime, whole(count)]),
          }),
        ),
        card(
          htmlTable({
            id: "status-codes",
            caption: "Status codes",
            columns: [texts("Status"), numbers("Mementos")],
            rows: captures.statusCodes.map(({ status, count }) => [String(status), whole(count)]),
          }),
        ),
      ),
      card(
        htmlTable({
          id: "samples",
          caption: "Pages drawn at random (200, HTML)",
          columns: [texts("Captured"), texts("URI")],
          rows: captures.samples.map(({ datetime, uri }) => [dateOf(datetime), uri]),
        }),
      ),
    ].join("\n"),
  };
}

function mimeFigure({ captures }: Analysis): string {
  const title = "Mementos by MIME group and status";
  const caption =
    "Groups as in cdx-summary. “None” is a record without status code, such as a revisit.";
  const rows = captures.mimeStatus.map(({ group }) => group);
  const cells = captures.mimeStatus.map(({ counts }) => counts);
  return figureHtml({
    id: "mime-status",
    title,
    caption,
    svg: heatMap({
      title,
      description: caption,
      rowName: "MIME",
      columnName: "status",
      rows,
      columns: STATUS_CLASSES,
      cells,
      showsNumbers: true,
    }),
    columns: [texts("MIME"), ...STATUS_CLASSES.map((name) => numbers(name))],
    rows: cells.map((row, i) => [rows[i] ?? "", ...row.map((count) => whole(count))]),
  });
}

function pathQueryFigure({ captures }: Analysis): string {
  const title = "Mementos by path segments and query parameters";
  const caption = "P2 × Q1: addresses with two path segments and one query parameter.";
  return figureHtml({
    id: "path-query",
    title,
    caption,
    svg: heatMap({
      title,
      description: caption,
      rowName: "path",
      columnName: "query",
      rows: gridNames("P"),
      columns: gridNames("Q"),
      cells: captures.pathQuery,
      showsNumbers: true,
    }),
    columns: [texts("Path"), ...gridNames("Q").map((name) => numbers(name))],
    rows: captures.pathQuery.map((row, i) => [
      gridNames("P")[i] ?? "",
      ...row.map((count) => whole(count)),
    ]),
  });
}

function gridNames(layer: string): string[] {
  return [0, 1, 2, 3, 4, 5].map((n) => `${layer}${n}${n > 4 ? "+" : ""}`);
}

/** What is malformed, counted, with examples; and how the numbers came about. */
export function faultSection({ malformed, index }: Analysis): PageSection {
  const { mimeTypes, statusCodes } = malformed;
  const values = [
    ...mimeTypes.examples.map(({ value, count }) => ["MIME type", value, whole(count)]),
    ...statusCodes.examples.map(({ value, count }) => ["status code", value, whole(count)]),
  ];
  const faults = [
    ...faultRows("datetime", malformed.datetimes),
    ...faultRows("URI", malformed.uris),
    ...faultRows("line", malformed.lines),
  ];
  const total =
    mimeTypes.count +
    statusCodes.count +
    [malformed.datetimes, malformed.uris, malformed.lines]
      .flat()
      .reduce((sum, { count }) => sum + count, 0);
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
        : card(
            htmlTable({
              id: "malformed-values",
              caption: `Malformed MIME types (${wholeNumber(mimeTypes.count)} captures) and status codes (${wholeNumber(statusCodes.count)})`,
              columns: [texts("Column"), texts("Value"), numbers("Captures")],
              rows: values,
            }),
          ),
      faults.length === 0
        ? ""
        : card(
            htmlTable({
              id: "malformed-other",
              caption: "Malformed datetimes, URIs and lines",
              columns: [texts("What"), texts("Fault"), numbers("Count"), texts("Examples")],
              rows: faults,
            }),
          ),
    ].join("\n"),
  };
}

function faultRows(what: string, faults: readonly Fault[]) {
  return faults.map(({ fault, count, examples }) => [
    what,
    fault,
    whole(count),
    examples.slice(0, 3).join("  ·  "),
  ]);
}
