import { compareBytes } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { NameHash } from "../../packed/name-hash.ts";
import { ALL_YEARS, NO_YEARS, type Years } from "../../packed/packed-file.ts";
import type { PackedNames } from "../../packed/packed-map.ts";
import type { Fields } from "../../ukvs/header.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import { enlarged } from "../compact/budget/budget-survey.ts";
import { KEY_KIND, keyShape } from "../compact/key-tree.ts";
import type { MapRow } from "../compact/map-lines.ts";
import type { HostProfiles } from "./host-profiles.ts";

/** Bits for the years of a host, at most: hosts share the periods that are most frequent. */
const MAX_BITS = 6;

/** Which of some periods each host has. */
export interface HostPeriods {
  readonly bits: number;
  /** How many periods there are. */
  readonly count: number;
  /** By the number of a host. */
  readonly numberOf: Uint8Array;
}

/**
 * The first and the last year of which a map holds something, host by host.
 *
 * Holds the names of all hosts, and 16 bytes for each.
 */
export class HostYears {
  readonly #column: number;
  /** The names of hosts, such as `com,cnn)`, one after the other; where each ends, and its years. */
  #names: Uint8Array = new Uint8Array(4096);
  readonly #ends: number[] = [];
  readonly #codes: number[] = [];
  /** Years of rows that cover many hosts. */
  #everywhere: Years | undefined;
  /** What was parsed last, and its years: the next row mostly has the same. */
  #parsed = "";
  #parsedYears: Years = ALL_YEARS;

  /** @throws MM_USAGE for a map without times */
  constructor({ keys }: Fields) {
    this.#column = keys.indexOf("datetime") - 1;
    if (this.#column < 0) {
      throw new MementoMapError(
        "MM_USAGE",
        "the map has no times, so the years of its hosts are unknown; create it with " +
          "generate --by datetime:year",
      );
    }
  }

  /** Bits for the number of a period. */
  get bits(): number {
    return Math.min(MAX_BITS, Math.ceil(Math.log2(new Set(this.#codes).size + 1)));
  }

  /** The first and the last year of all; undefined where nothing is held. */
  get span(): Years | undefined {
    let span = this.#everywhere;
    for (const code of new Set(this.#codes)) span = united(span, yearsOf(code));
    return span;
  }

  /** Takes a row that holds something. Rows of a host come one after the other. */
  add({ bytes, start, keyEnd, moreKeysStart, moreKeysEnd, parts = [] }: MapRow): void {
    const key = bytes.subarray(start, keyEnd);
    const { kind, hostEnd } = keyShape(key, key.length);
    let years = this.#parse(decoder.decode(bytes.subarray(moreKeysStart, moreKeysEnd)));
    for (const { moreKeys } of parts) years = united(years, this.#parse(moreKeys));
    if (kind === KEY_KIND.hostWildcard || kind === KEY_KIND.spread) {
      this.#everywhere = united(this.#everywhere, years);
      return;
    }
    const host = key.subarray(0, kind === KEY_KIND.opaque ? 0 : hostEnd + 1);
    const last = this.#ends.length - 1;
    if (last >= 0 && compareBytes(this.#name(last), host) === 0) {
      this.#codes[last] = codeOf(united(yearsOf(this.#codes[last]), years));
      return;
    }
    const at = this.#ends.at(-1) ?? 0;
    if (at + host.length > this.#names.length) {
      this.#names = enlarged(new Uint8Array(2 * (at + host.length)), this.#names);
    }
    this.#names.set(host, at);
    this.#ends.push(at + host.length);
    this.#codes.push(codeOf(years));
  }

  #name(host: number): Uint8Array {
    return this.#names.subarray(host === 0 ? 0 : this.#ends[host - 1], this.#ends[host]);
  }

  #parse(moreKeys: string): Years {
    if (moreKeys !== this.#parsed) {
      const { from, until } = parseDatetimeKey(moreKeys.split(" ")[this.#column]);
      this.#parsed = moreKeys;
      this.#parsedYears = [
        from === undefined ? ALL_YEARS[0] : Number(from.slice(0, 4)),
        until === undefined ? ALL_YEARS[1] : Number(until.slice(0, 4)),
      ];
    }
    return this.#parsedYears;
  }

  /**
   * Chooses periods for hosts: those of most of them, and a last one for all others. They are only numbers here;
   * {@link periodsIn} says what they stand for.
   */
  numbersFor({ count, low }: HostProfiles): HostPeriods {
    const { bits } = this;
    const hosts = new Map(Array.from(low.subarray(0, count), (hash, host) => [hash, host]));
    const codes = new Float64Array(count).fill(-1);
    const frequencies = new Map<number, number>();
    const hash = new NameHash();
    this.#codes.forEach((code, i) => {
      const name = this.#name(i);
      const host = hosts.get(hash.reset().extend(name, 0, name.length).finish().low);
      if (host === undefined) return;
      codes[host] = code;
      frequencies.set(code, (frequencies.get(code) ?? 0) + 1);
    });
    const chosen = [...frequencies]
      .sort(([a, m], [b, n]) => n - m || a - b)
      .slice(0, 2 ** bits - 1)
      .map(([code]) => code);
    const numbers = new Map(chosen.map((code, number) => [code, number]));
    for (const code of frequencies.keys()) {
      if (!numbers.has(code)) numbers.set(code, narrowest(chosen, code));
    }
    const numberOf = Uint8Array.from(codes, (code) => numbers.get(code) ?? chosen.length);
    return { bits, count: chosen.length + 1, numberOf };
  }

  /**
   * The periods of a packed map: each has the years of all that a lookup may find with it. So they are true
   * whichever hosts and rows are mistaken for others.
   */
  periodsIn(names: PackedNames, count: number): Years[] {
    const periods = Array.from<Years | undefined>({ length: count }).fill(this.#everywhere);
    this.#codes.forEach((code, i) => {
      const name = this.#name(i);
      for (const number of names.periodsOf(name.length === 0 ? OPAQUE_KEY : name)) {
        if (number < count) periods[number] = united(periods[number], yearsOf(code));
      }
    });
    return periods.map((years) => years ?? NO_YEARS);
  }
}

const decoder = new TextDecoder();
/** Any key without a host. */
const OPAQUE_KEY = new TextEncoder().encode("dns:");

/** The place of the shortest period that covers one; behind all where none does. */
function narrowest(chosen: readonly number[], code: number): number {
  let [place, least] = [chosen.length, Infinity];
  const [first, last] = yearsOf(code);
  chosen.forEach((other, at) => {
    const [from, until] = yearsOf(other);
    if (from > first || until < last || until - from >= least) return;
    [place, least] = [at, until - from];
  });
  return place;
}

function united(a: Years | undefined, b: Years): Years {
  return a === undefined ? b : [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

/** Years as one number, and back. */
function codeOf([first, last]: Years): number {
  return first * 10_000 + last;
}

function yearsOf(code: number): Years {
  return [Math.floor(code / 10_000), code % 10_000];
}
