import { CHART_STYLE } from "../../page/chart/chart-style.ts";
import { TOKEN_STYLE } from "../../page/tokens.ts";

/** The style of a report: light and dark by preference, one column on phones, plain on paper. */
export const REPORT_STYLE: string = `
${TOKEN_STYLE}
${CHART_STYLE}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:3.5rem}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 var(--sans);font-variant-numeric:tabular-nums}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.75rem}
h1{font:600 var(--text-xxl)/1.15 var(--serif);margin:.15em 0 .3em;text-wrap:balance;overflow-wrap:anywhere}
.lead{font-size:var(--text-l);color:var(--soft);max-width:46rem;margin:0 0 1.5rem}
h2{font:600 1.6rem/1.25 var(--serif);margin:var(--space-7) 0 .35rem;padding-top:var(--space-5);border-top:1px solid var(--line)}
section:first-child>h2{margin-top:var(--space-5);padding-top:0;border-top:0}
h3{font:600 var(--text-l)/1.3 var(--serif);margin:0 0 var(--space-2)}
section>p{max-width:46rem;color:var(--soft);margin:.2rem 0 1.1rem}
nav{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line)}
nav ul{max-width:76rem;margin:0 auto;padding:0 1.25rem;display:flex;gap:1.15rem;list-style:none;overflow-x:auto;scrollbar-width:none}
nav a{display:block;padding:.75rem 0;color:var(--soft);text-decoration:none;white-space:nowrap;font-size:.92rem}
nav a:hover,nav a:focus-visible{color:var(--accent)}
a{color:var(--accent)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:0 0 1.5rem;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:var(--radius);padding:.85rem 1rem}
.tiles dt{color:var(--soft);font-size:var(--text-s);line-height:1.3}
.tiles dd{margin:.1rem 0 0;font:600 1.55rem/1.25 var(--serif);font-variant-numeric:lining-nums;white-space:nowrap}
.tiles dd small{display:block;font:400 var(--text-xs)/1.4 var(--sans);color:var(--soft);white-space:normal}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.1rem;align-items:start;margin-bottom:1.1rem}
figure,.card{background:var(--card);border:1px solid var(--line);border-radius:var(--radius);margin:0;padding:1rem 1.1rem;min-width:0}
section>.card,section>figure{margin-bottom:1.1rem}section>figure{max-width:50rem}
figcaption{color:var(--soft);font-size:var(--text-s);line-height:1.45;margin-top:.4rem}
details{margin-top:.6rem;font-size:.92rem}summary{cursor:pointer;color:var(--accent);width:max-content}
.table{overflow:auto;max-height:34rem;position:relative}
.card .table{margin:0 -.3rem}
table{border-collapse:collapse;width:100%;font-size:var(--text-s);line-height:1.35}
caption{text-align:left;font:600 var(--text-l)/1.3 var(--serif);padding:0 .5rem .4rem;position:sticky;left:0}
figure caption{display:none}
th,td{padding:.3rem .5rem;text-align:left;border-bottom:1px solid var(--grid);vertical-align:top}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--soft);white-space:nowrap;font-weight:600;z-index:1}
thead th button{all:unset;cursor:pointer;font:inherit;color:inherit}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
thead th[aria-sort=ascending] button::after{content:" ▲";font-size:.7em}
thead th[aria-sort=descending] button::after{content:" ▼";font-size:.7em}
tbody th{font-weight:400;overflow-wrap:anywhere;min-width:9rem}
tfoot th,tfoot td{position:sticky;bottom:0;background:var(--card);font-weight:650;border-bottom:0;border-top:1px solid var(--soft)}
.n{text-align:right;white-space:nowrap}
td code{font-size:.95em;overflow-wrap:anywhere}
.tools{display:flex;gap:var(--space-2);justify-content:flex-end;margin:var(--space-2) 0 0}figure>.tools{float:right;margin-left:var(--space-3)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
button.tool{font:var(--text-xs)/1.4 var(--sans);color:var(--accent);background:none;border:1px solid var(--line);border-radius:var(--radius-s);padding:.25rem .65rem;min-height:1.75rem;cursor:pointer}
button.tool:hover{border-color:var(--accent)}
.download{display:inline-block;font:inherit;font-weight:600;color:var(--accent-ink);background:var(--accent);border:0;border-radius:var(--radius-s);padding:.5rem 1rem;cursor:pointer}
#tip{position:fixed;z-index:5;pointer-events:none;background:var(--ink);color:var(--paper);padding:.25rem .55rem;border-radius:var(--radius-s);font-size:.82rem;max-width:18rem;opacity:0;transition:opacity .1s}
footer{color:var(--soft);font-size:var(--text-s);margin-top:3rem;padding-bottom:3rem}
@media (max-width:40rem){body{font-size:15px}tbody th{min-width:6rem}figure,.card{padding:.8rem .75rem;border-radius:.4rem}header,main,footer,nav ul{padding:0 .8rem}header{padding-top:1.5rem}tbody th,thead th:first-child,tfoot th{position:sticky;left:0;max-width:45vw;background:var(--card)}thead th:first-child{z-index:2}caption{max-width:calc(100vw - 4rem)}.tiles{grid-template-columns:1fr 1fr}.tiles dd{font-size:1.35rem}}
@media print{body{font-size:10pt}nav,.tools,.download,#tip{display:none}header,main,footer{max-width:none;padding:0}h2{margin-top:1.5rem}h2,section>p{break-after:avoid}.tiles{grid-template-columns:repeat(3,1fr)}tfoot{display:table-row-group}
figure,.card{break-inside:avoid;border-color:#ccc;padding:.6rem}.grid{grid-template-columns:1fr 1fr;gap:.6rem}.grid.wide{grid-template-columns:1fr}
.table{overflow:visible;max-height:none}.card:has(.table){break-inside:auto}table{font-size:8pt}tr{break-inside:avoid}figure details{display:none}thead th,tfoot th,tfoot td{position:static}.grid:has(>.card){grid-template-columns:1fr}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}#tip{transition:none}}
`.trim();
