import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

/** Bars of a strip as one path: as wide as there are bins, and 100 high. Square roots keep small counts visible. */
function barPath(counts: readonly number[], most: number): string {
  const bars = counts.map((count, bin) => {
    const height = Math.max(6, 100 * Math.sqrt(count / most)).toFixed(1);
    return count === 0 ? "" : `M${bin + 0.08} 100h.84v-${height}h-.84z`;
  });
  return bars.join("");
}

/** How many mementos there are over time; a line marks the chosen one. Without a label it is small. */
export function Strip(props: {
  readonly counts: readonly number[];
  /** The count of the highest bar. */
  readonly most: number;
  readonly label?: string | undefined;
  /** A share of the width. */
  readonly chosen?: number | undefined;
  readonly onChoose?: (share: number) => void;
}): JSX.Element {
  const { counts, most, label, chosen, onChoose } = props;
  const bars = useMemo(() => barPath(counts, most), [counts, most]);
  const choose = ({ currentTarget, clientX }: MouseEvent): void => {
    if (!(currentTarget instanceof Element)) return;
    const { left, width } = currentTarget.getBoundingClientRect();
    onChoose?.(Math.min(1, Math.max(0, (clientX - left) / width)));
  };
  return (
    <svg
      class={`strip ${label === undefined ? "slim" : ""}`}
      viewBox={`0 0 ${counts.length} 100`}
      preserveAspectRatio="none"
      role={label === undefined ? undefined : "img"}
      aria-label={label}
      aria-hidden={label === undefined ? "true" : undefined}
      onClick={choose}
    >
      <path class="strip-bars" d={bars} />
      {chosen !== undefined && (
        <path
          class="strip-chosen"
          d={`M${(chosen * counts.length).toFixed(2)} 0v100`}
          vector-effect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}

/** The years below a strip, as many as there is room for. */
export function Years(props: { readonly from: number; readonly until: number }): JSX.Element {
  const [first = 0, end = 0] = [props.from, props.until].map((at) => new Date(at).getUTCFullYear());
  const step = Math.max(1, Math.ceil((end - first) / 8));
  return (
    <div class="years hint" aria-hidden="true">
      {Array.from({ length: end - first }, (_, i) => (
        <span key={i}>{i % step === 0 ? first + i : ""}</span>
      ))}
    </div>
  );
}
