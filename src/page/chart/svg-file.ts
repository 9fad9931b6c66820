import { escapeHtml } from "../html.ts";
import { colorsOf, LIGHT } from "../tokens.ts";
import { MARK_STYLE } from "./chart-style.ts";
import { CHART, type Drawing, keySvg } from "./drawing.ts";

const TOP = 34;
const ROW = 20;
/** Approximate width of a letter in the legend. */
const LETTER = 6.5;

/** A drawing as a standalone SVG file, with title and legend, in print colours. */
export function svgFile(
  { marks, legend = [], height = CHART.height }: Drawing,
  title: string,
): string {
  let [x, y] = [12, TOP];
  const keys = (legend.length < 2 ? [] : legend).map((item) => {
    const space = 48 + item.name.length * LETTER;
    if (x > 12 && x + space > CHART.width) [x, y] = [12, y + ROW];
    const key = `<g transform="translate(${x} ${y})">${keySvg(item)}<text x="30" y="11">${escapeHtml(item.name)}</text></g>`;
    x += space;
    return key;
  });
  const top = keys.length === 0 ? TOP : y + ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 ${CHART.width} ${height + top}" width="${CHART.width}" height="${height + top}">
<title>${escapeHtml(title)}</title>
<style>${SVG_STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" class="title">${escapeHtml(title)}</text>${keys.join("")}
<g transform="translate(0 ${top})">${marks.replaceAll(/ data-tip="[^"]*"/g, "")}</g>
</svg>
`;
}

const COLORS: ReadonlyMap<string, string> = new Map([
  ...colorsOf({ ...LIGHT, card: "#ffffff" }),
  ["sans", "sans-serif"],
]);
/** The style of such a file, without custom properties, which few SVG renderers support. */
export const SVG_STYLE: string =
  `${MARK_STYLE}svg.drawing .title{font-size:15px;font-weight:600;fill:${LIGHT.ink}}`.replaceAll(
    /var\(--([\w-]+)\)/g,
    (_, name: string) => COLORS.get(name) ?? "",
  );
