import { embeddedJson, escapeHtml } from "./html.ts";
import type { RunRecord } from "./run-record.ts";
import { runText } from "./run-record.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** A number to see at a glance. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly remark?: string | undefined;
}

export interface PageSection {
  readonly id: string;
  readonly title: string;
  /** One or two sentences on what the section shows. */
  readonly text: string;
  /** HTML. */
  readonly content: string;
}

export interface Page {
  readonly title: string;
  readonly lead: string;
  readonly tiles: readonly Tile[];
  readonly sections: readonly PageSection[];
  /** Embedded in the page, and downloadable as a file of this name. */
  readonly data: unknown;
  readonly dataName: string;
  readonly run: RunRecord;
}

/** Nothing may be fetched: the policy makes the browser refuse it. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

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
<style>${PAGE_STYLE}</style>
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
<div id="tip" role="status"></div>
<script type="application/json" id="data">${embeddedJson(page.data)}</script>
<script>${PAGE_SCRIPT}</script>
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

/** Figures or cards side by side where there is room. */
export function grid(...items: readonly string[]): string {
  return `<div class="grid">${items.join("\n")}</div>`;
}

/** A table, or other content, on a card of its own. */
export function card(content: string): string {
  return `<div class="card">${content}</div>`;
}
