import type { Analysis } from "../analyze/analysis.ts";
import { numbers, texts, whole } from "./cells.ts";
import { contentSection, faultSection } from "./content-section.ts";
import { distributionSection, placesSection } from "./distribution-section.ts";
import { growthSection } from "./growth-section.ts";
import { escapeHtml } from "./html.ts";
import { htmlTable } from "./html-table.ts";
import { dateOf, percent, shortAmount, shortNumber, wholeNumber } from "./number-format.ts";
import type { PageSection, Tile } from "./page.ts";
import { card, pageHtml } from "./page.ts";
import type { RunRecord } from "./run-record.ts";
import { reductionSection, treeSection } from "./tree-section.ts";

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
