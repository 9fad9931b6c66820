import type { JSX } from "preact";

/** A bar beside a number, in proportion to the largest one. */
export function Bar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="bar" aria-hidden="true">
      <rect width={`${(100 * share).toFixed(2)}%`} height="100%" rx="3" />
    </svg>
  );
}
