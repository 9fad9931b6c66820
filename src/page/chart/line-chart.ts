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

/** A line, or a set of points, of a chart. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** `dashed` for fits and reference lines; `points` for data that is not a curve. */
  readonly style?: "line" | "dashed" | "points" | undefined;
  /** The index of the colour and marker; by default that of the series. */
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
    /** Whether only integers are meaningful, as for depths and years. */
    readonly isWhole?: boolean;
    /** The range of the axis; by default from the smallest to the largest value. */
    readonly range?: readonly [number, number] | undefined;
  };
  readonly y: Axis & {
    readonly isLog?: boolean;
    /** The start of the axis; 0 by default. */
    readonly min?: number;
    /** The end of the axis; the largest value by default. */
    readonly max?: number;
  };
  readonly series: readonly Series[];
  /** The legend items; the series by default. */
  readonly legend?: readonly Omit<Series, "points">[] | undefined;
  /** The number of steps if the series are ordered, as depths are: colours follow the order. */
  readonly steps?: number | undefined;
}

/** Draws lines over two axes; every point has a tooltip. */
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
      : linearScale(range, X_RANGE, { tickCount: isWhole ? 8 : 6, isWhole });
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

/** Reference lines keep their colour among ordered series. */
function colorOf(place: number, style: Series["style"], { steps }: LineChart): Color {
  return steps === undefined || (style === "dashed" && place >= steps)
    ? place
    : { step: place, of: steps };
}

/** Zero has no place on a log scale. */
function isShown(point: Point, { x, y }: LineChart): boolean {
  return (x.isLog !== true || point.x > 0) && (y.isLog !== true || point.y > 0);
}

/** Minimum distance between the markers of a line. */
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
  // A line of one point would be invisible.
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
