import { escapeHtml } from "../../publish/serve/html.ts";
import { htmlTable, type Table } from "./table.ts";
import { shortNumber, wholeNumber } from "./text-format.ts";

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

/** The style of a report: light and dark by preference, one column on phones, plain on paper. */
const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#1d2330;--soft:#5a6474;--line:#e3e1da;--grid:#ecebe6;--accent:#0b5c8a;
--c0:#0b6fa4;--c1:#d0612b;--c2:#2f8f5b;--c3:#8a5bb0;--c4:#b8892b;--c5:#c23b5a;--c6:#4a7f86;--c7:#6b7280;
--h0:#f1f0ec;--h1:#e3eef5;--h2:#c9dfec;--h3:#a9cce1;--h4:#83b5d3;--h5:#5c9cc3;--h6:#3b83b0;--h7:#256b98;--h8:#15547c;--h9:#0a3d5e;--dark:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#12151b;--card:#1a1f28;--ink:#e8eaee;--soft:#9aa4b3;--line:#2c333f;--grid:#262c37;--accent:#7cc4ee;
--c0:#5cb3e6;--c1:#f0935f;--c2:#63c493;--c3:#b990de;--c4:#dcb45c;--c5:#ee7b95;--c6:#7fb8c0;--c7:#9aa4b3;
--h0:#212732;--h1:#1d3444;--h2:#1f4258;--h3:#23526d;--h4:#2a6485;--h5:#33789e;--h6:#458fb7;--h7:#63a7cd;--h8:#8bc1e0;--h9:#bddef0;--dark:#0c1218}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:3.5rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.75rem}
h1{font-size:clamp(1.8rem,4.5vw,2.9rem);line-height:1.1;letter-spacing:-.02em;margin:0 0 .5rem;text-wrap:balance}
.lead{font-size:1.1rem;color:var(--soft);max-width:46rem;margin:0 0 1.5rem}
h2{font-size:1.55rem;letter-spacing:-.01em;margin:3.25rem 0 .35rem;padding-top:1.25rem;border-top:2px solid var(--ink)}
h3{font-size:1.02rem;margin:0 0 .5rem;line-height:1.3}
section>p{max-width:46rem;color:var(--soft);margin:.2rem 0 1.1rem}
nav{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:1px solid var(--line)}
nav ul{max-width:76rem;margin:0 auto;padding:0 1.25rem;display:flex;gap:1.15rem;list-style:none;overflow-x:auto;scrollbar-width:none}
nav a{display:block;padding:.75rem 0;color:var(--soft);text-decoration:none;white-space:nowrap;font-size:.92rem}
nav a:hover,nav a:focus-visible{color:var(--accent)}
a{color:var(--accent)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:0 0 1.5rem;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.85rem 1rem}
.tiles dt{color:var(--soft);font-size:.84rem;line-height:1.3}
.tiles dd{margin:.1rem 0 0;font-size:1.55rem;white-space:nowrap;font-weight:650;letter-spacing:-.02em;line-height:1.2}
.tiles dd small{display:block;font-size:.78rem;font-weight:400;letter-spacing:0;color:var(--soft);white-space:normal}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.1rem;align-items:start;margin-bottom:1.1rem}
figure,.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:0;padding:1rem 1.1rem;min-width:0}
section>.card,section>figure{margin-bottom:1.1rem}section>figure{max-width:50rem}
figcaption{color:var(--soft);font-size:.88rem;line-height:1.45;margin-top:.4rem}
svg{display:block;width:100%;height:auto;overflow:visible;touch-action:pan-y}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--soft);font-variant-numeric:tabular-nums}
svg .name{font-size:12.5px}svg .strong{font-weight:650;fill:var(--ink)}
svg .cell{font-size:11px;fill:var(--ink);pointer-events:none}svg .cell.dark{fill:var(--dark)}
svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--soft)}
svg .line{fill:none;stroke-width:2;stroke-linejoin:round}svg .dashed{stroke-dasharray:6 5;stroke-width:1.6}
svg .dot{opacity:0}svg .dot.solid,svg .dot.on{opacity:1}
svg rect.on,svg path.heat.on{stroke:var(--ink);stroke-width:1.5}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
circle.c0,rect.c0{fill:var(--c0)}circle.c1,rect.c1{fill:var(--c1)}circle.c2,rect.c2{fill:var(--c2)}circle.c3,rect.c3{fill:var(--c3)}circle.c4,rect.c4{fill:var(--c4)}circle.c5,rect.c5{fill:var(--c5)}circle.c6,rect.c6{fill:var(--c6)}circle.c7,rect.c7{fill:var(--c7)}
rect.bar{stroke:none}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}.h7{fill:var(--h7)}.h8{fill:var(--h8)}.h9{fill:var(--h9)}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1rem;list-style:none;margin:0 0 .35rem;padding:0;font-size:.85rem;color:var(--soft)}
.legend i{display:inline-block;width:1.1rem;height:0;border-top:3px solid;vertical-align:.25em;margin-right:.4rem}
.legend i.dashed{border-top-style:dashed;border-top-width:2px}
.legend .k0{border-color:var(--c0)}.legend .k1{border-color:var(--c1)}.legend .k2{border-color:var(--c2)}.legend .k3{border-color:var(--c3)}.legend .k4{border-color:var(--c4)}.legend .k5{border-color:var(--c5)}.legend .k6{border-color:var(--c6)}.legend .k7{border-color:var(--c7)}
details{margin-top:.6rem;font-size:.92rem}summary{cursor:pointer;color:var(--accent);width:max-content}
.table{overflow:auto;max-height:34rem;position:relative}
.card .table{margin:0 -.3rem}
table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.35}
caption{text-align:left;font-weight:650;padding:0 .5rem .4rem;position:sticky;left:0}
figure caption{display:none}
th,td{padding:.3rem .5rem;text-align:left;border-bottom:1px solid var(--grid);vertical-align:top}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--soft);white-space:nowrap;font-weight:600;z-index:1}
thead th button{all:unset;cursor:pointer;font:inherit;color:inherit}
thead th button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
thead th[aria-sort=ascending] button::after{content:" ▲";font-size:.7em}
thead th[aria-sort=descending] button::after{content:" ▼";font-size:.7em}
tbody th{font-weight:400;overflow-wrap:anywhere;min-width:9rem}
tfoot th,tfoot td{position:sticky;bottom:0;background:var(--card);font-weight:650;border-bottom:0;border-top:1px solid var(--soft)}
.n{text-align:right;white-space:nowrap}
td code{font-size:.95em;overflow-wrap:anywhere}
.tools{display:flex;gap:.5rem;justify-content:flex-end;margin:.4rem 0 0}
button.tool{font:inherit;font-size:.8rem;color:var(--accent);background:none;border:1px solid var(--line);border-radius:.4rem;padding:.15rem .6rem;cursor:pointer}
button.tool:hover{border-color:var(--accent)}
.download{display:inline-block;font:inherit;font-weight:600;color:var(--card);background:var(--accent);border:0;border-radius:.5rem;padding:.5rem 1rem;cursor:pointer}
#tip{position:fixed;z-index:5;pointer-events:none;background:var(--ink);color:var(--bg);padding:.25rem .55rem;border-radius:.35rem;font-size:.82rem;max-width:18rem;opacity:0;transition:opacity .1s}
footer{color:var(--soft);font-size:.88rem;margin-top:3rem;padding-bottom:3rem}
@media (max-width:40rem){body{font-size:15px}tbody th{min-width:6rem}svg text,svg .name,svg .cell{font-size:17px}figure,.card{padding:.8rem .75rem;border-radius:.4rem}header,main,footer{padding:0 .8rem}header{padding-top:1.5rem}.tiles{grid-template-columns:1fr 1fr}.tiles dd{font-size:1.35rem}}
@media print{:root{--bg:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#bbb;--grid:#ddd;--accent:#000;
--h0:#f4f4f4;--h1:#e3eef5;--h2:#c9dfec;--h3:#a9cce1;--h4:#83b5d3;--h5:#5c9cc3;--h6:#3b83b0;--h7:#256b98;--h8:#15547c;--h9:#0a3d5e;--dark:#fff;
--c0:#0b6fa4;--c1:#d0612b;--c2:#2f8f5b;--c3:#8a5bb0;--c4:#b8892b;--c5:#c23b5a;--c6:#4a7f86;--c7:#6b7280}
body{font-size:10pt}nav,.tools,.download,#tip{display:none}header,main,footer{max-width:none;padding:0}h2{margin-top:1.5rem}h2,section>p{break-after:avoid}.tiles{grid-template-columns:repeat(3,1fr)}tfoot{display:table-row-group}
figure,.card{break-inside:avoid;border-color:#ccc;padding:.6rem}.grid{grid-template-columns:1fr 1fr;gap:.6rem}.grid.wide{grid-template-columns:1fr}
.table{overflow:visible;max-height:none}.card:has(.table){break-inside:auto}table{font-size:8pt}tr{break-inside:avoid}figure details{display:none}thead th,tfoot th,tfoot td{position:static}.grid:has(>.card){grid-template-columns:1fr}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}#tip{transition:none}}
`.trim();

/**
 * The script of a report: sorts and copies tables, shows values under the pointer, gives the data
 * as a file. Without it, all is still there to read.
 */
const PAGE_SCRIPT = `
"use strict";
const tip = document.getElementById("tip");
let marked = null;
function unmark() {
  if (marked) marked.classList.remove("on");
  marked = null;
  tip.style.opacity = 0;
}
function mark(target, x, y) {
  if (marked !== target) {
    unmark();
    marked = target;
    target.classList.add("on");
    tip.textContent = target.dataset.tip;
  }
  tip.style.opacity = 1;
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = Math.max(4, y - tip.offsetHeight - 12) + "px";
}
function nearest(svg, x, y) {
  let best = null, least = 1600;
  for (const dot of svg.querySelectorAll("circle[data-tip]")) {
    const box = dot.getBoundingClientRect();
    const dx = box.left + box.width / 2 - x, dy = box.top + box.height / 2 - y;
    const distance = dx * dx + dy * dy;
    if (distance < least) { least = distance; best = dot; }
  }
  return best;
}
for (const svg of document.querySelectorAll("svg")) {
  const show = (event) => {
    const direct = event.target.closest("[data-tip]");
    const target = direct || nearest(svg, event.clientX, event.clientY);
    if (target) mark(target, event.clientX, event.clientY);
    else unmark();
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", unmark);
}
function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}
function sortBy(table, column, heading) {
  const isUp = heading.getAttribute("aria-sort") === "descending" || (!heading.classList.contains("n") && !heading.hasAttribute("aria-sort"));
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, i) => ({ row, i, value: valueOf(row, column) }));
  rows.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0) * (isUp ? 1 : -1) || a.i - b.i);
  body.append(...rows.map(({ row }) => row));
}
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
for (const holder of document.querySelectorAll(".table")) {
  const table = holder.querySelector("table");
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, column, heading));
  });
  const copy = document.createElement("button");
  copy.className = "tool";
  copy.textContent = "Copy";
  copy.title = "Copy the table, to paste into a spreadsheet";
  copy.addEventListener("click", async () => {
    const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent).join("\\t"));
    await copyText(rows.join("\\n"));
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(copy);
  holder.after(tools);
}
const download = document.getElementById("download");
download.hidden = false;
download.addEventListener("click", () => {
  const link = document.createElement("a");
  const data = document.getElementById("data").textContent;
  link.href = URL.createObjectURL(new Blob([data], { type: "application/json" }));
  link.download = download.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
`.trim();
