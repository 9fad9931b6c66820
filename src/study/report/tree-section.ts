import type { Analysis } from "../analyze/analysis.ts";
import type { DepthRow, ReductionCurve } from "../analyze/depth-statistics.ts";
import type { PowerLawFit } from "../../map/compact/fit.ts";
import { decimal, htmlTable, numbers, share, texts, whole } from "./table.ts";
import { CHART, figureHtml, lineChart, px, type Series, svgDrawing } from "./charts.ts";
import { fitQuality, shortNumber, shortPercent, wholeNumber } from "./number-format.ts";
import { card, grid, type PageSection } from "./page.ts";
import { escapeHtml } from "./html.ts";

/** Curves drawn at most in one chart; deeper ones lie on the axis. */
const MAX_CURVES = 8;

/** The shape of the tree of keys: the paper's figures and tables of depths. */
export function treeSection(analysis: Analysis): PageSection {
  return {
    id: "shape",
    title: "Shape of the tree",
    text:
      "Keys are hosts and paths without queries (HxPx). H1 is the top-level domain, H2 the domain " +
      "below it; P0 is a host’s home page, P1 the first path segment.",
    content: [
      grid(shapeFigure(analysis, "H", "Hosts"), shapeFigure(analysis, "P", "Paths")),
      card(depthTable(analysis)),
      card(exactTable(analysis)),
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
  return figureHtml({
    id: `shape-${layer.toLowerCase()}`,
    title,
    caption,
    svg: treeShape(rows, title, caption),
    columns: [texts("Depth"), numbers("Parents"), numbers("Children"), numbers("Mean children")],
    rows: rows.map(({ depth, parents, children, meanChildren }) => [
      depth,
      whole(parents),
      whole(children),
      decimal(meanChildren),
    ]),
  });
}

function depthTable({ depths }: Analysis): string {
  return htmlTable({
    id: "depth-table",
    caption: "Keys by host and path depth",
    columns: [
      texts("Depth"),
      numbers("Count", "Distinct prefixes of this depth"),
      numbers("Sum", "Keys of this depth or deeper"),
      numbers("Max", "Keys under the largest prefix"),
      numbers("Mean"),
      numbers("Median"),
      numbers("StdDev"),
      numbers("RedQ", "Share of all keys that would go if keys were cut here: (Sum − Count) / all"),
      numbers("Parents", "Nodes above that have children"),
      numbers("Children"),
      numbers("MeanChld", "Children / Parents"),
    ],
    rows: depths.map((row) => [
      row.depth,
      whole(row.count),
      whole(row.sum),
      whole(row.max),
      decimal(row.mean),
      decimal(row.median, Number.isInteger(row.median) ? 0 : 1),
      decimal(row.standardDeviation),
      decimal(row.reductionQuotient, 5),
      whole(row.parents),
      whole(row.children),
      decimal(row.meanChildren),
    ]),
  });
}

function exactTable({ exactDepths, index }: Analysis): string {
  return htmlTable({
    id: "exact-depths",
    caption: "Items of exact depth",
    columns: [
      texts("Depth"),
      numbers("Hosts"),
      numbers("Keys by host depth"),
      numbers("Keys by path depth"),
    ],
    rows: [
      ...exactDepths.map(({ depth, hosts, keysByHost, keysByPath }) => [
        String(depth),
        whole(hosts),
        whole(keysByHost),
        whole(keysByPath),
      ]),
      ["Total", whole(index.hosts), whole(index.keys), whole(index.keys)],
    ],
    footerRows: 1,
  });
}

/** What rolling keys up would save: the paper's reduction figures and the laws behind compact. */
export function reductionSection({ reduction, fits, depths }: Analysis): PageSection {
  return {
    id: "reduction",
    title: "Reduction",
    text:
      "How much smaller the list of keys gets when the largest sub-trees are replaced by one " +
      "wildcard each; and the laws that compact uses to decide where.",
    content: [
      grid(
        curveFigure(
          "global-host",
          "Global reduction at hosts",
          reduction.hostGlobal,
          "of all keys",
        ),
        curveFigure(
          "global-path",
          "Global reduction at paths",
          reduction.pathGlobal,
          "of all keys",
        ),
        curveFigure(
          "children-host",
          "Incremental reduction of host children",
          reduction.hostIncremental,
          "of the depth’s nodes",
        ),
        curveFigure(
          "children-path",
          "Incremental reduction of path children",
          reduction.pathIncremental,
          "of the depth’s nodes",
        ),
        fitFigure("fit-host", "Mean children by host depth", depths, fits.hostPower, "H"),
        fitFigure("fit-path", "Mean children by path depth", depths, fits.pathPower, "P"),
      ),
    ].join("\n"),
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
  return figureHtml({
    id,
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
      x: { name: "nodes rolled up (log)", isLog: true },
      y: { name: `reduction (%)`, text: shortPercent },
      series: [
        ...shown.map(({ depth, points }) => ({ name: depth, points })),
        ...shown.map((one, color) => ({ ...heapsSeries(one), color })),
      ],
      legend: [
        ...shown.map(({ depth }, color) => ({ name: depth, points: [], color })),
        { name: "Heaps’ law", points: [], style: "dashed", color: 7 },
      ],
    }),
    columns: [
      texts("Depth"),
      numbers("Nodes rolled up"),
      numbers("Reduction %"),
      numbers("Heaps’ law %"),
    ],
    rows: shown.flatMap(({ depth, points, heaps }) =>
      points.map(({ x, y }) => [
        depth,
        whole(x),
        share(y, 3),
        heaps === undefined ? "-" : share(heaps.k * x ** heaps.beta, 3),
      ]),
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
  return figureHtml({
    id,
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
      x: {
        name: "depth",
        text: (depth) => (Number.isInteger(depth) ? `${layer}${depth + offset}` : ""),
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
    columns: [texts("Depth"), numbers("Mean children"), numbers("Fit")],
    rows: rows.map(({ depth, level, meanChildren }) => [
      depth,
      decimal(meanChildren),
      decimal(law === undefined ? 0 : law.a * (level - offset) ** -law.k),
    ]),
  });
}

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
