import { THEME_STYLE, TOKEN_STYLE } from "./tokens.ts";

/** The style of the application: of all pages, of the shell, and of server-rendered views. */
export const APP_STYLE: string = `${TOKEN_STYLE}${THEME_STYLE}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: .06em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
code { font-family: var(--mono); font-size: .9em; overflow-wrap: anywhere; }
.frame { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
h1 { margin: .15em 0 .3em; font: 600 var(--text-xxl)/1.15 var(--serif); text-wrap: balance; overflow-wrap: anywhere; }
h3 { margin: 0 0 .5rem; font: 600 1.05rem/1.4 var(--serif); }
.facts + h3 { margin-top: 1.25rem; }
h2 { margin: 0 0 var(--space-3); font: 600 var(--text-xl)/1.3 var(--serif); }
.lede { margin: 0; max-width: 44rem; color: var(--soft); }
.card { margin: 0 0 1.25rem; padding: 1.4rem 1.5rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.lede + .card { margin-top: 1.25rem; }
.plain-list { margin: 0; padding: 0; list-style: none; }
form { display: flex; flex-wrap: wrap; gap: .6rem; }
form label { flex-basis: 100%; font: 600 var(--text-l)/1.3 var(--serif); }
form input { flex: 1 1 16rem; min-width: 0; padding: .7rem .85rem; border: 1px solid var(--soft); border-radius: var(--radius-s); background: var(--paper); color: inherit; font: 1rem var(--mono); }
button { flex: 0 0 auto; padding: .7rem 1.4rem; border: 0; border-radius: var(--radius-s); background: var(--accent); color: var(--accent-ink); font: 600 1rem var(--sans); cursor: pointer; }
button:hover { filter: brightness(1.1); }
.hint { margin: .6rem 0 0; color: var(--soft); font-size: var(--text-s); }
.hint:empty { display: none; }
small { color: var(--soft); }
.yes { background: var(--yes-paper); color: var(--yes); }
.no { background: var(--no-paper); color: var(--no); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: 1rem 1.5rem; margin: 0; }
.facts div { min-width: 0; }
.facts dt { color: var(--soft); font-size: var(--text-s); }
.facts dd { margin: 0; font: 600 1.45rem/1.35 var(--serif); font-variant-numeric: lining-nums; overflow-wrap: anywhere; }
.facts small { display: block; font: 400 var(--text-xs)/1.4 var(--sans); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem; align-items: start; margin: 0 0 1.25rem; }
.columns > * { min-width: 0; }
.columns > .card, .columns .card:last-child { margin-bottom: 0; }
table { width: 100%; border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: left; font-weight: 400; }
tr > :first-child { padding-left: 0; }
tr > :last-child { padding-right: 0; }
thead th { border-bottom: 1px solid var(--line); color: var(--soft); font: 600 .8rem/1.3 var(--sans); white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
td.share { width: 80%; vertical-align: middle; }
.scroller { max-height: 38rem; overflow: auto; }
.scroller thead th { position: sticky; top: 0; z-index: 1; background: var(--card); }
svg.bar { display: block; width: 100%; height: .75rem; }
svg.bar rect { fill: var(--bar); }
details { margin-top: .8rem; }
summary { cursor: pointer; color: var(--accent); }
pre { margin: .6rem 0 0; padding: .8rem 1rem; border-radius: var(--radius-s); background: var(--paper); border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; font: .86rem/1.55 var(--mono); }
pre.commands code { display: block; padding-left: 2ch; text-indent: -2ch; }
footer { padding: .75rem 0 3rem; color: var(--soft); font-size: var(--text-s); }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 34rem) {
  .card { padding: 1.1rem 1rem; }
  button { flex: 1 1 100%; }
}
@media print { .card { break-inside: avoid; } form { display: none; } .scroller { max-height: none; } }
html { scroll-padding-top: 4.5rem; }
.bar { border-bottom: 1px solid var(--line); background: var(--card); }
.bar .frame { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem; min-height: 3.5rem; }
.brand { display: flex; align-items: center; gap: .6rem; max-width: 18rem; padding: .4rem 0; color: var(--ink); font: 600 1.05rem/1.25 var(--serif); text-decoration: none; }
.brand span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.brand svg { flex: none; width: 1.5rem; height: 1.5rem; }
.brand rect { fill: var(--accent); }
.brand path { fill: none; stroke: var(--accent-ink); stroke-width: 1.6; stroke-linecap: round; }
.bar nav { display: flex; flex: 1; gap: .15rem; min-width: 0; overflow-x: auto; scrollbar-width: none; }
.bar nav a { padding: 1rem .75rem .85rem; border-bottom: 3px solid transparent; color: var(--soft); font-size: .95rem; line-height: 1.45; text-decoration: none; white-space: nowrap; }
.bar nav a:hover { color: var(--ink); }
.bar nav a[aria-current] { border-bottom-color: var(--accent); color: var(--ink); font-weight: 600; }
.bar nav a:focus-visible { outline-offset: -3px; }
.settings-bar { display: flex; gap: .35rem; margin-left: auto; }
select { max-width: 9rem; padding: .3rem .4rem; border: 1px solid var(--line); border-radius: var(--radius-s); background: var(--card); color: var(--soft); font: .85rem/1.4 var(--sans); }
main:focus { outline: none; }
main.frame { min-height: 60vh; padding-top: 2rem; }
figure { margin: 0; min-width: 0; }
main h1 { font-size: clamp(1.6rem, 4vw, 2.2rem); }
.state { display: inline-flex; align-items: center; gap: .45em; padding: .08em .75em .08em .5em; border-radius: 2em; font: 600 .92rem/1.75 var(--sans); white-space: nowrap; }
.state svg { flex: none; width: 1em; height: 1em; }
.held { background: var(--yes-paper); color: var(--yes); }
.possibly { background: var(--mark); color: var(--ink); }
.not-held { background: var(--no-paper); color: var(--no); }
.not-known { background: var(--calm); color: var(--calm-ink); }
details.card { margin-top: 0; }
input[type=checkbox] { flex: none; width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--accent); }
button.quiet, a.button { flex: none; padding: .45rem .9rem; border: 1px solid var(--line); border-radius: var(--radius-s); background: var(--card); color: var(--ink); font: 500 .9rem/1.4 var(--sans); text-decoration: none; }
button.quiet:hover { border-color: var(--soft); filter: none; }
button.quiet[aria-pressed=true] { border-color: var(--accent); background: var(--yes-paper); color: var(--yes); font-weight: 600; }
button.quiet:disabled { border-color: var(--line); color: var(--soft); opacity: .6; cursor: default; }
a.button { border-color: var(--accent); background: var(--accent); color: var(--accent-ink); font-weight: 600; }
.text-button { padding: 0; border: 0; background: none; color: var(--accent); font: inherit; text-decoration: underline; text-underline-offset: .15em; }
.card-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin-bottom: .75rem; }
.card-head h2 { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .7rem; margin: 0; overflow-wrap: anywhere; }
.flow { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1rem; }
:where(.flow) { margin: 0; }
.flow.tight { gap: .4rem; }
.headline { margin: 0; font: 600 var(--text-l)/1.4 var(--serif); }
.cut { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.box { border: 1px solid var(--line); border-radius: var(--radius-s); background: var(--card); }
.uri-note { margin: .2rem 0 .7rem; color: var(--soft); font-size: var(--text-s); overflow-wrap: anywhere; }
.uri-raw, .uri-readable bdi { font-family: var(--mono); font-size: .95em; }
.uri-raw { color: var(--ink); }
.uri-readable { display: block; }
.uri-warning { display: block; margin-top: .25rem; padding: .1rem .6rem; border-left: 3px solid var(--mark-line); background: var(--mark); color: var(--ink); }
mark.unseen { padding: 0 .3em; border: 1px solid var(--no); border-radius: .2em; background: var(--no-paper); color: var(--no); font: 600 .8em var(--mono); }
.fault { padding: .5rem .9rem; border-left: 4px solid var(--no); background: var(--no-paper); color: var(--no); overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  .bar .frame { padding-top: .35rem; }
  .brand { flex: 1 1 6rem; min-width: 0; font-size: .95rem; }
  .brand span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; }
  .settings-bar select { max-width: 5.6rem; padding: .3rem .2rem; }
  .bar .frame { gap: 0 .75rem; }
  .bar nav { order: 3; flex: 1 0 100%; justify-content: space-between; margin: 0 -.4rem; }
  .bar nav a { padding: .5rem .4rem .6rem; font-size: .875rem; }
  main.frame { padding-top: 1.25rem; }
}
@media (min-width: 40.01rem) and (max-width: 58rem) {
  .bar .frame { gap: 0 .6rem; }
  .brand { max-width: 11rem; }
  .bar nav a { padding-left: .4rem; padding-right: .4rem; font-size: .9rem; }
  .settings-bar select { max-width: 5.6rem; padding: .3rem .2rem; }
}
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation-duration: 1ms !important; transition-duration: 1ms !important; scroll-behavior: auto !important; } }
@media print { .bar nav, .settings-bar { display: none; } .bar { border: 0; } }
`;
