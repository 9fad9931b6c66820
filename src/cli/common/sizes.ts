import { MementoMapError, quote } from "../../errors.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};
const SIZE = /^(\d+(?:\.\d+)?)(?:([kmgt])(?:i?b)?|b)?$/i;
const PERCENT = /^(\d+(?:\.\d+)?)%$/;
const DURATION_PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const WHOLE = /^\d{1,16}$/;
const DECIMAL = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses a number of bytes: `4096`, `64k`, `2m`, `1.5g`, `512MiB`. Units are powers of 1024.
 *
 * @throws `MM_USAGE`
 */
export function parseSize(text: string): number {
  const match = SIZE.exec(text);
  const bytes =
    match === null
      ? Number.NaN
      : Number(match[1]) * (UNITS[(match[2] ?? "").toLowerCase()] ?? Number.NaN);
  const size = Math.floor(bytes);
  if (Number.isSafeInteger(size)) return size;
  throw new MementoMapError("MM_USAGE", `not a size: ${quote(text)}; write 4096, 64k, 512m or 2g`);
}

/**
 * Parses a whole number from `least` up.
 *
 * @throws `MM_USAGE`
 */
export function parseWhole(text: string, least: number = 0): number {
  const value = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new MementoMapError("MM_USAGE", `not a whole number from ${least} up: ${quote(text)}`);
}

/** {@link parseWhole} from 1 up. */
export function parsePositive(text: string): number {
  return parseWhole(text, 1);
}

/**
 * Parses a number that is not negative, such as `0.5` or `4`.
 *
 * @throws `MM_USAGE`
 */
export function parseDecimal(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw new MementoMapError("MM_USAGE", `not a number from 0 up: ${quote(text)}`);
}

/**
 * Parses a duration into milliseconds: `30s`, `15m`, `1h30m`, `500ms`; a number alone is seconds.
 *
 * @throws `MM_USAGE`
 */
export function parseDuration(text: string): number {
  if (DECIMAL.test(text)) return Number(text) * 1000;
  const parts = [...text.matchAll(DURATION_PART)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join("") === text;
  if (isWhole) {
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * DURATION_MS[unit], 0);
  }
  throw new MementoMapError(
    "MM_USAGE",
    `not a duration: ${quote(text)}; write 30s, 15m, 1h30m or 500ms`,
  );
}

/**
 * Parses a share: `1.5%` or `0.015`. The result is a fraction.
 *
 * A plain number above 1 is refused: who writes 10 means ten percent.
 *
 * @throws `MM_USAGE`
 */
export function parseShare(text: string): number {
  const percent = PERCENT.exec(text);
  if (percent !== null) return Number(percent[1]) / 100;
  const share = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (share <= 1) return share;
  const hint = Number.isNaN(share) ? "write 1.5% or 0.015" : `write ${text}%, or a number up to 1`;
  throw new MementoMapError("MM_USAGE", `not a share: ${quote(text)}; ${hint}`);
}

/**
 * Parses a share of a whole: {@link parseShare}, up to 100 %.
 *
 * @throws `MM_USAGE`
 */
export function parsePart(text: string): number {
  const share = parseShare(text);
  if (share <= 1) return share;
  throw new MementoMapError(
    "MM_USAGE",
    `not a share of a whole: ${quote(text)}; 100% is all of it`,
  );
}

/** Shows a number of bytes for people: `812 B`, `64.0 KiB`, `1.1 GiB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  while (value >= 1024 && unit < names.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${names[unit]}`;
}

/** Shows a duration for people: `0.8 s`, `2 min 5 s`, `1 h 3 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
