import { createHash } from "node:crypto";
import { drawingHtml } from "../../page/chart/drawing.ts";
import { SVG_STYLE, svgFile } from "../../page/chart/svg-file.ts";
import { escapeHtml } from "../../page/html.ts";
import {
  type Block,
  cellText,
  type Column,
  type Fact,
  factText,
  headingOf,
  isTable,
  type Report,
  type Section,
  type Table,
} from "./report.ts";
import { REPORT_SCRIPT } from "./report-script.ts";
import { REPORT_STYLE } from "./report-style.ts";

/** The provenance of a report: program, inputs and time. */
export interface RunRecord {
  /** Such as `mementomap/1.0.0`. */
  readonly generator: string;
  /** ISO 8601, in UTC. */
  readonly at: string;
  /** Files by role. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  /** Filter options by name. */
  readonly filters: Readonly<Record<string, string | readonly string[]>>;
}

/** The page may only use its own script and styles; the browser blocks everything else. */
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

/** A report as one self-contained HTML file. */
export function reportHtml(report: Report, run: RunRecord): string {
  const { name, title, lead, facts, sections, data } = report;
  const links = sections.map(
    (section) => `<li><a href="#${section.id}">${escapeHtml(section.title)}</a></li>`,
  );
  const file = Array.isArray(data)
    ? data.map((each: object) => ({ ...each, run }))
    : Object.assign({}, data, { run });
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
<dl class="tiles">${facts.map(tileHtml).join("")}</dl>
<button class="download" id="download" data-name="${name}.json" hidden>Download the data (JSON)</button>
</header>
<nav aria-label="Sections"><ul>${links.join("")}</ul></nav>
<main>
${sections.map(sectionHtml).join("\n")}
</main>
<footer><p>${escapeHtml(runText(run))} One file: nothing on this page is fetched from elsewhere.</p></footer>
<p id="chart-keys" class="unseen">The left and right arrow keys read the values of a chart.</p>
<div id="tip" role="status"></div>
<script type="application/json" id="data">${embeddedJson(file)}</script>
<script>${REPORT_SCRIPT}</script>
</body>
</html>
`;
}

function tileHtml(fact: Fact): string {
  const small = fact.remark === undefined ? "" : `<small>${escapeHtml(fact.remark)}</small>`;
  return `<div><dt>${escapeHtml(fact.name)}</dt><dd>${escapeHtml(factText(fact))}${small}</dd></div>`;
}

function sectionHtml({ id, title, text, blocks }: Section): string {
  const content = blocks.map((block) =>
    Array.isArray(block)
      ? `<div class="grid">${block.map(blockHtml).join("\n")}</div>`
      : blockHtml(block as Block),
  );
  return `<section id="${id}"><h2>${escapeHtml(title)}</h2><p>${escapeHtml(text)}</p>${content.join("\n")}</section>`;
}

function blockHtml(block: Block): string {
  if (!isTable(block)) {
    const items = block.notes.map((note) => `<li>${escapeHtml(note)}</li>`);
    return items.length === 0 ? "" : `<div class="card"><ul>${items.join("")}</ul></div>`;
  }
  const { id, title, rows, figure } = block;
  if (figure === undefined) {
    return rows.length === 0 ? "" : `<div class="card">${tableHtml(block, id)}</div>`;
  }
  const drawing = figure.draw();
  // The script adds marks and style when it saves the file; the page has them only once.
  const file = svgFile({ ...drawing, marks: "" }, title).replace(SVG_STYLE, "");
  return `<figure id="${id}" class="chart">
<h3>${escapeHtml(title)}</h3>
${drawingHtml(drawing, `${title}. ${figure.caption}`)}
<template>${file}</template>
<figcaption>${escapeHtml(figure.caption)}</figcaption>
<details><summary>The numbers</summary>
${tableHtml(block, `${id}-numbers`)}
</details>
</figure>`;
}

/** The table as HTML, which the page's script makes sortable and copyable. */
function tableHtml<Row>({ title, columns, rows, totals = [] }: Table<Row>, id: string): string {
  const head = columns.map(
    (column) =>
      `<th scope="col"${column.unit === "text" ? "" : ' class="n"'} data-v="${escapeHtml(column.name)}"${column.help === undefined ? "" : ` title="${escapeHtml(column.help)}"`}>${escapeHtml(headingOf(column))}</th>`,
  );
  const line = (row: Row): string =>
    `<tr>${columns.map((column, i) => cellHtml(row, column, i === 0)).join("")}</tr>`;
  const foot = totals.length === 0 ? "" : `<tfoot>${totals.map(line).join("")}</tfoot>`;
  return `<div class="table" id="${id}"><table><caption>${escapeHtml(title)}</caption><thead><tr>${head.join("")}</tr></thead><tbody>${rows.map(line).join("")}</tbody>${foot}</table></div>`;
}

function cellHtml<Row>(row: Row, column: Column<Row>, isFirst: boolean): string {
  const text = escapeHtml(cellText(row, column));
  const name = isFirst ? 'th scope="row"' : "td";
  // The value for sorting and CSV: all digits; empty if unknown.
  const value = escapeHtml(String(column.value(row) ?? ""));
  const number = column.unit === "text" ? "" : ` class="n" data-v="${value}"`;
  return `<${name}${number}>${text}</${name.slice(0, 2)}>`;
}

/** JSON that is safe in a `script` element: it cannot end the element. */
function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028");
}

/** The run record as text, for the footer. */
function runText({ generator, at, inputs, filters }: RunRecord): string {
  const given = Object.entries(inputs).map(([name, paths]) => `${name} ${paths.join(", ")}`);
  const counted = Object.entries(filters).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : value.join(", ")}`,
  );
  const filter = counted.length === 0 ? "without filters" : `with ${counted.join("; ")}`;
  return `Made by ${generator} on ${at.slice(0, 16).replace("T", " at ")} UTC from ${given.join("; ")}, ${filter}.`;
}
