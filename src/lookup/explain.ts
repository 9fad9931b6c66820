import { coveringKeyText, type Form, MISSING } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import { SourceLookup } from "./map-lookup.ts";
import type { Held, KeySource, Verdict } from "./source.ts";

/** A key tried by a lookup. */
export interface TriedKey {
  readonly key: string;
  readonly distance: number;
  /** Its rows as text; undefined for a packed map, which has none. */
  readonly rows: readonly string[] | undefined;
  readonly decides: boolean;
}

/** Looks up in another source and records the keys tried, in order, with their rows. */
export class RecordingLookup extends SourceLookup {
  /** The keys tried by the last lookup. */
  readonly tried: TriedKey[] = [];
  readonly headers: UkvsHeaders;
  readonly readsQueries: boolean;
  readonly #source: KeySource;

  constructor(source: KeySource) {
    super();
    this.headers = source.headers;
    this.readsQueries = source.readsQueries;
    this.#source = source;
  }

  open(key: Key, period?: DatetimeRange, held?: Held): number {
    this.tried.length = 0;
    return this.#source.open(key, period, held);
  }

  ask(key: Key, form: Form, index: number): number {
    const found = this.#source.ask(key, form, index);
    if (found === MISSING) return MISSING;
    this.tried.push({
      key: coveringKeyText(key),
      distance: key.distance,
      rows: this.#source.lastRows?.(),
      decides: found >= 0,
    });
    return found;
  }

  answer(key: Key, hit: number, into: Verdict): void {
    this.#source.answer(key, hit, into);
  }

  async load(held: Held, signal?: AbortSignal): Promise<void> {
    await this.#source.load?.(held, signal);
  }
}

/** The keys tried by a lookup and their rows, one line each. */
export function explainedLines(tried: readonly TriedKey[]): string[] {
  const width = Math.max(0, ...tried.map(({ key }) => key.length));
  return tried.map(({ key, distance, rows, decides }) => {
    const found = rows === undefined || rows.length === 0 ? "-" : rows.join(" | ");
    const end = decides ? "  (decides)" : found === "-" ? "" : "  (does not decide)";
    return `  ${String(distance).padStart(2)}  ${key.padEnd(width)}  ${found}${end}`;
  });
}
