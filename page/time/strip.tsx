import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

/** The bars of a strip as one path, one unit per bin and 100 high. Square roots keep small counts visible. */
function barPath(counts: readonly number[], max: number): string {
  const bars = counts.map((count, bin) => {
    const height = Math.max(6, 100 * Math.sqrt(count / max)).toFixed(1);
    return count === 0 ? "" : `M${bin + 0.08} 100h.84v-${height}h-.84z`;
  });
  return bars.join("");
}

/** A histogram of mementos over time; a line marks the selected one. Without a label, it is small. */
export function Strip(props: {
  readonly counts: readonly number[];
  /** The count of the highest bar. */
  readonly max: number;
  readonly label?: string | undefined;
  /** A fraction of the width. */
  readonly chosen?: number | undefined;
  readonly onChoose?: (share: number) => void;
}): JSX.Element {
  const { counts, max, label, chosen, onChoose } = props;
  const bars = useMemo(() => barPath(counts, max), [counts, max]);
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

/** The years below a strip, as many as fit. */
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
