import { type Html, html } from "./html.ts";

/** Lines for a shell. One that is too long for its box goes on below, set in. */
export function commands(lines: readonly string[]): Html {
  return html`<pre class="commands">${lines.map((line) => html`<code>${line}</code>`)}</pre>`;
}
