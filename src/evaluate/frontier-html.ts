import type { Evaluation } from "./evaluation.ts";

const WIDTH = 860;
const HEIGHT = 480;
const MARGIN = { left: 64, right: 150, top: 24, bottom: 48 } as const;
const COLOURS = ["#0b6e4f", "#c1121f", "#1d4e89", "#8a5a00", "#6a4c93", "#444444"];

/**
 * A page that draws accuracy over size after gzip, a line for each kind of map, with the figures
 * below. Needs nothing from elsewhere.
 */
export function frontierHtml(title: string, evaluations: readonly Evaluation[]): string {
  const groups = byKind(evaluations);
  const sizes = evaluations.map(({ gzipBytes }) => Math.max(1, gzipBytes));
  const least = Math.log10(Math.min(...sizes, 1e3));
  const most = Math.log10(Math.max(...sizes, 1e4));
  const floor = Math.min(...evaluations.map(({ accuracy }) => accuracy), 0.9);
  const x = (bytes: number): number =>
    MARGIN.left +
    ((Math.log10(Math.max(1, bytes)) - least) / (most - least)) *
      (WIDTH - MARGIN.left - MARGIN.right);
  const y = (accuracy: number): number =>
    MARGIN.top + ((1 - accuracy) / (1 - floor)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const series = [...groups].map(([name, points], i) => {
    const colour = COLOURS[i % COLOURS.length];
    const sorted = points.toSorted((a, b) => a.gzipBytes - b.gzipBytes);
    const line = sorted.map((p) => `${x(p.gzipBytes).toFixed(1)},${y(p.accuracy).toFixed(1)}`);
    const dots = sorted.map(
      (p) =>
        `<circle cx="${x(p.gzipBytes).toFixed(1)}" cy="${y(p.accuracy).toFixed(1)}" r="4" fill="${colour}"><title>${escaped(p.map)}: accuracy ${p.accuracy.toFixed(4)}, ${p.gzipBytes} bytes</title></circle>`,
    );
    const legendY = MARGIN.top + 18 * i + 8;
    return [
      `<polyline points="${line.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
      ...dots,
      `<text x="${WIDTH - MARGIN.right + 16}" y="${legendY}" fill="${colour}">${escaped(name)}</text>`,
    ].join("\n");
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; background: #fff; }
svg { max-width: 100%; height: auto; font-size: 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
</style>
<h1>${escaped(title)}</h1>
<p>Accuracy over size after gzip. All maps call everything present that is held, unless the recall below is under 1.</p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="accuracy over size">
${axes(least, most, floor, x, y)}
${series.join("\n")}
</svg>
${figures(evaluations)}
</html>
`;
}

/** Maps whose names begin with the same word, which says how they were made. */
function byKind(evaluations: readonly Evaluation[]): Map<string, Evaluation[]> {
  const groups = new Map<string, Evaluation[]>();
  for (const evaluation of evaluations) {
    const [kind] = evaluation.map.split(" ");
    const group = groups.get(kind);
    if (group === undefined) groups.set(kind, [evaluation]);
    else group.push(evaluation);
  }
  return groups;
}

function axes(
  least: number,
  most: number,
  floor: number,
  x: (bytes: number) => number,
  y: (accuracy: number) => number,
): string {
  const lines: string[] = [];
  for (let power = Math.ceil(least); power <= most; power++) {
    const at = x(10 ** power).toFixed(1);
    lines.push(
      `<line x1="${at}" x2="${at}" y1="${MARGIN.top}" y2="${HEIGHT - MARGIN.bottom}" stroke="#eee"/>`,
      `<text x="${at}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">10^${power} B</text>`,
    );
  }
  for (let step = 0; step <= 5; step++) {
    const accuracy = floor + ((1 - floor) * step) / 5;
    const at = y(accuracy).toFixed(1);
    lines.push(
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#eee"/>`,
      `<text x="${MARGIN.left - 8}" y="${at}" text-anchor="end" dominant-baseline="middle">${accuracy.toFixed(3)}</text>`,
    );
  }
  return lines.join("\n");
}

function figures(evaluations: readonly Evaluation[]): string {
  const rows = evaluations.map((row) => {
    const cells = [
      escaped(row.map),
      row.lines === null ? "" : String(row.lines),
      row.relativeCost === null ? "" : `${(100 * row.relativeCost).toFixed(2)}%`,
      String(row.gzipBytes),
      row.accuracy.toFixed(4),
      String(row.falsePositives),
      row.recall.toFixed(4),
      row.freshness === null ? "" : row.freshness.toFixed(4),
    ];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const head = ["map", "lines", "cost", "gzip bytes", "accuracy", "false +", "recall", "freshness"];
  return `<table>\n<tr>${head.map((cell) => `<th>${cell}</th>`).join("")}</tr>\n${rows.join("\n")}\n</table>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
