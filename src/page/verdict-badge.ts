import { Html, html } from "./html.ts";
import { type Verdict, VERDICT_SHAPES } from "./verdict.ts";

const WORDS: Readonly<Record<Verdict, string>> = {
  held: "Held",
  possibly: "Possibly held",
  "not-held": "Not held",
  "not-known": "Not known",
};

/** A verdict in its word, colour and shape. */
export function verdictBadge(verdict: Verdict): Html {
  return html`<span class="state ${verdict}">${verdictShape(verdict)}${WORDS[verdict]}</span>`;
}

function verdictShape(verdict: Verdict): Html {
  const path = `<path fill="currentColor" fill-rule="evenodd" d="${VERDICT_SHAPES[verdict]}"/>`;
  return new Html(`<svg viewBox="0 0 16 16" aria-hidden="true">${path}</svg>`);
}
