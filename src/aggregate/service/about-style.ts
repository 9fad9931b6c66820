import { PAGE_STYLE } from "../../publish/serve/page/style.ts";

/** The style of the dashboard: that of all pages, and its own. */
export const ABOUT_STYLE: string = `${PAGE_STYLE}
.frame { max-width: 76rem; }
:root { --hit: #2f7d4f; --miss: #cfc8ba; --error: #b5533c; --calm: #e6eef0; --calm-ink: #17566b; }
@media (prefers-color-scheme: dark) {
  :root { --hit: #6fbf8b; --miss: #454b52; --error: #d9806a; --calm: #20323a; --calm-ink: #8fcbd8; }
}
.saving { margin: 1.3rem 0 0; }
svg.stack { display: block; width: 100%; height: 1rem; border-radius: .3rem; }
svg.stack.slim { height: .5rem; margin-top: .35rem; }
.spared { fill: var(--bar); } .asked { fill: var(--accent); }
.hit { fill: var(--hit); } .miss { fill: var(--miss); } .error { fill: var(--error); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .5rem 0 0; padding: 0; list-style: none; color: var(--soft); font-size: .88rem; }
.legend svg { display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; vertical-align: -.05rem; }
.archives th, .archives td { padding: .75rem .6rem; border-top: 1px solid var(--line); vertical-align: top; }
.archives tr > :first-child { padding-left: 0; } .archives tr > :last-child { padding-right: 0; }
.archives thead th { padding-top: 0; border-top: 0; color: var(--soft); font-size: .85rem; vertical-align: bottom; white-space: nowrap; }
.archives th[scope=row] { width: 22%; font: 600 1rem/1.4 var(--sans); overflow-wrap: anywhere; }
.archives small { display: block; color: var(--soft); font: .82rem/1.45 var(--sans); overflow-wrap: anywhere; }
.archives th small { font-family: var(--mono); font-weight: 400; font-size: .78rem; }
.archives .number { width: auto; padding: .75rem .6rem; text-align: right; color: inherit; white-space: nowrap; }
.archives thead .number { padding-top: 0; color: var(--soft); }
.archives .map { width: 17%; }
.archives .mix { width: 15%; }
.archives .hour { width: 8.5rem; }
.refused { margin: 0 0 1rem; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: .05em .7em; border-radius: 2em; font: 600 .82rem/1.7 var(--sans); white-space: nowrap; }
.calm { background: var(--calm); color: var(--calm-ink); }
.warn { background: var(--mark); color: var(--ink); }
svg.spark { display: block; width: 100%; height: 1.9rem; }
svg.spark rect { fill: var(--bar); }
svg.spark line { stroke: var(--line); stroke-width: 1; }
.settings th[scope=row] { width: 14rem; vertical-align: top; }
.settings td { overflow-wrap: anywhere; }
@media (max-width: 52rem) {
  .archives, .archives tbody, .archives tr, .archives th, .archives td { display: block; width: auto; }
  .archives thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .archives tr { padding: .9rem 0; border-top: 1px solid var(--line); }
  .archives tbody tr:first-child { border-top: 0; padding-top: 0; }
  .archives th[scope=row], .archives td, .archives .number, .archives .map, .archives .mix, .archives .hour { width: auto; padding: .15rem 0; border: 0; text-align: left; }
  .archives td[data-label] { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); align-items: baseline; }
  .archives td.hour { align-items: start; }
  .archives td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: .85rem; }
  .archives small { display: inline; }
  .archives th small, .archives .hour small { display: block; }
  .settings th[scope=row] { width: 9rem; }
}
`;
