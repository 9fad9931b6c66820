import { createHash } from "node:crypto";
import { escapeHtml } from "../../page/html.ts";
import { REPORT_SCRIPT } from "./report-script.ts";
import { REPORT_STYLE } from "./report-style.ts";
import { htmlTable, type Table } from "./table.ts";
import { shortNumber, wholeNumber } from "../../page/text-format.ts";

/** A number to see at a glance. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly remark?: string | undefined;
}

/** A count in short, and as it is. */
export function countTile(name: string, count: number): Tile {
  return { name, value: shortNumber(count), remark: wholeNumber(count) };
}

export interface PageSection {
  readonly id: string;
  readonly title: string;
  /** One or two sentences on what the section shows. */
  readonly text: string;
  /** HTML. */
  readonly content: string;
}

interface Page {
  readonly title: string;
  readonly lead: string;
  readonly tiles: readonly Tile[];
  readonly sections: readonly PageSection[];
  /** Embedded in the page, and downloadable as a file of this name. */
  readonly data: unknown;
  readonly dataName: string;
  readonly run: RunRecord;
}

/** Nothing may be fetched or run but what the page itself has: the browser refuses all else. */
const POLICY = [
  "default-src 'none'",
  `style-src '${digest(REPORT_STYLE)}'`,
  `script-src '${digest(REPORT_SCRIPT)}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** A report as one HTML file that needs nothing else. */
export function pageHtml(page: Page): string {
  const { title, lead, tiles, sections, run } = page;
  const links = sections.map(
    ({ id, title: name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="generator" content="${escapeHtml(run.generator)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${REPORT_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<p class="lead">${escapeHtml(lead)}</p>
<dl class="tiles">${tiles.map((tile) => tileHtml(tile)).join("")}</dl>
<button class="download" id="download" data-name="${escapeHtml(page.dataName)}" hidden>Download the data (JSON)</button>
</header>
<nav aria-label="Sections"><ul>${links.join("")}</ul></nav>
<main>
${sections.map((section) => sectionHtml(section)).join("\n")}
</main>
<footer><p>${escapeHtml(runText(run))} One file: nothing on this page is fetched from elsewhere.</p></footer>
<p id="chart-keys" class="unseen">The left and right arrow keys read the values of a chart.</p>
<div id="tip" role="status"></div>
<script type="application/json" id="data">${embeddedJson(page.data)}</script>
<script>${REPORT_SCRIPT}</script>
</body>
</html>
`;
}

function tileHtml({ name, value, remark }: Tile): string {
  const small = remark === undefined ? "" : `<small>${escapeHtml(remark)}</small>`;
  return `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}${small}</dd></div>`;
}

function sectionHtml({ id, title, text, content }: PageSection): string {
  return `<section id="${id}"><h2>${escapeHtml(title)}</h2><p>${escapeHtml(text)}</p>${content}</section>`;
}

/** JSON that can stand in a `script` element: nothing in it can end the element. */
function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028");
}

/** Figures or cards side by side where there is room. */
export function grid(...items: readonly string[]): string {
  return `<div class="grid">${items.join("\n")}</div>`;
}

/** A table, and what is said below it, on a card of its own. */
export function card<Row>(table: Table<Row>, more: string = ""): string {
  return `<div class="card">${htmlTable(table)}${more}</div>`;
}

/** What made a report, from what, and when: for later readers. */
export interface RunRecord {
  /** Such as `mementomap/1.0.0`. */
  readonly generator: string;
  /** ISO 8601, in UTC. */
  readonly at: string;
  /** Files, by what they were given as. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  /** Options that say what counts, by name. */
  readonly filters: Readonly<Record<string, string | readonly string[]>>;
}

/** The record in words, for the end of a page. */
function runText({ generator, at, inputs, filters }: RunRecord): string {
  const given = Object.entries(inputs).map(([name, paths]) => `${name} ${paths.join(", ")}`);
  const counted = Object.entries(filters).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : value.join(", ")}`,
  );
  const filter = counted.length === 0 ? "without filters" : `with ${counted.join("; ")}`;
  return `Made by ${generator} on ${at.slice(0, 16).replace("T", " at ")} UTC of ${given.join("; ")}, ${filter}.`;
}
