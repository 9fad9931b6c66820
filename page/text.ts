import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { readStored, store } from "./theme.ts";

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The words of a part of the application, in all languages. */
export type Messages<Key extends string> = Readonly<
  Record<Language, Readonly<Record<Key, string>>>
>;

/** Checks that all languages have the same keys. */
export function messages<Key extends string>(
  tables: { readonly en: Readonly<Record<Key, string>> } & Readonly<
    Record<Language, NoInfer<Readonly<Record<Key, string>>>>
  >,
): Messages<Key> {
  return tables;
}

const KEY = "mementomap.language";

/** The reader's choice, else the first language of the browser that there is. */
export function readLanguage(): Language {
  const wanted = [readStored(KEY) ?? "", ...navigator.languages];
  for (const each of wanted) {
    const found = LANGUAGES.find((language) => language === each.slice(0, 2).toLowerCase());
    if (found !== undefined) return found;
  }
  return "en";
}

export function storeLanguage(language: Language): void {
  store(KEY, language);
}

export const LanguageContext = createContext<Language>("en");

/** Texts and formats of one language. */
export interface Text<Key extends string> {
  readonly language: Language;
  /** A message; `{name}` in it becomes the value of that name. */
  (key: Key, values?: Readonly<Record<string, string | number>>): string;
  /** A message that depends on a number: `key.one` or `key.other`, with `{count}`. */
  count(stem: CountStem<Key>, count: number): string;
}

type CountStem<Key extends string> = Key extends `${infer Stem}.other` ? Stem : never;

/** The words of a part in the language of the reader. */
export function useText<Key extends string>(tables: Messages<Key>): Text<Key> {
  const language = useContext(LanguageContext);
  const known = TEXTS.get(tables) ?? new Map<Language, Text<never>>();
  TEXTS.set(tables, known);
  const text = known.get(language) ?? textOf(tables, language);
  known.set(language, text);
  return text as Text<Key>;
}

/** Texts are made once: a view may have a thousand parts that speak. */
const TEXTS = new WeakMap<Messages<never>, Map<Language, Text<never>>>();

function textOf<Key extends string>(tables: Messages<Key>, language: Language): Text<Key> {
  const table: Readonly<Record<string, string>> = tables[language];
  const say = (key: string, values: Readonly<Record<string, string | number>> = {}): string =>
    (table[key] ?? key).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? "";
      return typeof value === "number" ? formatNumber(value, language) : value;
    });
  const count = (stem: string, number: number): string => {
    const form = formatsOf(language).plural.select(number) === "one" ? "one" : "other";
    return say(`${stem}.${form}`, { count: number });
  };
  return Object.assign(say, { language, count });
}

/** Days before months, and hours from 0 to 23. */
const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", de: "de" };

/** What formats of a language need is made once: it takes longer than formatting. */
interface Formats {
  readonly plural: Intl.PluralRules;
  readonly number: Intl.NumberFormat;
  readonly percent: Intl.NumberFormat;
  readonly day: Intl.DateTimeFormat;
  readonly moment: Intl.DateTimeFormat;
  readonly time: Intl.DateTimeFormat;
  readonly month: Intl.DateTimeFormat;
  readonly compact: Intl.NumberFormat;
  /** From Monday on, as narrow as the language has them. */
  readonly weekdays: readonly string[];
}

const FORMATS = new Map<Language, Formats>();

function formatsOf(language: Language): Formats {
  const known = FORMATS.get(language);
  if (known !== undefined) return known;
  const locale = LOCALES[language];
  const weekday = new Intl.DateTimeFormat(locale, { weekday: "narrow", timeZone: "UTC" });
  const made: Formats = {
    plural: new Intl.PluralRules(locale),
    number: new Intl.NumberFormat(locale),
    percent: new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 }),
    // In UTC, as all datetimes of mementos are.
    day: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }),
    moment: new Intl.DateTimeFormat(locale, {
      dateStyle: "medium",
      timeStyle: "medium",
      timeZone: "UTC",
    }),
    time: new Intl.DateTimeFormat(locale, { timeStyle: "medium" }),
    month: new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" }),
    compact: new Intl.NumberFormat(locale, { notation: "compact" }),
    // 1 January 2024 was a Monday.
    weekdays: Array.from({ length: 7 }, (_, i) => weekday.format(Date.UTC(2024, 0, 1 + i))),
  };
  FORMATS.set(language, made);
  return made;
}

export function formatNumber(value: number, language: Language): string {
  return formatsOf(language).number.format(value);
}

/** A number in few characters: `1.2K`, `34M`. */
export function formatCompact(value: number, language: Language): string {
  return formatsOf(language).compact.format(value);
}

export function formatBytes(bytes: number, language: Language): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return new Intl.NumberFormat(LOCALES[language], {
    style: "unit",
    unit: units[step] ?? "byte",
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(bytes / 1000 ** step);
}

export function formatPercent(share: number, language: Language): string {
  return formatsOf(language).percent.format(share);
}

export function formatDay(date: Date, language: Language): string {
  return formatsOf(language).day.format(date);
}

/** The name of the month. */
export function formatMonth(date: Date, language: Language): string {
  return formatsOf(language).month.format(date);
}

/** The days of the week from Monday on, as narrow as the language has them. */
export function weekdays(language: Language): readonly string[] {
  return formatsOf(language).weekdays;
}

export function formatMoment(date: Date, language: Language): string {
  return formatsOf(language).moment.format(date);
}

/** The time of day where the reader is. */
export function formatTime(date: Date, language: Language): string {
  return formatsOf(language).time.format(date);
}

const DURATIONS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
  ["millisecond", 1],
] as const;

/** How long something takes, in its largest unit: `350 ms`, `2.4 s`, `3 days`. */
export function formatDuration(ms: number, language: Language): string {
  const [unit, size] =
    DURATIONS.find(([, length]) => ms >= length) ?? (["millisecond", 1] as const);
  return new Intl.NumberFormat(LOCALES[language], {
    style: "unit",
    unit,
    unitDisplay: unit === "day" ? "long" : unit === "second" ? "narrow" : "short",
    maximumFractionDigits: unit === "second" && ms < 10_000 ? 1 : 0,
  }).format(ms / size);
}
