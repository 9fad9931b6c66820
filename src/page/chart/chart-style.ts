/** The classes of a palette: colour is the stroke of lines and the fill of other marks. */
function colorRules(name: string, count: number): string {
  return Array.from(
    { length: count },
    (_, i) =>
      `.${name}${i}{fill:var(--${name}${i})}.line.${name}${i}{fill:none;stroke:var(--${name}${i})}`,
  ).join("");
}

/** The style of marks, based on the tokens. */
export const MARK_STYLE: string = `
svg.drawing text{font:11.5px var(--sans);fill:var(--soft);font-variant-numeric:tabular-nums}
svg.drawing .cell{fill:var(--ink);pointer-events:none}svg.drawing .cell.strong{fill:var(--on-heat)}
svg.drawing .tick.strong{font-weight:650;fill:var(--ink)}
line.grid{stroke:var(--grid)}line.axis{stroke:var(--soft)}
.line{stroke-width:2;stroke-linejoin:round}.dashed{stroke-dasharray:5 4;stroke-width:1.6}
${colorRules("c", 8)}${colorRules("o", 8)}${colorRules("h", 10)}
.dot{stroke:var(--card);stroke-width:1}
svg.drawing .dot{opacity:0}svg.drawing .dot.solid,svg.drawing .dot.on{opacity:1}
rect.bar{stroke:var(--card);stroke-width:.6}
`.trim();

/**
 * The style of charts in a page. Container queries enlarge the text as the drawing shrinks, so that it
 * is never smaller than 11 px.
 */
export const CHART_STYLE: string = `
figure.chart{container-type:inline-size}
svg.drawing{display:block;width:100%;max-width:44rem;height:auto;overflow:visible;touch-action:pan-y}
${MARK_STYLE}
@container (min-width:40rem){svg.drawing text{font-size:10px}}
@container (max-width:34rem){svg.drawing text{font-size:13px}}
@container (max-width:27rem){svg.drawing text{font-size:15px}}
@container (max-width:22rem){svg.drawing text{font-size:17.2px}}
svg.drawing .on{stroke:var(--ink);stroke-width:1.6}
.legend{display:flex;flex-wrap:wrap;gap:var(--space-1) var(--space-4);list-style:none;margin:0 0 var(--space-2);padding:0;font-size:var(--text-s);color:var(--soft)}
svg.key{display:inline-block;width:1.5rem;height:.875rem;margin-right:.3rem;vertical-align:-.1rem}svg.key.block{width:.875rem;margin-right:.4rem}
@media (forced-colors:active){svg.drawing,svg.key{forced-color-adjust:none;background:var(--card)}}
`.trim();
