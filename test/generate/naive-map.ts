import { surtKey } from "../../src/surt/key.ts";
import { byUnits } from "./key-arbitraries.ts";

export interface NaiveOptions {
  readonly originals?: boolean;
  readonly datetimeDigits?: number;
  /** Count captures of the same URI and time once. */
  readonly distinct?: boolean;
}

/** The rows of a map of CDXJ lines, counted the plain way. */
export function naiveRows(lines: readonly string[], options: NaiveOptions = {}): string[] {
  const mementos = new Map<string, number>();
  const originals = new Map<string, Set<string>>();
  const seen = new Set<string>();
  for (const line of lines) {
    const [surt = "", date = ""] = line.split(" ");
    const query = surt.includes("?") ? surt.slice(surt.indexOf("?")) : "";
    const capture = `${surtKey(surt)} ${query} ${date}`;
    if (options.distinct === true && seen.has(capture)) continue;
    seen.add(capture);
    const split = options.datetimeDigits ?? 0;
    const key = `${surtKey(surt)}${split === 0 ? "" : ` ${date.slice(0, split)}`}`;
    mementos.set(key, (mementos.get(key) ?? 0) + 1);
    const queries = originals.get(key) ?? new Set<string>();
    originals.set(key, queries.add(query));
  }
  return [...mementos]
    .sort(([a], [b]) => byUnits(a, b))
    .map(([key, count]) =>
      options.originals === true
        ? `${key} ${count}/${originals.get(key)?.size}`
        : `${key} ${count}`,
    );
}

/** The rows of a map, without its headers. */
export function rowsOf(map: string | Uint8Array): string[] {
  const lines = Buffer.from(map).toString().split("\n").slice(0, -1);
  return lines.filter((line) => !line.startsWith("!"));
}
