/**
 * The part of a report's script that is about charts: values under the pointer, at a tap and by
 * arrow keys; charts as SVG and PNG, in the colours that are on the screen.
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
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
/** Writes what the style of the page says of a mark into the mark itself. */
function drawnCopy(source, textSize) {
  const copy = source.cloneNode(true);
  const from = [source, ...source.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    if (style.opacity === "0") return to[i].remove();
    for (const name of DRAWN) {
      const value = style.getPropertyValue(name);
      if (value !== "" && value !== "none" || name === "fill") to[i].setAttribute(name, value);
    }
    if (element.tagName === "text") to[i].setAttribute("font-size", textSize);
    for (const name of ["class", "data-tip"]) to[i].removeAttribute(name);
  });
  return copy;
}
function svgElement(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
/** The chart as a drawing of its own, with title, legend and background. */
function chartSvg(figure) {
  unmark();
  const source = figure.querySelector("svg.drawing");
  const [, , width, height] = source.getAttribute("viewBox").split(" ").map(Number);
  const style = getComputedStyle(document.body);
  const [ink, soft, card] = ["--ink", "--soft", "--card"].map((name) => style.getPropertyValue(name));
  const font = getComputedStyle(source.querySelector("text")).fontFamily;
  const parts = [svgElement("text", { x: 12, y: 24, fill: ink, "font-family": font, "font-size": 15, "font-weight": 600 }, figure.querySelector("h3").textContent)];
  let x = 12, y = 34;
  for (const item of figure.querySelectorAll(".legend li")) {
    const space = 30 + item.textContent.length * 7 + 18;
    if (x > 12 && x + space > width) { x = 12; y += 20; }
    const key = drawnCopy(item.querySelector("svg"), 12);
    for (const [name, value] of Object.entries({ x, y, width: 24, height: 14, preserveAspectRatio: "xMinYMid meet" })) key.setAttribute(name, value);
    parts.push(key, svgElement("text", { x: x + 30, y: y + 11, fill: soft, "font-family": font, "font-size": 12 }, item.textContent));
    x += space;
  }
  const top = parts.length > 1 ? y + 24 : 36;
  const drawing = drawnCopy(source, 12);
  for (const name of ["aria-describedby", "tabindex", "preserveAspectRatio"]) drawing.removeAttribute(name);
  for (const [name, value] of Object.entries({ x: 0, y: top, width, height })) drawing.setAttribute(name, value);
  const all = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 " + width + " " + (height + top + 8), width, height: height + top + 8 });
  all.append(svgElement("rect", { width: "100%", height: "100%", fill: card }), ...parts, drawing);
  return all;
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
