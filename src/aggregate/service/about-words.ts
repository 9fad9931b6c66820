/** A share for people: `94 %`, `0.4 %`, `99.95 %`; never 0 or 100 where it is not. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0 || percent === 100) return `${percent} %`;
  const digits = percent < 1 || percent > 99 ? 2 : percent < 10 || percent > 90 ? 1 : 0;
  const text = percent.toFixed(digits);
  const shown = Number(text);
  if (shown === 0) return "< 0.01 %";
  return shown === 100 ? "> 99.99 %" : `${String(shown)} %`;
}

/** A time that passed, for people, in its largest unit: `3 days`, `1 hour`, `12 s`. */
export function formatAgo(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["min", 60],
  ] as const;
  for (const [name, length] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${count} ${name}${count > 1 && name !== "min" ? "s" : ""}`;
  }
  return "";
}

/** A time an answer took: `12 ms`, `1.4 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
