import { CHART } from "../src/page/chart/drawing.ts";
import { lineChart } from "../src/page/chart/line-chart.ts";

const COLORS = ["#0b6fa4", "#5aa9d6", "#d0612b", "#e8a47f", "#2f8f5b", "#8a5bb0"];
const LEGEND_HEIGHT = 40;
const LEGEND_COLUMNS = 3;

/** A chart of lines as an SVG file of its own, for the documentation. */
export function chartSvg(title: string, chart: Parameters<typeof lineChart>[0]): string {
  const { series } = chart;
  const drawing = lineChart(chart);
  const width = CHART.width / LEGEND_COLUMNS;
  const legend = series.map(({ name }, i) => {
    const x = CHART.right + width * (i % LEGEND_COLUMNS);
    const y = 14 + 18 * Math.floor(i / LEGEND_COLUMNS);
    return `<line class="line c${i}" x1="${x}" x2="${x + 18}" y1="${y - 4}" y2="${y - 4}"/><text x="${x + 24}" y="${y}">${name}</text>`;
  });
  const colors = COLORS.map((color, i) => `.c${i}{stroke:${color};fill:${color}}`);
  const height = CHART.height + LEGEND_HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CHART.width} ${height}" role="img" aria-label="${title}">
<title>${title}</title>
<style>text{font:12px system-ui,sans-serif;fill:#5a6474}.grid{stroke:#ecebe6}.axis{stroke:#5a6474}${colors.join("")}.line{fill:none;stroke-width:2}.dot{stroke:none}</style>
<rect width="${CHART.width}" height="${height}" fill="#fff"/>
${legend.join("")}
<g transform="translate(0 ${LEGEND_HEIGHT})">${drawing.marks.replaceAll(/ data-tip="[^"]*"/g, "")}</g>
</svg>
`;
}
