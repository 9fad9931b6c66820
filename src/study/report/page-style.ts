/** The style of a report: light and dark by preference, one column on phones, plain on paper. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#1d2330;--soft:#5a6474;--line:#e3e1da;--grid:#ecebe6;--accent:#0b5c8a;
--c0:#0b6fa4;--c1:#d0612b;--c2:#2f8f5b;--c3:#8a5bb0;--c4:#b8892b;--c5:#c23b5a;--c6:#4a7f86;--c7:#6b7280;
--h0:#f1f0ec;--h1:#e3eef5;--h2:#c9dfec;--h3:#a9cce1;--h4:#83b5d3;--h5:#5c9cc3;--h6:#3b83b0;--h7:#256b98;--h8:#15547c;--h9:#0a3d5e;--dark:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#12151b;--card:#1a1f28;--ink:#e8eaee;--soft:#9aa4b3;--line:#2c333f;--grid:#262c37;--accent:#7cc4ee;
--c0:#5cb3e6;--c1:#f0935f;--c2:#63c493;--c3:#b990de;--c4:#dcb45c;--c5:#ee7b95;--c6:#7fb8c0;--c7:#9aa4b3;
--h0:#212732;--h1:#1d3444;--h2:#1f4258;--h3:#23526d;--h4:#2a6485;--h5:#33789e;--h6:#458fb7;--h7:#63a7cd;--h8:#8bc1e0;--h9:#bddef0;--dark:#0c1218}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:3.5rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.75rem}
h1{font-size:clamp(1.8rem,4.5vw,2.9rem);line-height:1.1;letter-spacing:-.02em;margin:0 0 .5rem;text-wrap:balance}
.lead{font-size:1.1rem;color:var(--soft);max-width:46rem;margin:0 0 1.5rem}
h2{font-size:1.55rem;letter-spacing:-.01em;margin:3.25rem 0 .35rem;padding-top:1.25rem;border-top:2px solid var(--ink)}
h3{font-size:1.02rem;margin:0 0 .5rem;line-height:1.3}
section>p{max-width:46rem;color:var(--soft);margin:.2rem 0 1.1rem}
nav{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:1px solid var(--line)}
nav ul{max-width:76rem;margin:0 auto;padding:0 1.25rem;display:flex;gap:1.15rem;list-style:none;overflow-x:auto;scrollbar-width:none}
nav a{display:block;padding:.75rem 0;color:var(--soft);text-decoration:none;white-space:nowrap;font-size:.92rem}
nav a:hover,nav a:focus-visible{color:var(--accent)}
a{color:var(--accent)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:0 0 1.5rem;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.85rem 1rem}
.tiles dt{color:var(--soft);font-size:.84rem;line-height:1.3}
.tiles dd{margin:.1rem 0 0;font-size:1.55rem;white-space:nowrap;font-weight:650;letter-spacing:-.02em;line-height:1.2}
.tiles dd small{display:block;font-size:.78rem;font-weight:400;letter-spacing:0;color:var(--soft);white-space:normal}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.1rem;align-items:start;margin-bottom:1.1rem}
figure,.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:0;padding:1rem 1.1rem;min-width:0}
section>.card,section>figure{margin-bottom:1.1rem}section>figure{max-width:50rem}
figcaption{color:var(--soft);font-size:.88rem;line-height:1.45;margin-top:.4rem}
svg{display:block;width:100%;height:auto;overflow:visible;touch-action:pan-y}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--soft);font-variant-numeric:tabular-nums}
svg .name{font-size:12.5px}svg .strong{font-weight:650;fill:var(--ink)}
svg .cell{font-size:11px;fill:var(--ink);pointer-events:none}svg .cell.dark{fill:var(--dark)}
svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--soft)}
svg .line{fill:none;stroke-width:2;stroke-linejoin:round}svg .dashed{stroke-dasharray:6 5;stroke-width:1.6}
svg .dot{opacity:0}svg .dot.solid,svg .dot.on{opacity:1}
svg rect.on,svg path.heat.on{stroke:var(--ink);stroke-width:1.5}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
circle.c0,rect.c0{fill:var(--c0)}circle.c1,rect.c1{fill:var(--c1)}circle.c2,rect.c2{fill:var(--c2)}circle.c3,rect.c3{fill:var(--c3)}circle.c4,rect.c4{fill:var(--c4)}circle.c5,rect.c5{fill:var(--c5)}circle.c6,rect.c6{fill:var(--c6)}circle.c7,rect.c7{fill:var(--c7)}
rect.bar{stroke:none}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}.h7{fill:var(--h7)}.h8{fill:var(--h8)}.h9{fill:var(--h9)}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1rem;list-style:none;margin:0 0 .35rem;padding:0;font-size:.85rem;color:var(--soft)}
.legend i{display:inline-block;width:1.1rem;height:0;border-top:3px solid;vertical-align:.25em;margin-right:.4rem}
.legend i.dashed{border-top-style:dashed;border-top-width:2px}
.legend .k0{border-color:var(--c0)}.legend .k1{border-color:var(--c1)}.legend .k2{border-color:var(--c2)}.legend .k3{border-color:var(--c3)}.legend .k4{border-color:var(--c4)}.legend .k5{border-color:var(--c5)}.legend .k6{border-color:var(--c6)}.legend .k7{border-color:var(--c7)}
details{margin-top:.6rem;font-size:.92rem}summary{cursor:pointer;color:var(--accent);width:max-content}
.table{overflow:auto;max-height:34rem;position:relative}
.card .table{margin:0 -.3rem}
table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.35}
caption{text-align:left;font-weight:650;padding:0 .5rem .4rem;position:sticky;left:0}
figure caption{display:none}
th,td{padding:.3rem .5rem;text-align:left;border-bottom:1px solid var(--grid);vertical-align:top}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--soft);white-space:nowrap;font-weight:600;z-index:1}
thead th button{all:unset;cursor:pointer;font:inherit;color:inherit}
thead th button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
thead th[aria-sort=ascending] button::after{content:" ▲";font-size:.7em}
thead th[aria-sort=descending] button::after{content:" ▼";font-size:.7em}
tbody th{font-weight:400;overflow-wrap:anywhere;min-width:9rem}
tfoot th,tfoot td{position:sticky;bottom:0;background:var(--card);font-weight:650;border-bottom:0;border-top:1px solid var(--soft)}
.n{text-align:right;white-space:nowrap}
td code{font-size:.95em;overflow-wrap:anywhere}
.tools{display:flex;gap:.5rem;justify-content:flex-end;margin:.4rem 0 0}
button.tool{font:inherit;font-size:.8rem;color:var(--accent);background:none;border:1px solid var(--line);border-radius:.4rem;padding:.15rem .6rem;cursor:pointer}
button.tool:hover{border-color:var(--accent)}
.download{display:inline-block;font:inherit;font-weight:600;color:var(--card);background:var(--accent);border:0;border-radius:.5rem;padding:.5rem 1rem;cursor:pointer}
#tip{position:fixed;z-index:5;pointer-events:none;background:var(--ink);color:var(--bg);padding:.25rem .55rem;border-radius:.35rem;font-size:.82rem;max-width:18rem;opacity:0;transition:opacity .1s}
footer{color:var(--soft);font-size:.88rem;margin-top:3rem;padding-bottom:3rem}
@media (max-width:40rem){body{font-size:15px}tbody th{min-width:6rem}svg text,svg .name,svg .cell{font-size:17px}figure,.card{padding:.8rem .75rem;border-radius:.4rem}header,main,footer{padding:0 .8rem}header{padding-top:1.5rem}.tiles{grid-template-columns:1fr 1fr}.tiles dd{font-size:1.35rem}}
@media print{:root{--bg:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#bbb;--grid:#ddd;--accent:#000;
--h0:#f4f4f4;--h1:#e3eef5;--h2:#c9dfec;--h3:#a9cce1;--h4:#83b5d3;--h5:#5c9cc3;--h6:#3b83b0;--h7:#256b98;--h8:#15547c;--h9:#0a3d5e;--dark:#fff;
--c0:#0b6fa4;--c1:#d0612b;--c2:#2f8f5b;--c3:#8a5bb0;--c4:#b8892b;--c5:#c23b5a;--c6:#4a7f86;--c7:#6b7280}
body{font-size:10pt}nav,.tools,.download,#tip{display:none}header,main,footer{max-width:none;padding:0}h2{margin-top:1.5rem}h2,section>p{break-after:avoid}.tiles{grid-template-columns:repeat(3,1fr)}tfoot{display:table-row-group}
figure,.card{break-inside:avoid;border-color:#ccc;padding:.6rem}.grid{grid-template-columns:1fr 1fr;gap:.6rem}.grid.wide{grid-template-columns:1fr}
.table{overflow:visible;max-height:none}.card:has(.table){break-inside:auto}table{font-size:8pt}tr{break-inside:avoid}figure details{display:none}thead th,tfoot th,tfoot td{position:static}.grid:has(>.card){grid-template-columns:1fr}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}#tip{transition:none}}
`.trim();
