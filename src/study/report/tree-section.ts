import type { Analysis } from "../analyze/analysis.ts";
import type { DepthRow, ReductionCurve } from "../analyze/histogram.ts";
import type { PowerLawFit } from "../../map/compact/children-fit.ts";
import { escapeHtml } from "../../page/html.ts";
import { depthTable, exactDepthTable } from "./analysis-tables.ts";
import { CHART, type Drawing, NEUTRAL, px } from "../../page/chart/drawing.ts";
import { lineChart, type Series } from "../../page/chart/line-chart.ts";
import { figureHtml } from "./figure.ts";
import { decimal, numbers, share, texts, whole } from "./table.ts";
import { fitQuality, shortNumber, shortPercent, wholeNumber } from "../../page/text-format.ts";
import type { PageSection } from "./page.ts";
import { card, grid } from "./page.ts";

/** Curves drawn at most in one chart; deeper ones lie on the axis. */
const MAX_CURVES = 8;

/** The shape of the tree of keys: the paper's figures and tables of depths. */
export function treeSection(analysis: Analysis): PageSection {
  const { hosts, keys } = analysis.index;
  const total = { depth: "Total", hosts, keysByHost: keys, keysByPath: keys };
  return {
    id: "shape",
    title: "Shape of the tree",
    text:
      "Keys are hosts and paths without queries (HxPx). H1 is the top-level domain, H2 the domain " +
      "below it; P0 is a host’s home page, P1 the first path segment.",
    content: [
      grid(shapeFigure(analysis, "H", "Hosts"), shapeFigure(analysis, "P", "Paths")),
      card(depthTable(analysis)),
      card({ ...exactDepthTable(analysis), footer: [total] }),
    ].join("\n"),
  };
}

function shapeFigure({ depths }: Analysis, layer: "H" | "P", name: string): string {
  const rows = depths.filter(({ depth }) => depth.startsWith(layer));
  const title = `${name}: parents and children by depth`;
  const widest = rows.reduce<DepthRow | undefined>(
    (a, b) => (a === undefined || b.children > a.children ? b : a),
    undefined,
  );
  const caption = `Each band runs from the parents above to the children below; stronger colours have more children to a parent. Widest at ${widest?.depth ?? "none"}.`;
  return figureHtml<DepthRow>({
    id: `shape-${layer.toLowerCase()}`,
    title,
    caption,
    drawing: treeShape(rows),
    columns: [
      texts("Depth", (row) => row.depth),
      numbers("Parents", (row) => whole(row.parents)),
      numbers("Children", (row) => whole(row.children)),
      numbers("Mean children", (row) => decimal(row.meanChildren)),
    ],
    rows,
  });
}

const OF_ALL = "of all keys";
const OF_DEPTH = "of the depth’s nodes";
const INCREMENTAL = "Incremental reduction of";

/** What rolling keys up would save: the paper's reduction figures and the laws behind compact. */
export function reductionSection({ reduction, fits, depths }: Analysis): PageSection {
  const { hostGlobal, pathGlobal, hostIncremental, pathIncremental } = reduction;
  return {
    id: "reduction",
    title: "Reduction",
    text:
      "How much smaller the list of keys gets when the largest sub-trees are replaced by one " +
      "wildcard each; and the laws that compact uses to decide where.",
    content: grid(
      curveFigure("global-host", "Global reduction at hosts", hostGlobal, OF_ALL),
      curveFigure("global-path", "Global reduction at paths", pathGlobal, OF_ALL),
      curveFigure("children-host", `${INCREMENTAL} host children`, hostIncremental, OF_DEPTH),
      curveFigure("children-path", `${INCREMENTAL} path children`, pathIncremental, OF_DEPTH),
      fitFigure("fit-host", "Mean children by host depth", depths, fits.hostPower, "H"),
      fitFigure("fit-path", "Mean children by path depth", depths, fits.pathPower, "P"),
    ),
  };
}

function curveFigure(
  id: string,
  title: string,
  curves: readonly ReductionCurve[],
  of: string,
): string {
  const shown = curves.filter(({ points }) => (points.at(-1)?.y ?? 0) > 0).slice(0, MAX_CURVES);
  const laws = shown.flatMap(({ depth, heaps }) =>
    heaps === undefined ? [] : [`${depth} ${heaps.beta.toFixed(2)}`],
  );
  const caption = `The share ${of} that is gone when nodes are rolled up, largest first. A curve that rises early has a few very large nodes. Exponents β of Heaps’ law: ${laws.join(", ")}.`;
  return figureHtml<{ depth: string; x: number; y: number; law: number | null }>({
    id,
    title,
    caption,
    drawing: lineChart({
      x: { name: "nodes rolled up (log)", isLog: true },
      y: { name: `reduction (%)`, text: shortPercent },
      series: [
        ...shown.map(({ depth, points }) => ({ name: depth, points })),
        ...shown.map((one, color) => ({ ...heapsSeries(one), color })),
      ],
      steps: shown.length,
      legend: [
        ...shown.map(({ depth }, color) => ({ name: depth, color })),
        { name: "Heaps’ law", style: "dashed", color: NEUTRAL },
      ],
    }),
    columns: [
      texts("Depth", (row) => row.depth),
      numbers("Nodes rolled up", (row) => whole(row.x)),
      numbers("Reduction %", (row) => share(row.y, 3)),
      numbers("Heaps’ law %", (row) => share(row.law, 3)),
    ],
    rows: shown.flatMap(({ depth, points, heaps }) =>
      points.map(({ x, y }) => ({
        depth,
        x,
        y,
        law: heaps === undefined ? null : heaps.k * x ** heaps.beta,
      })),
    ),
  });
}

/** The fitted law, as far as it stays below the curve's own top. */
function heapsSeries({ depth, points, heaps }: ReductionCurve): Series {
  const top = points.at(-1)?.y ?? 0;
  return {
    name: `${depth}, Heaps’ law`,
    style: "dashed",
    points:
      heaps === undefined
        ? []
        : points
            .filter(({ x }) => x > 0)
            .map(({ x }) => ({ x, y: heaps.k * x ** heaps.beta }))
            .filter(({ y }) => y <= top),
  };
}

function fitFigure(
  id: string,
  title: string,
  depths: readonly DepthRow[],
  law: PowerLawFit | undefined,
  layer: "H" | "P",
): string {
  // A host of depth d is rolled up by its children at d + 1; a path by those at d.
  const offset = layer === "H" ? 1 : 0;
  const first = layer === "H" ? 3 : 1;
  const rows = depths
    .filter(({ depth }) => depth.startsWith(layer))
    .map((row) => ({ ...row, level: Number(row.depth.slice(1)) }))
    .filter(({ level }) => level >= first && level <= 9);
  const points = rows.map(({ depth, level, meanChildren }) => ({
    x: level - offset,
    y: meanChildren,
    label: depth,
  }));
  const caption =
    law === undefined
      ? "Too few depths to fit a power law."
      : `Children = ${law.a.toPrecision(4)} · depth^−${law.k.toFixed(3)} (${fitQuality(law, "R²")}), fitted as in the paper: ${layer === "H" ? "H3 to H9, where depth is 2 at H3" : "P1 to P9, where depth is 1 at P1"}.`;
  const steps = Array.from({ length: 33 }, (_, i) => 1 + i / 4);
  const last = Math.max(1, ...points.map(({ x }) => x));
  const from = Math.min(last, ...points.map(({ x }) => x));
  return figureHtml<DepthRow & { level: number }>({
    id,
    title,
    caption,
    drawing: lineChart({
      x: {
        name: "depth",
        text: (depth) => `${layer}${depth + offset}`,
        isWhole: true,
      },
      y: { name: "mean children", text: (value) => String(Number(value.toFixed(2))) },
      series: [
        { name: "archive", points, style: "points" },
        ...(law === undefined
          ? []
          : [
              {
                name: "power law",
                style: "dashed" as const,
                points: steps
                  .filter((x) => x >= from && x <= last)
                  .map((x) => ({ x, y: law.a * x ** -law.k })),
              },
            ]),
      ],
    }),
    columns: [
      texts("Depth", (row) => row.depth),
      numbers("Mean children", (row) => decimal(row.meanChildren)),
      numbers("Fit", (row) =>
        decimal(law === undefined ? 0 : law.a * (row.level - offset) ** -law.k),
      ),
    ],
    rows,
  });
}

const ROW_HEIGHT = 34;
const TOP = 28;
const MIDDLE = 182;
const HALF_WIDTH = 128;
const PARENTS = CHART.width - 82;
const CHILDREN = CHART.width - 2;
const LEVELS = 9;

/**
 * Draws the shape of one layer of the tree of keys, as the paper's figure: at each depth a band from
 * the parents above to the children below, in a stronger colour for more children to a parent.
 */
function treeShape(rows: readonly DepthRow[]): Drawing {
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
    return `<path class="heat h${shade}" d="M${path}Z" data-tip="${escapeHtml(tip)}"/><text class="tick strong" x="2" y="${middle}" dy="0.32em">${escapeHtml(row.depth)}</text><text class="tick" x="${PARENTS}" y="${middle}" dy="0.32em" text-anchor="end">${shortNumber(row.parents)}</text><text class="tick" x="${CHILDREN}" y="${middle}" dy="0.32em" text-anchor="end">${shortNumber(row.children)}</text>`;
  });
  const names = `<text class="name" x="2" y="17">depth</text><text class="name" x="${PARENTS}" y="17" text-anchor="end">parents</text><text class="name" x="${CHILDREN}" y="17" text-anchor="end">children</text>`;
  return { marks: names + bands.join(""), height };
}
