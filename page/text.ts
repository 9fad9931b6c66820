import { createContext } from "preact";
import { useContext } from "preact/hooks";
import de from "./messages/de.json";
import en from "./messages/en.json";
import { readStored, store } from "./theme.ts";

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The messages of all languages, by part of the application. */
const MESSAGES: Readonly<Record<Language, typeof en>> = { en, de };
type Part = keyof typeof en;
type Key<P extends Part> = keyof (typeof en)[P] & string;
type CountStem<P extends Part> =
  Key<P> extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never;

const KEY = "mementomap.language";

/** The user's choice, else the first supported language of the browser. */
export function readLanguage(): Language {
  const wanted = [readStored(KEY) ?? "", ...navigator.languages].map((each) => languageOf(each));
  return wanted.find((each) => each !== undefined) ?? "en";
}

/** The language of a tag such as `de-AT`; undefined if it is not supported. */
export function languageOf(tag: string): Language | undefined {
  return LANGUAGES.find((language) => tag.toLowerCase().startsWith(language));
}

export function storeLanguage(language: Language): void {
  store(KEY, language);
}

export const LanguageContext = createContext<Language>("en");

/** Messages of a part, and number formats, in one language. */
export interface Text<P extends Part> extends Formats {
  /** A message; `{name}` is replaced with the value of that name. */
  (key: Key<P>, values?: Readonly<Record<string, string | number>>): string;
  /** A message with a plural: `key.one` or `key.other`, with `{count}`. */
  count(stem: CountStem<P>, count: number): string;
  /** A message whose key comes from the server; undefined if there is none. */
  find(key: string): string | undefined;
}

/** Built once per language: a view may have a thousand components. */
const TEXTS = new Map<Language, ReadonlyMap<string, unknown>>();

/** The messages of a part in the current language. */
export function useText<P extends Part>(part: P): Text<P> {
  const language = useContext(LanguageContext);
  const texts = TEXTS.get(language) ?? textsOf(language);
  TEXTS.set(language, texts);
  return texts.get(part) as Text<P>; // the map has every part
}

function textsOf(language: Language): ReadonlyMap<string, unknown> {
  const formats = formatsOf(language);
  const parts = Object.entries(MESSAGES[language]);
  return new Map(parts.map(([part, messages]) => [part, textOf(messages, formats)]));
}

function textOf(messages: Readonly<Record<string, string>>, formats: Formats): object {
  const say = (key: string, values: Readonly<Record<string, string | number>> = {}): string =>
    (messages[key] ?? key).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name] ?? "";
      return typeof value === "number" ? formats.number(value) : value;
    });
  const count = (stem: string, number: number): string =>
    say(`${stem}.${formats.plural(number)}`, { count: number });
  return Object.assign(say, { ...formats, count, find: (key: string) => messages[key] });
}

/** Days before months, and hours from 0 to 23. */
const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", de: "de" };

type Format = (value: number) => string;

/** Number and time formats of a language; memento datetimes are in UTC. */
interface Formats {
  readonly language: Language;
  readonly plural: (count: number) => "one" | "other";
  readonly number: Format;
  /** A compact number: `1.2K`, `34M`. */
  readonly compact: Format;
  /** A number with its sign. */
  readonly signed: Format;
  readonly percent: Format;
  /** A percentage without decimals, for progress. */
  readonly share: Format;
  readonly bytes: Format;
  /** A duration in its largest unit: `350 ms`, `2.4 s`, `3 days`. */
  readonly duration: Format;
  readonly day: Format;
  readonly moment: Format;
  readonly month: Format;
  /** The local time of day. */
  readonly clock: Format;
  /** Weekdays from Monday on, in their narrow form. */
  readonly weekdays: readonly string[];
}

const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

const DURATIONS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
  ["millisecond", 1],
] as const;

function formatsOf(language: Language): Formats {
  const locale = LOCALES[language];
  const plural = new Intl.PluralRules(locale);
  const number = (options?: Intl.NumberFormatOptions): Format => {
    const made = new Intl.NumberFormat(locale, options);
    return (value) => made.format(value);
  };
  const date = (options: Intl.DateTimeFormatOptions): Format => {
    const made = new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
    return (time) => made.format(time);
  };
  const weekday = date({ weekday: "narrow" });
  return {
    language,
    plural: (count) => (plural.select(count) === "one" ? "one" : "other"),
    number: number(),
    compact: number({ notation: "compact" }),
    signed: number({ signDisplay: "exceptZero" }),
    percent: number({ style: "percent", maximumFractionDigits: 1 }),
    share: number({ style: "percent" }),
    bytes: (bytes) => {
      const step = Math.min(BYTES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
      const maximumFractionDigits = step === 0 ? 0 : 1;
      const format = number({ style: "unit", unit: BYTES[step] ?? "byte", maximumFractionDigits });
      return format(bytes / 1000 ** step);
    },
    duration: (ms) => {
      const [unit, size] = DURATIONS.find(([, length]) => ms >= length) ?? ["millisecond", 1];
      const unitDisplay = unit === "day" ? "long" : unit === "second" ? "narrow" : "short";
      const maximumFractionDigits = unit === "second" && ms < 10_000 ? 1 : 0;
      return number({ style: "unit", unit, unitDisplay, maximumFractionDigits })(ms / size);
    },
    day: date({ dateStyle: "medium" }),
    moment: date({ dateStyle: "medium", timeStyle: "medium" }),
    month: date({ month: "long" }),
    clock: date({ timeStyle: "medium", timeZone: undefined }),
    // 1 January 2024 was a Monday.
    weekdays: Array.from({ length: 7 }, (_, i) => weekday(Date.UTC(2024, 0, 1 + i))),
  };
}

/** The title of a view, for windows and bookmarks. */
export function titleOf(view: Key<"shell">, site: string, language: Language = "en"): string {
  return `${MESSAGES[language].shell[view]} · ${site}`;
}
