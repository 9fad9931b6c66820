import { SVG_STYLE } from "../../page/chart/svg-file.ts";

/**
 * The script of a report: sorts tables, shows the values of charts on hover, on tap and with arrow keys,
 * and saves tables, charts and data as files. The report is readable without it.
 */
export const REPORT_SCRIPT: string = `
"use strict";
function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function addTools(element, tools) {
  const bar = document.createElement("div");
  bar.className = "tools";
  for (const [name, action] of Object.entries(tools)) {
    const button = document.createElement("button");
    button.className = "tool";
    button.textContent = name;
    button.title = "Save as " + name;
    button.addEventListener("click", action);
    bar.append(button);
  }
  element.after(bar);
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
// Text that a spreadsheet would take for a formula is led by an apostrophe; numbers are left as they are.
function csvCell({ dataset, textContent }) {
  const text = dataset.v ?? textContent;
  const safe = /^[=+@\\t\\r]|^-(?![\\d.])/.test(text) ? "'" + text : text;
  return /[",\\r\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}
function saveCsv(name, table) {
  const lines = [...table.rows].map((row) => [...row.cells].map(csvCell).join(",") + "\\r\\n");
  save(name + ".csv", lines.join(""), "text/csv");
}
for (const holder of document.querySelectorAll(".table")) {
  const table = holder.querySelector("table");
  holder.tabIndex = 0;
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, column, heading));
  });
  if (holder.closest("figure") === null) addTools(holder, { CSV: () => saveCsv(holder.id, table) });
}
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
function middle(target) {
  const box = target.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}
function nearest(svg, x, y) {
  let best = null, least = 1600;
  for (const dot of svg.querySelectorAll("path.dot[data-tip]")) {
    const at = middle(dot);
    const distance = (at.x - x) ** 2 + (at.y - y) ** 2;
    if (distance < least) { least = distance; best = dot; }
  }
  return best;
}
const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
for (const svg of document.querySelectorAll("svg.drawing")) {
  const show = ({ target, clientX, clientY }) => {
    const shown = target.closest("[data-tip]") || nearest(svg, clientX, clientY);
    if (shown) mark(shown, clientX, clientY);
    else unmark();
  };
  svg.tabIndex = 0;
  svg.setAttribute("aria-describedby", "chart-keys");
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  // A finger leaves as soon as it is lifted: what it tapped stays until it taps elsewhere.
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") unmark(); });
  svg.addEventListener("blur", unmark);
  svg.addEventListener("keydown", (event) => {
    const all = [...svg.querySelectorAll("[data-tip]")], by = KEYS[event.key];
    if (event.key === "Escape") unmark();
    else if (by === undefined || all.length === 0) return;
    else {
      const now = all.indexOf(marked);
      const target = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : (now + by + all.length) % all.length];
      const at = middle(target);
      mark(target, at.x, at.y);
    }
    event.preventDefault();
  });
}
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest("svg.drawing") === null) unmark();
});
addEventListener("scroll", () => { if (!document.activeElement.matches("svg.drawing")) unmark(); }, { passive: true });
/** Saves a chart as --svg writes it. */
function saveSvg(figure) {
  unmark();
  const svg = figure.querySelector("template").content.firstElementChild.cloneNode(true);
  svg.querySelector("style").textContent = ${JSON.stringify(SVG_STYLE)};
  svg.lastElementChild.innerHTML = figure.querySelector("svg.drawing").innerHTML;
  for (const mark of svg.querySelectorAll("[data-tip]")) mark.removeAttribute("data-tip");
  save(figure.id + ".svg", new XMLSerializer().serializeToString(svg), "image/svg+xml");
}
for (const figure of document.querySelectorAll("figure.chart")) {
  addTools(figure.querySelector("figcaption"), {
    SVG: () => saveSvg(figure),
    CSV: () => saveCsv(figure.id, figure.querySelector("table")),
  });
}
const download = document.getElementById("download");
download.hidden = false;
download.addEventListener("click", () => {
  save(download.dataset.name, document.getElementById("data").textContent, "application/json");
});
`.trim();
