import {
  fitQuality,
  formatCount,
  formatShort,
  MIN_FIT_POINTS,
  shortPercent,
} from "../../../format.ts";
import type { PowerLawFit } from "../../../compact/children-fit.ts";
import { CHART, type Drawing, NEUTRAL, px } from "../../../page/chart/drawing.ts";
import type { Series } from "../../../page/chart/line-chart.ts";
import { escapeHtml } from "../../../page/html.ts";
import type { Analysis, ExactDepthRow } from "../../analyze/analysis.ts";
import type { DepthRow, ReductionCurve } from "../../analyze/histogram.ts";
import { lineFigure } from "../figures.ts";
import { column, type Section, table, type Table } from "../report.ts";

/** The maximum number of curves in a chart; deeper ones would lie on the axis. */
const MAX_CURVES = 8;

/** The shape of the key tree: the paper's figures and tables of depths. */
export function treeSection(analysis: Analysis): Section {
  return {
    id: "shape",
    title: "Shape of the tree",
    text:
      "Keys are hosts and paths without queries (HxPx). H1 is the top-level domain, H2 the domain " +
      "below it; P0 is a host’s home page, P1 the first path segment.",
    blocks: [
      [shapeFigure(analysis, "H", "Hosts"), shapeFigure(analysis, "P", "Paths")],
      depthTable(analysis),
      exactDepthTable(analysis),
    ],
  };
}

function depthTable({ depths }: Analysis): Table<DepthRow> {
  return table("depth-table", "Keys by host (H) and path (P) depth", depths, [
    column.text("Depth", ({ depth }) => depth),
    column.count("Count", ({ count }) => count, "Distinct prefixes of this depth"),
    column.count("Sum", ({ sum }) => sum, "Keys of this depth or deeper"),
    column.count("Max", ({ max }) => max, "Keys under the largest prefix"),
    column.number("Mean", ({ mean }) => mean),
    column.number("Median", ({ median }) => median, 1),
    column.number("StdDev", ({ standardDeviation }) => standardDeviation),
    column.number("RedQ", ({ reductionQuotient }) => reductionQuotient, {
      digits: 5,
      help: "Share of all keys saved by truncation at this depth: (Sum − Count) / all",
    }),
    column.count("Parents", ({ parents }) => parents, "Nodes above that have children"),
    column.count("Children", ({ children }) => children),
    column.number("MeanChld", ({ meanChildren }) => meanChildren, "Children / Parents"),
  ]);
}

type AnyDepth = Omit<ExactDepthRow, "depth"> & { readonly depth: number | "Total" };

function exactDepthTable({ exactDepths, index: { hosts, keys } }: Analysis): Table<AnyDepth> {
  const rows = table<AnyDepth>("exact-depths", "Items of exact depth", exactDepths, [
    column.text("Depth", ({ depth }) => String(depth)),
    column.count("Hosts", (row) => row.hosts),
    column.count("Keys by host depth", ({ keysByHost }) => keysByHost),
    column.count("Keys by path depth", ({ keysByPath }) => keysByPath),
  ]);
  return { ...rows, totals: [{ depth: "Total", hosts, keysByHost: keys, keysByPath: keys }] };
}

function shapeFigure({ depths }: Analysis, layer: "H" | "P", name: string): Table<DepthRow> {
  const rows = depths.filter(({ depth }) => depth.startsWith(layer));
  const widest = rows.toSorted((a, b) => b.children - a.children).at(0);
  const columns = [
    column.text<DepthRow>("Depth", ({ depth }) => depth),
    column.count<DepthRow>("Parents", ({ parents }) => parents),
    column.count<DepthRow>("Children", ({ children }) => children),
    column.number<DepthRow>("Mean children", ({ meanChildren }) => meanChildren),
  ];
  const id = `shape-${layer.toLowerCase()}`;
  return {
    ...table(id, `${name}: parents and children by depth`, rows, columns),
    isLong: true,
    figure: {
      caption: `Each band runs from the parents above to the children below; stronger colours mean more children per parent. Widest at ${widest?.depth ?? "none"}.`,
      draw: () => treeShape(rows),
    },
  };
}

const OF_ALL = "of all keys";
const OF_DEPTH = "of the depth’s nodes";
const INCREMENTAL = "Incremental reduction of";

/** The savings of roll-ups: the paper's reduction figures and the laws used by compact. */
export function reductionSection({ reduction, fits, depths }: Analysis): Section {
  const { hostGlobal, pathGlobal, hostIncremental, pathIncremental } = reduction;
  return {
    id: "reduction",
    title: "Reduction",
    text:
      "The reduction of the key list when the largest sub-trees are replaced by one wildcard each, " +
      "and the laws that compact uses to choose them.",
    blocks: [
      lawTable(fits),
      [
        curveFigure("global-host", "Global reduction at hosts", hostGlobal, OF_ALL),
        curveFigure("global-path", "Global reduction at paths", pathGlobal, OF_ALL),
        curveFigure("children-host", `${INCREMENTAL} host children`, hostIncremental, OF_DEPTH),
        curveFigure("children-path", `${INCREMENTAL} path children`, pathIncremental, OF_DEPTH),
        fitFigure("fit-host", "Mean children by host depth", depths, fits.hostPower, "H"),
        fitFigure("fit-path", "Mean children by path depth", depths, fits.pathPower, "P"),
      ],
    ],
  };
}

interface LawRow {
  readonly law: string;
  readonly factor: number;
  readonly exponent: number;
  readonly points: number;
  readonly r2: number;
}

function lawTable({ hostPower, pathPower, heaps }: Analysis["fits"]): Table<LawRow> {
  const rows: LawRow[] = [];
  for (const [of, law] of Object.entries({ hosts: hostPower, paths: pathPower })) {
    if (law === undefined) continue;
    const { a: factor, k } = law;
    rows.push({ ...law, law: `children of ${of} = factor · depth^exponent`, factor, exponent: -k });
  }
  if (heaps !== undefined) {
    const { k: factor, beta: exponent } = heaps;
    rows.push({ ...heaps, law: "originals = factor · mementos^exponent", factor, exponent });
  }
  return table("laws", "Fitted laws", rows, [
    column.text("Law", ({ law }) => law),
    column.number("Factor", ({ factor }) => factor, 4),
    column.number("Exponent", ({ exponent }) => exponent, 4),
    column.count("Points", ({ points }) => points),
    column.number("R²", ({ r2, points }) => (points < MIN_FIT_POINTS ? null : r2), {
      digits: 3,
      help: "Goodness of fit; none if there are too few points",
    }),
  ]);
}

interface CurveRow {
  readonly depth: string;
  readonly x: number;
  readonly y: number;
  readonly law: number | null;
}

function curveFigure(
  id: string,
  title: string,
  curves: readonly ReductionCurve[],
  of: string,
): Table<CurveRow> {
  const shown = curves.filter(({ points }) => (points.at(-1)?.y ?? 0) > 0).slice(0, MAX_CURVES);
  const laws = shown.flatMap(({ depth, heaps }) =>
    heaps === undefined ? [] : [`${depth} ${heaps.beta.toFixed(2)}`],
  );
  const rows = shown.map(({ depth, points, heaps }) =>
    points.map(({ x, y }) => {
      const law = heaps === undefined ? null : heaps.k * x ** heaps.beta;
      return { depth, x, y, law };
    }),
  );
  return lineFigure<CurveRow>({
    id,
    title,
    caption: `The share ${of} saved when nodes are rolled up, largest first. A curve that rises early has a few very large nodes. Exponents β of Heaps’ law: ${laws.join(", ")}.`,
    columns: [
      column.text("Depth", ({ depth }) => depth),
      column.count("Nodes rolled up", ({ x }) => x),
      column.share("Reduction", ({ y }) => y, 3),
      column.share("Heaps’ law", ({ law }) => law, 3),
    ],
    rows: rows.flat(),
    x: { name: "nodes rolled up (log)", isLog: true },
    y: { name: "reduction (%)", text: shortPercent },
    series: [
      ...shown.map(({ depth, points }) => ({ name: depth, points })),
      ...rows.map((curve, color) => heapsSeries(shown[color].depth, curve, color)),
    ],
    steps: shown.length,
    legend: [
      ...shown.map(({ depth }, color) => ({ name: depth, color })),
      { name: "Heaps’ law", style: "dashed", color: NEUTRAL },
    ],
  });
}

/** The fitted law, up to the maximum of the curve. */
function heapsSeries(depth: string, curve: readonly CurveRow[], color: number): Series {
  const top = curve.at(-1)?.y ?? 0;
  const points = curve.flatMap(({ x, law }) =>
    x > 0 && law !== null && law <= top ? [{ x, y: law }] : [],
  );
  return { name: `${depth}, Heaps’ law`, style: "dashed", points, color };
}

function fitFigure(
  id: string,
  title: string,
  depths: readonly DepthRow[],
  law: PowerLawFit | undefined,
  layer: "H" | "P",
): Table<DepthRow> {
  // A host of depth d is rolled up by its children at d + 1; a path by those at d.
  const offset = layer === "H" ? 1 : 0;
  const place = ({ depth }: DepthRow): number => Number(depth.slice(1)) - offset;
  const first = layer === "H" ? 2 : 1;
  const rows = depths.filter(
    (row) => row.depth.startsWith(layer) && place(row) >= first && place(row) <= 9 - offset,
  );
  const points = rows.map((row) => ({ x: place(row), y: row.meanChildren, label: row.depth }));
  const fit = (x: number): number => (law === undefined ? 0 : law.a * x ** -law.k);
  const from = points.at(0)?.x ?? 1;
  const steps = Array.from({ length: 33 }, (_, i) => 1 + i / 4);
  const fitted = steps.filter((x) => x >= from && x <= (points.at(-1)?.x ?? 1));
  const curve = { name: "power law", points: fitted.map((x) => ({ x, y: fit(x) })) };
  return lineFigure<DepthRow>({
    id,
    title,
    caption:
      law === undefined
        ? "Too few depths to fit a power law."
        : `Children = ${law.a.toPrecision(4)} · depth^−${law.k.toFixed(3)} (${fitQuality(law, "R²")}), fitted as in the paper: ${layer === "H" ? "H3 to H9, where depth is 2 at H3" : "P1 to P9, where depth is 1 at P1"}.`,
    columns: [
      column.text("Depth", ({ depth }) => depth),
      column.number("Mean children", ({ meanChildren }) => meanChildren),
      column.number("Fit", (row) => (law === undefined ? null : fit(place(row)))),
    ],
    rows,
    x: { name: "depth", text: (depth) => `${layer}${depth + offset}`, isWhole: true },
    y: { name: "mean children", text: (value) => String(Number(value.toFixed(2))) },
    series: [
      { name: "archive", points, style: "points" },
      ...(law === undefined ? [] : [{ ...curve, style: "dashed" as const }]),
    ],
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
 * Draws the shape of one layer of the key tree, as in the paper's figure: at each depth a band from
 * the parents above to the children below, in a stronger colour for more children per parent.
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
    const tip = `${row.depth}: ${formatCount(row.parents)} parents, ${formatCount(row.children)} children, ${row.meanChildren.toFixed(2)} on average`;
    const corners = [
      [MIDDLE - upper, y],
      [MIDDLE + upper, y],
      [MIDDLE + lower, y + ROW_HEIGHT - 4],
      [MIDDLE - lower, y + ROW_HEIGHT - 4],
    ];
    const path = corners.map(([x = 0, at = 0]) => `${px(x)} ${px(at)}`).join("L");
    const middle = px(y + ROW_HEIGHT / 2 - 2);
    return `<path class="heat h${shade}" d="M${path}Z" data-tip="${escapeHtml(tip)}"/><text class="tick strong" x="2" y="${middle}" dy="0.32em">${escapeHtml(row.depth)}</text><text class="tick" x="${PARENTS}" y="${middle}" dy="0.32em" text-anchor="end">${formatShort(row.parents)}</text><text class="tick" x="${CHILDREN}" y="${middle}" dy="0.32em" text-anchor="end">${formatShort(row.children)}</text>`;
  });
  const names = `<text class="name" x="2" y="17">depth</text><text class="name" x="${PARENTS}" y="17" text-anchor="end">parents</text><text class="name" x="${CHILDREN}" y="17" text-anchor="end">children</text>`;
  return { marks: names + bands.join(""), height };
}
