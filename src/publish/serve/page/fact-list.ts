import { type Html, html } from "./html.ts";

/** Names, and what they come to, side by side. */
export function factList(facts: readonly (readonly [name: string, value: string])[]): Html {
  return html`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl>`;
}
