import type { JSX } from "preact";

/** A bar beside a number, as long as its share of the largest. */
export function Bar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="bar" aria-hidden="true">
      <rect width={`${(100 * share).toFixed(2)}%`} height="100%" rx="3" />
    </svg>
  );
}
