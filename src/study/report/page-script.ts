/**
 * The script of a report: sorts and copies tables, shows values under the pointer, gives the data
 * as a file. Without it, all is still there to read.
 */
export const PAGE_SCRIPT = `
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
