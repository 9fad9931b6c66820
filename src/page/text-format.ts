import { formatCount } from "../errors.ts";

/** The width that every terminal shows without breaking lines. */
export const TEXT_WIDTH = 80;

/** `Mementos` as `mementos`; names with more capitals, such as `TLD`, stay as they are. */
export function lowerCase(name: string): string {
  return /.\p{Lu}/u.test(name) ? name : name.toLowerCase();
}

/** Breaks a text at blanks into lines of at most `width` characters. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Cuts the middle out of a text: `com,example)/very…long.gif`. */
export function shortened(text: string, length: number): string {
  const shown = text.replaceAll(/\p{Cc}/gu, "?");
  if (shown.length <= length) return shown;
  const head = Math.ceil((length - 1) / 2);
  return `${shown.slice(0, head)}…${shown.slice(shown.length - (length - 1 - head))}`;
}

/** Shows a count with thousands set apart: `3,900,000`. */
export function wholeNumber(value: number): string {
  return formatCount(Math.round(value));
}

/** Shows a number with fixed decimals and thousands separators. */
export function decimalNumber(value: number, decimals: number): string {
  const [whole, ...fraction] = value.toFixed(decimals).split(".");
  return [formatCount(Number(whole)), ...fraction].join(".");
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
