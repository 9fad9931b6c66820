import { CHART_SCRIPT } from "./chart-script.ts";

/**
 * The script of a report: sorts, copies and saves tables, shows values of charts, gives charts and data
 * as files. Without it, all is still there to read.
 */
export const REPORT_SCRIPT: string = `
"use strict";
function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function addTool(tools, name, title, action) {
  const button = document.createElement("button");
  button.className = "tool";
  button.textContent = name;
  button.title = title;
  button.addEventListener("click", () => action(button));
  tools.append(button);
}
function toolsAfter(element) {
  const tools = document.createElement("div");
  tools.className = "tools";
  element.after(tools);
  return tools;
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
function cellsOf(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent));
}
// Text that a spreadsheet would take for a formula is led by an apostrophe; numbers are left as they are.
function csvCell(text) {
  const safe = /^[=+@\\t\\r]|^-(?![\\d.])/.test(text) ? "'" + text : text;
  return /[",\\r\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}
function csvOf(table) {
  return cellsOf(table).map((row) => row.map(csvCell).join(",") + "\\r\\n").join("");
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
  const tools = toolsAfter(holder);
  addTool(tools, "Copy", "Copy the table, to paste into a spreadsheet", async (button) => {
    await copyText(cellsOf(table).map((row) => row.join("\\t")).join("\\n"));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  if (holder.closest("figure") === null) {
    addTool(tools, "CSV", "Save the table as CSV", () => save(holder.id + ".csv", csvOf(table), "text/csv"));
  }
}
${CHART_SCRIPT}
const download = document.getElementById("download");
download.hidden = false;
download.addEventListener("click", () => {
  save(download.dataset.name, document.getElementById("data").textContent, "application/json");
});
`.trim();
