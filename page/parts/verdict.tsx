import type { JSX } from "preact";
import { type Verdict, VERDICT_SHAPES } from "../../src/page/verdict.ts";
import { PARTS } from "../messages.ts";
import { useText } from "../text.ts";

/** A verdict in its word, colour and shape. */
export function VerdictBadge({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const text = useText(PARTS);
  return (
    <span class={`state ${verdict}`}>
      <VerdictShape verdict={verdict} />
      {text(verdict)}
    </span>
  );
}

export function VerdictShape({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path fill="currentColor" fill-rule="evenodd" d={VERDICT_SHAPES[verdict]} />
    </svg>
  );
}
