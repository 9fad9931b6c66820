// Formats numbers, sizes, durations and names for display in the terminal, in reports and on pages.

/** The standard terminal width. */
export const TEXT_WIDTH = 80;

/** Formats a count with thousands separators: `3,900,000`. */
export function formatCount(count: number | string): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats a count with its noun: `1 page`, `1,200 pages`, `2 searches`. */
export function formatAmount(count: number, one: string, several: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** Formats a number with fixed decimals and thousands separators. */
export function formatDecimal(value: number, decimals: number): string {
  const [whole, ...fraction] = value.toFixed(decimals).split(".");
  return [formatCount(Number(whole)), ...fraction].join(".");
}

const UNITS = ["", "K", "M", "B", "T"];

/** Abbreviates a count, like the paper's figures: `1.1K`, `5.8M`, `2B`. */
export function formatShort(value: number): string {
  let rest = value;
  let unit = 0;
  while (Math.abs(rest) >= 999.5 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit++;
  }
  const digits = Math.abs(rest) >= 100 || Number.isInteger(rest) ? 0 : Math.abs(rest) >= 10 ? 1 : 2;
  const text = rest.toFixed(digits);
  return `${Number(text)}${UNITS[unit] ?? ""}`;
}

/** Formats a ratio as a percentage without the sign: `61.42`. */
export function formatPercent(share: number, decimals: number = 2): string {
  return (share * 100).toFixed(decimals);
}

/** Formats a ratio as a short percentage with the sign: `61.4 %`, `5 %`. */
export function shortPercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** Formats a number of bytes in SI units: `812 B`, `64.0 kB`, `1.1 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Formats a duration: `0.8 s`, `2 min 5 s`, `1 h 3 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1,200/s` */
export function formatRate(count: number, ms: number): string {
  return `${formatCount(Math.round((count / ms) * 1000))}/s`;
}

/** Formats YYYYMMDDhhmmss as a date: `2014-03-01`; other texts are returned unchanged. */
export function formatDate(datetime: string): string {
  const match = /^(\d{4})(\d\d)(\d\d)\d{6}$/.exec(datetime);
  return match === null ? datetime : `${match[1]}-${match[2]}-${match[3]}`;
}

/** A fit with two parameters passes through any two points, and close to any three. */
export const MIN_FIT_POINTS = 4;

/** The goodness of a fit: `R2 0.998`; or that there are too few points. */
export function fitQuality(
  { r2, points }: { readonly r2: number; readonly points: number },
  name: string = "R2",
): string {
  return points < MIN_FIT_POINTS
    ? `${points} points are too few for ${name}`
    : `${name} ${r2.toFixed(3)}`;
}

/** `Mementos` → `mementos`; names with more capitals, such as `TLD`, are unchanged. */
export function lowerCase(name: string): string {
  return /.\p{Lu}/u.test(name) ? name : name.toLowerCase();
}

/** Wraps a text at blanks into lines of at most `width` characters. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Truncates a text in the middle: `com,example)/very…long.gif`. */
export function shortened(text: string, length: number): string {
  const shown = text.replaceAll(/\p{Cc}/gu, "?");
  if (shown.length <= length) return shown;
  const head = Math.ceil((length - 1) / 2);
  return `${shown.slice(0, head)}…${shown.slice(shown.length - (length - 1 - head))}`;
}
