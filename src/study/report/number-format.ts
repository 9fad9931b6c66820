/** Shows a count with thousands set apart: `3,900,000`. */
export function wholeNumber(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Shows a number with fixed decimals and thousands separators. */
export function decimalNumber(value: number, decimals: number): string {
  const [whole = "", fraction] = value.toFixed(decimals).split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Shows a share as percents, without the sign: `61.42`. */
export function percent(share: number, decimals: number = 2): string {
  return (share * 100).toFixed(decimals);
}

/** Shows a share as percents in short, with the sign: `61.4 %`, `5 %`. */
export function shortPercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

const UNITS = ["", "K", "M", "B", "T"];

/** Shows a count in short, as the paper's figures do: `1.1K`, `5.8M`, `2B`. */
export function shortNumber(value: number): string {
  let rest = value;
  let unit = 0;
  while (Math.abs(rest) >= 999.5 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit++;
  }
  const digits = Math.abs(rest) >= 100 || Number.isInteger(rest) ? 0 : Math.abs(rest) >= 10 ? 1 : 2;
  const text = rest.toFixed(digits);
  return `${digits === 0 ? text : text.replace(/\.?0+$/, "")}${UNITS[unit] ?? ""}`;
}

/** Shows how many there are of something, in short: `1 host`, `1.29K hosts`. */
export function shortAmount(count: number, one: string): string {
  return `${shortNumber(count)} ${one}${count === 1 ? "" : "s"}`;
}

/** Shows YYYYMMDDhhmmss as a date: `2014-03-01`; other texts stay as they are. */
export function dateOf(datetime: string): string {
  const match = /^(\d{4})(\d\d)(\d\d)\d{6}$/.exec(datetime);
  return match === null ? datetime : `${match[1]}-${match[2]}-${match[3]}`;
}

/** A law of two parameters goes through two points, and close to any three. */
const LEAST_POINTS = 4;

/** How well a law fits: `R2 0.998`; or that there are too few points. */
export function fitQuality(
  { r2, points }: { readonly r2: number; readonly points: number },
  name: string = "R2",
): string {
  return points < LEAST_POINTS
    ? `${points} points are too few for ${name}`
    : `${name} ${r2.toFixed(3)}`;
}
