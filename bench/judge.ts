import { readFileSync } from "node:fs";
import { isSurtText, LookupList } from "../src/lookup/lookup-list.ts";
import { surtKey } from "../src/surt/key.ts";
import { surt } from "../src/surt/uri-to-surt.ts";

/** How well lookups are answered. */
export interface Verdict {
  /** The share of right answers, of all lookups and of those whose host is held. */
  readonly accuracy: number;
  readonly onHeldHosts: number;
}

/** What an archive holds and what is asked of it, in memory, to judge many maps. */
export class Judge {
  readonly held: readonly Uint8Array[];
  readonly #lookups: { readonly key: Uint8Array; isHeld: boolean; isOnHeldHost: boolean }[] = [];

  /**
   * @param truth a map that lists all keys.
   * @param lookups a list of URIs or SURTs; what is asked twice counts once.
   */
  constructor(truth: string, lookups: string, queries: boolean) {
    const encoder = new TextEncoder();
    const keys = rowsOf(readFileSync(truth));
    const hosts = new Set(keys.map(hostOf));
    const held = new Set(keys);
    this.held = keys.map((key) => encoder.encode(key));
    for (const key of new Set(lookupsOf(lookups, queries))) {
      this.#lookups.push({
        key: encoder.encode(key),
        isHeld: held.has(key),
        isOnHeldHost: hosts.has(hostOf(key)),
      });
    }
  }

  get summary(): string {
    const held = this.#lookups.filter(({ isHeld }) => isHeld).length;
    const onHeldHosts = this.#lookups.filter(({ isOnHeldHost }) => isOnHeldHost).length;
    return `${this.held.length} keys; ${this.#lookups.length} lookups, ${held} of them held, ${onHeldHosts} on held hosts`;
  }

  judge(says: (key: Uint8Array) => boolean): Verdict {
    let [right, onHeldHosts, rightThere] = [0, 0, 0];
    for (const { key, isHeld, isOnHeldHost } of this.#lookups) {
      const isRight = says(key) === isHeld;
      if (isRight) right++;
      if (!isOnHeldHost) continue;
      onHeldHosts++;
      if (isRight) rightThere++;
    }
    return { accuracy: right / this.#lookups.length, onHeldHosts: rightThere / onHeldHosts };
  }

  /** @throws where some held key is said to be absent */
  checkRecall(name: string, says: (key: Uint8Array) => boolean): void {
    const lost = this.held.filter((key) => !says(key)).length;
    if (lost > 0) throw new Error(`${name} does not find ${lost} held keys`);
  }
}

/** The keys of a map in text. */
function rowsOf(map: Uint8Array): string[] {
  return new TextDecoder()
    .decode(map)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!"))
    .map((line) => line.slice(0, line.lastIndexOf(" ")));
}

function lookupsOf(path: string, queries: boolean): string[] {
  const bytes = readFileSync(path);
  const decoder = new TextDecoder();
  const keys: string[] = [];
  new LookupList(path).forEach(bytes, (start, end) => {
    const text = decoder.decode(bytes.subarray(start, end));
    keys.push(isSurtText(text) ? surtKey(text, { queries }) : surtKey(surt(text), { queries }));
  });
  return keys;
}

function hostOf(key: string): string {
  const end = key.indexOf(")");
  return end === -1 ? "" : key.slice(0, end);
}
