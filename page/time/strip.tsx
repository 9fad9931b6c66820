import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

/** Bars of a strip as one path: `bins` wide and 100 high. Square roots keep small counts visible. */
function barPath(counts: Uint32Array, most: number): string {
  let path = "";
  for (const [bin, count] of counts.entries()) {
    if (count === 0) continue;
    const height = Math.max(6, 100 * Math.sqrt(count / Math.max(1, most)));
    path += `M${bin + 0.08} 100h.84v${(-height).toFixed(1)}h-.84z`;
  }
  return path;
}

/** How many mementos there are over time; where a moment is chosen, a line shows it. */
export function Strip(props: {
  readonly counts: Uint32Array;
  readonly label?: string | undefined;
  readonly className?: string | undefined;
  /** A share of the width. */
  readonly chosen?: number | undefined;
  readonly onChoose?: ((share: number) => void) | undefined;
}): JSX.Element {
  const { counts, chosen, onChoose } = props;
  const bars = useMemo(() => barPath(counts, Math.max(...counts, 1)), [counts]);
  const choose = ({ currentTarget, clientX }: MouseEvent): void => {
    if (!(currentTarget instanceof Element)) return;
    const { left, width } = currentTarget.getBoundingClientRect();
    onChoose?.(Math.min(1, Math.max(0, (clientX - left) / width)));
  };
  return (
    <svg
      class={`strip ${props.className ?? ""}`}
      viewBox={`0 0 ${counts.length} 100`}
      preserveAspectRatio="none"
      role={props.label === undefined ? undefined : "img"}
      aria-label={props.label}
      aria-hidden={props.label === undefined ? "true" : undefined}
      onClick={onChoose === undefined ? undefined : choose}
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
export function Years({
  from,
  until,
}: {
  readonly from: number;
  readonly until: number;
}): JSX.Element {
  const first = new Date(from).getUTCFullYear();
  const last = new Date(until - 1).getUTCFullYear();
  const step = Math.max(1, Math.ceil((last - first + 1) / 8));
  const years = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return (
    <div class="years" aria-hidden="true">
      {years.map((year) => (
        <span key={year} class={(year - first) % step === 0 ? "" : "year-quiet"}>
          {(year - first) % step === 0 ? year : ""}
        </span>
      ))}
    </div>
  );
}
