import { Html, html } from "./html.ts";
import { TOKEN_STYLE } from "./tokens.ts";

/** The style of the pages: no image, no font, no script to load; light and dark. */
export const PAGE_STYLE: string = `
${TOKEN_STYLE}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: .06em; }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible {
  outline: 3px solid var(--focus); outline-offset: 2px;
}
code { font-family: var(--mono); font-size: .9em; overflow-wrap: anywhere; }
.frame { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
h1 { margin: .15em 0 .3em; font: 600 var(--text-xxl)/1.15 var(--serif); text-wrap: balance; overflow-wrap: anywhere; }
h3 { margin: 0 0 .5rem; font: 600 1.05rem/1.4 var(--serif); }
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
`;

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%2317566b'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h7' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";

/** A whole document with the style of the pages, or that and more. `head` goes into its head. */
export function htmlDocument(
  title: string,
  head: Html,
  body: Html,
  style: string = PAGE_STYLE,
): string {
  // Made apart, because the policy names the digest of exactly what is between the tags.
  const styleElement = new Html(style === "" ? "" : `<style>${style}</style>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${new Html(ICON)}" />
        ${head} ${styleElement}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}
