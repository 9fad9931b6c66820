import { MementoMapError, quote } from "../../errors.ts";
import { formatDatetime, tryParseDatetime } from "../../memento/datetime.ts";
import type { OptionTable } from "./command-line.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};
const SIZE = /^(\d+(?:\.\d+)?)(?:([kmgt])(?:i?b)?|b)?$/i;
const PERCENT = /^(\d+(?:\.\d+)?)%$/;
const DURATION_PART = /(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const WHOLE = /^\d{1,16}$/;
const DECIMAL = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The error for invalid or incompatible options. */
export function misuse(message: string): MementoMapError {
  return new MementoMapError("MM_USAGE", message);
}

// Parsers of values throw `MM_USAGE`.

/** Parses a number of bytes: `4096`, `64k`, `2m`, `1.5g`, `512MiB`. Units are powers of 1024. */
export function parseSize(text: string): number {
  const [, number, unit = ""] = SIZE.exec(text) ?? [];
  const size = Math.floor(Number(number) * UNITS[unit.toLowerCase()]);
  if (Number.isSafeInteger(size)) return size;
  throw misuse(`not a size: ${quote(text)}; write 4096, 64k, 512m or 2g`);
}

/** Parses an integer of at least `min`. */
export function parseWhole(text: string, min: number = 0): number {
  const value = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw misuse(`expected an integer of at least ${min}, got ${quote(text)}`);
}

/** {@link parseWhole} with a minimum of 1. */
export function parsePositive(text: string): number {
  return parseWhole(text, 1);
}

/** Parses a number that is not negative, such as `0.5` or `4`. */
export function parseDecimal(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw misuse(`expected a number of at least 0, got ${quote(text)}`);
}

/** Parses a duration into milliseconds: `30s`, `15m`, `1h30m`, `500ms`; a number alone is seconds. */
export function parseDuration(text: string): number {
  if (DECIMAL.test(text)) return Number(text) * 1000;
  const parts = [...text.matchAll(DURATION_PART)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join("") === text;
  if (isWhole) {
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * DURATION_MS[unit], 0);
  }
  throw misuse(`not a duration: ${quote(text)}; write 500ms, 30s, 15m, 1h30m or 90d`);
}

/**
 * Parses a share, `1.5%` or `0.015`, into a fraction. A plain number above 1 is rejected: 10 probably
 * means 10%.
 */
export function parseShare(text: string): number {
  const percent = PERCENT.exec(text);
  if (percent !== null) return Number(percent[1]) / 100;
  const share = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (share <= 1) return share;
  const hint = Number.isNaN(share) ? "write 1.5% or 0.015" : `write ${text}%, or a number up to 1`;
  throw misuse(`not a share: ${quote(text)}; ${hint}`);
}

/** {@link parseShare}, up to 100 %. */
export function parsePart(text: string): number {
  const share = parseShare(text);
  if (share <= 1) return share;
  throw misuse(`expected a share of at most 100%, got ${quote(text)}`);
}

/**
 * Parses a point in time, or a longer span such as a year, into 4 to 14 digits of YYYYMMDDhhmmss.
 *
 * Accepts those digits, ISO 8601 (`2014`, `2014-03`, `2014-03-05`,
 * `2014-03-05T10:11:12Z`) and the form of HTTP headers (`Wed, 05 Mar 2014 10:11:12 GMT`).
 */
export function parseDatetime(text: string): string {
  const digits = /^\d{4}(?:-\d\d){1,2}$/.test(text) ? text.replaceAll("-", "") : text;
  const isSpan = /^\d{4}(?:\d\d){0,5}$/.test(digits);
  const datetime = tryParseDatetime(isSpan ? digits + "00000101000000".slice(digits.length) : text);
  if (datetime !== undefined) return isSpan ? digits : formatDatetime(datetime);
  throw misuse(
    `not a datetime: ${quote(text)}; write 4, 6, 8, 10, 12 or 14 digits of YYYYMMDDhhmmss, or 2014-03-05T10:11:12Z`,
  );
}

/** The members of an option with a fixed set of values; completion offers them. */
export function choice<const Value extends string>(
  choices: readonly Value[],
): { readonly choices: readonly Value[]; readonly parse: (text: string) => Value } {
  return {
    choices,
    parse(text) {
      const typed = text.toLowerCase();
      const found = choices.find((name) => name.toLowerCase() === typed);
      if (found !== undefined) return found;
      throw misuse(`unknown ${quote(text)}; use ${list(choices)}`);
    },
  };
}

/** `a`; `a or b`; `a, b or c`. */
function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function parsePort(text: string): number {
  const port = parseWhole(text);
  if (port <= 65_535) return port;
  throw misuse(`not a port from 0 to 65535: ${quote(text)}`);
}

/** @param example a valid address, for the message. */
export function parseAddress(
  text: string,
  example: string = "https://archive.example.org",
): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw misuse(`not a web address: ${quote(text)}; write ${example}`);
}

/** Returns a function that makes options of one kind from a help text, or from a default and a help text. */
function kind<Value>(value: string, parse: (text: string) => Value) {
  const option = (help: string) => ({ value, help, parse });
  function make(help: string): ReturnType<typeof option>;
  function make(fallback: string, help: string): ReturnType<typeof option> & { default: string };
  function make(first: string, help?: string): ReturnType<typeof option> {
    return help === undefined ? option(first) : Object.assign(option(help), { default: first });
  }
  return make;
}

/** Options by the kind of their value: `option.size(HELP)`, or with a default `option.size("64m", HELP)`. */
export const option = {
  count: kind("N", parsePositive),
  whole: kind("N", parseWhole),
  decimal: kind("N", parseDecimal),
  port: kind("N", parsePort),
  size: kind("SIZE", parseSize),
  seconds: kind("SECONDS", parseDecimal),
  duration: kind("TIME", parseDuration),
  share: kind("SHARE", parseShare),
  part: kind("SHARE", parsePart),
  date: kind("DATE", parseDatetime),
  datetime: kind("DATETIME", parseDatetime),
  address: kind("URL", (text) => parseAddress(text)),
};

/** The input files of a command; standard input by default. */
export function inputsOf(positionals: readonly string[]): readonly string[] {
  return positionals.length === 0 ? ["-"] : positionals;
}

/** Puts options below a heading of the help text. */
export function inSection<const Options extends OptionTable>(
  section: string,
  options: Options,
): Options {
  const entries = Object.entries(options).map(([name, each]) => [name, { ...each, section }]);
  return Object.fromEntries(entries) as Options; // the same names
}

export const OUTPUT_OPTION = {
  short: "o",
  value: "FILE",
  help: "Write here instead of to standard output; .gz compresses.",
} as const;

export const TMP_OPTION = {
  value: "DIR",
  help: "The folder for scratch files. Default: TMPDIR.",
} as const;

/** Overrides the checks of `guardOutputs`. */
export const FORCE_OPTION = {
  help: "Replace an existing file even if it is of another kind.",
} as const;

/** Limits the loss of mementos from one version of a map to the next. */
export const MAX_SHRINK_OPTION = {
  value: "SHARE",
  default: "50%",
  help: "The share of mementos that a new map may lose; 100% accepts any map.",
  parse: parseShare,
} as const;

/** The options of commands that learn from earlier misses. */
export const MISSES_OPTIONS = {
  misses: {
    value: "FILE",
    help: "Earlier lookups that missed: a list of URIs or SURTs, or a MemGator log.",
  },
  archive: { value: "ID", help: "The archive whose misses to use, if the log has several." },
} as const;
