import type { JSX } from "preact";
import type { Verdict } from "../find/verdict.ts";
import { useText } from "../text.ts";

/** A shape for each verdict: meaning must not depend on colour alone. */
const SHAPES: Readonly<Record<Verdict, string>> = {
  held: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.8 5.2-4.6 5a.9.9 0 0 1-1.3 0L4.2 9.4l1.3-1.2 1 1.1 4-4.3Z",
  possibly: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.8v10.4A5.2 5.2 0 0 1 8 2.8Z",
  "not-held":
    "m3.6 2.2 4.4 4.4 4.4-4.4 1.4 1.4L9.4 8l4.4 4.4-1.4 1.4L8 9.4l-4.4 4.4-1.4-1.4L6.6 8 2.2 3.6Z",
  "not-known":
    "M7 11.8h2V14H7ZM8 2a3.8 3.8 0 0 1 3.8 3.8c0 1.6-1 2.5-1.8 3.2-.7.6-1 .9-1 1.6H7c0-1.6.9-2.4 1.7-3.1.7-.6 1.1-1 1.1-1.7a1.8 1.8 0 0 0-3.6 0h-2A3.8 3.8 0 0 1 8 2Z",
};

/** A verdict as word, colour and shape. */
export function VerdictBadge({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const text = useText("parts");
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
      <path fill="currentColor" fill-rule="evenodd" d={SHAPES[verdict]} />
    </svg>
  );
}
