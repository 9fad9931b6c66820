import type { DepthRow } from "../analyze/depth-statistics.ts";
import { CHART, px, svgDrawing } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { shortNumber, wholeNumber } from "./number-format.ts";

const ROW_HEIGHT = 34;
const TOP = 26;
const MIDDLE = 275;
const HALF_WIDTH = 200;
const LEVELS = 9;

/**
 * Draws the shape of one layer of the tree of keys, as the paper's figure: at each depth a band from
 * the parents above to the children below, in a stronger colour for more children to a parent.
 */
export function treeShape(rows: readonly DepthRow[], title: string, description: string): string {
  const height = TOP + rows.length * ROW_HEIGHT + 12;
  const widest = Math.max(1, ...rows.map(({ children }) => children));
  const most = Math.max(1, ...rows.map(({ meanChildren }) => Math.log10(meanChildren + 1)));
  const half = (count: number): number => Math.max(1, (count / widest) * HALF_WIDTH);
  const bands = rows.map((row, i) => {
    const y = TOP + i * ROW_HEIGHT;
    const [upper, lower] = [half(row.parents), half(row.children)];
    const shade = Math.max(1, Math.round((Math.log10(row.meanChildren + 1) / most) * LEVELS));
    const tip = `${row.depth}: ${wholeNumber(row.parents)} parents, ${wholeNumber(row.children)} children, ${row.meanChildren.toFixed(2)} on average`;
    const corners = [
      [MIDDLE - upper, y],
      [MIDDLE + upper, y],
      [MIDDLE + lower, y + ROW_HEIGHT - 4],
      [MIDDLE - lower, y + ROW_HEIGHT - 4],
    ];
    const path = corners.map(([x = 0, at = 0]) => `${px(x)} ${px(at)}`).join("L");
    const middle = px(y + ROW_HEIGHT / 2 - 2);
    return `<path class="heat h${shade}" d="M${path}Z" data-tip="${escapeHtml(tip)}"/><text class="tick strong" x="28" y="${middle}" dy="0.32em">${escapeHtml(row.depth)}</text><text class="tick" x="${CHART.width - 92}" y="${middle}" dy="0.32em" text-anchor="end">${shortNumber(row.parents)}</text><text class="tick" x="${CHART.width - 14}" y="${middle}" dy="0.32em" text-anchor="end">${shortNumber(row.children)}</text>`;
  });
  const names = `<text class="name" x="28" y="14">depth</text><text class="name" x="${CHART.width - 92}" y="14" text-anchor="end">parents</text><text class="name" x="${CHART.width - 14}" y="14" text-anchor="end">children</text>`;
  return svgDrawing(names + bands.join(""), { title, description, height });
}
