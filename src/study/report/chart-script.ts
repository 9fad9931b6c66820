import { SVG_STYLE } from "../../page/chart/svg-file.ts";

/**
 * The part of a report's script that is about charts: values under the pointer, at a tap and by
 * arrow keys; charts as SVG and PNG.
 */
export const CHART_SCRIPT: string = `
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
function step(svg, by) {
  const all = [...svg.querySelectorAll("[data-tip]")];
  if (all.length === 0) return;
  const now = all.indexOf(marked);
  const target = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : (now + by + all.length) % all.length];
  const at = middle(target);
  mark(target, at.x, at.y);
}
const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
for (const svg of document.querySelectorAll("svg.drawing")) {
  const show = (event) => {
    const direct = event.target.closest("[data-tip]");
    const target = direct || nearest(svg, event.clientX, event.clientY);
    if (target) mark(target, event.clientX, event.clientY);
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
    if (event.key === "Escape") unmark();
    else if (KEYS[event.key] === undefined || svg.querySelector("[data-tip]") === null) return;
    else step(svg, KEYS[event.key]);
    event.preventDefault();
  });
}
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest("svg.drawing") === null) unmark();
});
addEventListener("scroll", () => { if (!document.activeElement.matches("svg.drawing")) unmark(); }, { passive: true });
/** The chart as a file of its own, as --svg writes it. */
function chartSvg(figure) {
  unmark();
  const svg = figure.querySelector("template").content.firstElementChild.cloneNode(true);
  svg.querySelector("style").textContent = ${JSON.stringify(SVG_STYLE)};
  svg.lastElementChild.innerHTML = figure.querySelector("svg.drawing").innerHTML;
  for (const mark of svg.querySelectorAll("[data-tip]")) mark.removeAttribute("data-tip");
  return svg;
}
function svgText(svg) {
  return new XMLSerializer().serializeToString(svg);
}
const PNG_SCALE = 3;
async function chartPng(figure) {
  const svg = chartSvg(figure);
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(svg));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = svg.getAttribute("width") * PNG_SCALE;
  canvas.height = svg.getAttribute("height") * PNG_SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}
for (const figure of document.querySelectorAll("figure.chart")) {
  const tools = toolsAfter(figure.querySelector("figcaption"));
  addTool(tools, "SVG", "Save the chart as SVG", () => save(figure.id + ".svg", svgText(chartSvg(figure)), "image/svg+xml"));
  addTool(tools, "PNG", "Save the chart as PNG", async () => save(figure.id + ".png", await chartPng(figure)));
  addTool(tools, "CSV", "Save the numbers as CSV", () => save(figure.id + ".csv", csvOf(figure.querySelector("table")), "text/csv"));
}
`.trim();
