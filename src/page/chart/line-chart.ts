import { formatShort } from "../../format.ts";
import {
  axesSvg,
  type Axis,
  type Color,
  colorClass,
  type Drawing,
  markerSvg,
  NO_DATA,
  px,
  X_RANGE,
  Y_RANGE,
} from "./drawing.ts";
import { countScale, linearScale, logScale, type Scale } from "./scales.ts";

/** A line, or loose points, of a chart. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** `dashed` for fits and lines of reference; `points` for data that is not a curve. */
  readonly style?: "line" | "dashed" | "points" | undefined;
  /** The colour, and the marker, by place; those of the series' own place by default. */
  readonly color?: number | undefined;
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly label?: string;
}

interface LineChart {
  readonly x: Axis & {
    readonly isLog?: boolean;
    /** Whether only whole numbers have a meaning, as depths and years do. */
    readonly isWhole?: boolean;
    /** Where the axis begins and ends; at the smallest and largest value by default. */
    readonly range?: readonly [number, number] | undefined;
  };
  readonly y: Axis & {
    readonly isLog?: boolean;
    /** Where the axis begins; at 0 by default. */
    readonly min?: number;
    /** Where the axis ends; at the largest value by default. */
    readonly max?: number;
  };
  readonly series: readonly Series[];
  /** What the legend names; the series by default. */
  readonly legend?: readonly Omit<Series, "points">[] | undefined;
  /** How many steps there are where places have an order, such as depths: colours follow it. */
  readonly steps?: number | undefined;
}

/** Draws lines over two axes; every point shows its values under the pointer. */
export function lineChart(chart: LineChart): Drawing {
  const points = chart.series.flatMap((series) => series.points).filter((p) => isShown(p, chart));
  if (points.length === 0) return NO_DATA;
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const range = chart.x.range ?? ([Math.min(...xs), Math.max(...xs)] as const);
  const isWhole = chart.x.isWhole === true;
  const x =
    chart.x.isLog === true
      ? logScale(range, X_RANGE)
      : linearScale(range, X_RANGE, { wanted: isWhole ? 8 : 6, isWhole });
  const yMax = chart.y.max ?? Math.max(...ys);
  const y =
    chart.y.isLog === true
      ? logScale([Math.min(...ys), yMax], Y_RANGE)
      : chart.y.min === undefined
        ? countScale(yMax, Y_RANGE)
        : linearScale([chart.y.min, yMax], Y_RANGE);
  const lines = chart.series.map((series, i) => seriesSvg(series, i, chart, { x, y }));
  const axes = axesSvg(x, y, chart.x, chart.y);
  const named = chart.legend ?? chart.series;
  const legend = named.map(({ name, style = "line", color }, i) => ({
    name,
    style,
    color: colorOf(color ?? i, style, chart),
    shape: style === "dashed" ? undefined : (color ?? i),
  }));
  return { legend, marks: axes + lines.join("") };
}

/** Lines of reference keep their colour beside ordered ones. */
function colorOf(place: number, style: Series["style"], { steps }: LineChart): Color {
  return steps === undefined || (style === "dashed" && place >= steps)
    ? place
    : { step: place, of: steps };
}

/** Logarithms have no place for zero. */
function isShown(point: Point, { x, y }: LineChart): boolean {
  return (x.isLog !== true || point.x > 0) && (y.isLog !== true || point.y > 0);
}

/** Markers of a line stand at least this far apart: enough to tell lines apart, without a string of beads. */
const MARKER_GAP = 42;

function seriesSvg(
  series: Series,
  index: number,
  chart: LineChart,
  scales: { readonly x: Scale; readonly y: Scale },
): string {
  const place = series.color ?? index;
  const color = colorClass(colorOf(place, series.style, chart));
  const shown = series.points.filter((point) => isShown(point, chart));
  const at = shown.map(({ x, y }) => ({ x: scales.x.at(x), y: scales.y.at(y) }));
  if (shown.length === 0) return "";
  // A line of one point is nothing to see.
  const style = shown.length === 1 ? "points" : (series.style ?? "line");
  const path =
    style === "points"
      ? ""
      : `<path class="line ${color}${style === "dashed" ? " dashed" : ""}" d="M${at.map(({ x, y }) => `${px(x)} ${px(y)}`).join("L")}"/>`;
  if (style === "dashed") return path;
  const xText = chart.x.text ?? formatShort;
  const yText = chart.y.text ?? formatShort;
  let last = { x: -Infinity, y: 0 };
  const dots = shown.map((point, i) => {
    const here = at[i] ?? last;
    const tip = `${series.name}: ${point.label ?? xText(point.x)}, ${yText(point.y)}`;
    const isMarked =
      style === "points" || Math.hypot(here.x - last.x, here.y - last.y) >= MARKER_GAP;
    if (isMarked) last = here;
    return markerSvg(place, { ...here, classes: `${color}${isMarked ? " solid" : ""}`, tip });
  });
  return path + dots.join("");
}
