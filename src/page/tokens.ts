/**
 * Design tokens of the whole user interface: pages of the publisher, the dashboard, reports.
 *
 * Text has a contrast of at least 4.5 to its background, and chart marks one of 3 (WCAG 2.2 AA). Series
 * colours are distinguishable with any kind of colour blindness, and a marker or a word always
 * accompanies them. `test/page/tokens.test.ts` checks contrasts and colours.
 */
export const LIGHT = {
  paper: "#f7f5f0",
  card: "#fffefb",
  ink: "#22201c",
  soft: "#625c52",
  line: "#e2ddd2",
  // Grid lines: decoration, as the axis has the values.
  grid: "#ece8df",
  accent: "#17566b",
  "accent-ink": "#ffffff",
  focus: "#b4690e",
  // A muted bar beside its number.
  bar: "#6c9aa3",
  mark: "#fdf3d3",
  "mark-line": "#a97f08",
  // Held, well.
  yes: "#17566b",
  "yes-paper": "#e0eef1",
  // Not held, failed.
  no: "#8f3d0a",
  "no-paper": "#fbe9dc",
  calm: "#ebe8e1",
  "calm-ink": "#4f4a41",
  // Text on dark cells of heat maps.
  "on-heat": "#ffffff",
  // Unordered series; the last colour is neutral, for reference lines.
  series: ["#17566b", "#cf6f12", "#7d63de", "#4b5a12", "#4f9bc4", "#6b1240", "#8f5a4c", "#8f887b"],
  // Ordered series, such as depths: each step is lighter than the previous one.
  ordered: ["#250048", "#420950", "#601552", "#7f224e", "#9a3344", "#b24935", "#c4641b", "#c97f00"],
  // Heat-map cells: zero, then low to high.
  heat: [
    "#f1eee7",
    "#e0f3f5",
    "#c8e0e3",
    "#afcdd2",
    "#97b9c0",
    "#80a5ae",
    "#4a7582",
    "#386877",
    "#1c5465",
    "#003e51",
  ],
};

export type Palette = typeof LIGHT;

export const DARK: Palette = {
  paper: "#14171a",
  card: "#1c2024",
  ink: "#e9e6df",
  soft: "#aca69a",
  line: "#31373d",
  grid: "#2a3036",
  accent: "#7cc3d3",
  "accent-ink": "#0d1b20",
  focus: "#f0b357",
  bar: "#4f8794",
  mark: "#39331c",
  "mark-line": "#a68d42",
  yes: "#8fd0de",
  "yes-paper": "#183039",
  no: "#f3b088",
  "no-paper": "#3d2416",
  calm: "#2b3136",
  "calm-ink": "#c9c4ba",
  "on-heat": "#08161b",
  series: ["#7cc3d3", "#c25a2c", "#8f77ee", "#b4b64e", "#2f8f9a", "#d9a0a4", "#f6ecae", "#8b8578"],
  ordered: ["#8257bf", "#a558ae", "#cb669e", "#e77b8d", "#fa967e", "#feb782", "#fed791", "#fbf6a6"],
  heat: [
    "#24292e",
    "#0f3744",
    "#1c4450",
    "#29515d",
    "#365d69",
    "#426a76",
    "#6a949f",
    "#90bec7",
    "#a9d8df",
    "#c2f2f8",
  ],
};

/** The colours of a palette by custom property. */
export function colorsOf(palette: Palette): [name: string, color: string][] {
  const { series, ordered, heat, ...named } = palette;
  return [
    ...Object.entries<string>(named),
    ...series.map((color, i): [string, string] => [`c${i}`, color]),
    ...ordered.map((color, i): [string, string] => [`o${i}`, color]),
    ...heat.map((color, i): [string, string] => [`h${i}`, color]),
  ];
}

function declarations(palette: Palette): string {
  return colorsOf(palette)
    .map(([name, color]) => `--${name}:${color}`)
    .join(";");
}

/** Custom properties: colours (light, dark by preference, light on paper), type and spacing. */
export const TOKEN_STYLE: string = `
:root{color-scheme:light dark;${declarations(LIGHT)};
--serif:"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,serif;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
--mono:ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",Menlo,monospace;
--text-xs:.8125rem;--text-s:.875rem;--text-m:1rem;--text-l:1.15rem;--text-xl:1.4rem;--text-xxl:clamp(1.9rem,5vw,2.9rem);
--space-1:.25rem;--space-2:.5rem;--space-3:.75rem;--space-4:1rem;--space-5:1.5rem;--space-6:2.25rem;--space-7:3.25rem;
--radius:.6rem;--radius-s:.35rem}
@media (prefers-color-scheme:dark){:root{${declarations(DARK)}}}
@media print{:root{color-scheme:light;${declarations({ ...LIGHT, paper: "#ffffff", card: "#ffffff", soft: "#444444" })}}}
`.trim();

/** Overrides for a theme chosen by the user. Print stays light. */
export const THEME_STYLE: string = `
@media screen{:root[data-theme=dark]{color-scheme:dark;${declarations(DARK)}}
:root[data-theme=light]{color-scheme:light;${declarations(LIGHT)}}}
`;
