/** Places values along an axis. */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

type Range = readonly [from: number, to: number];

/** A scale from 0 to the next round tick at or above `max`. */
export function countScale(max: number, pixels: Range): Scale {
  const step = roundStep((max || 1) / 5);
  return linearScale([0, Math.ceil((max || 1) / step - 1e-9) * step], pixels);
}

/** A scale from `from` to `to` over a range of pixels, with about `tickCount` round ticks; optionally integers only. */
export function linearScale(
  [from, to]: Range,
  [start, end]: Range,
  {
    tickCount = 5,
    isWhole = false,
  }: { readonly tickCount?: number; readonly isWhole?: boolean } = {},
): Scale {
  const span = to - from || 1;
  const step = Math.max(isWhole ? 1 : 0, roundStep(span / tickCount));
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to + step * 1e-9; tick += step) {
    ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : Number(tick.toPrecision(12)));
  }
  return { at: (value) => start + ((value - from) / span) * (end - start), ticks };
}

/** A log scale for positive values, with ticks at powers of ten. */
export function logScale([from, to]: Range, [start, end]: Range): Scale {
  const low = Math.floor(Math.log10(Math.max(from, Number.MIN_VALUE)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(to, Number.MIN_VALUE)) - 1e-9));
  const step = Math.ceil((high - low) / 6);
  const ticks: number[] = [];
  for (let power = low; power <= high; power += step) ticks.push(10 ** power);
  const place = (value: number): number => (Math.log10(value) - low) / (high - low);
  return { at: (value) => start + place(value) * (end - start), ticks };
}

/** The largest round start of an axis that ends at `max` and includes all `values`. */
export function roundMin(values: readonly number[], max: number): number {
  const min = Math.min(max, ...values);
  const step = roundStep((max - min || 0.01) / 4);
  return Math.max(0, Number((Math.floor(min / step + 1e-9) * step).toPrecision(12)));
}

function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}
