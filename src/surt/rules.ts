/**
 * The query parameters removed by canonicalization: the only list, used by all conversions from URI to key. When you
 * change it, raise the version and add vectors to test/surt/surt-vectors.test.ts.
 */

/**
 * The name of these rules in map headers (`canonicalization`). Maps with other rules, or a later version, may
 * hold a page
 * under a key that is not looked up here: a miss in them means unknown, not absent.
 */
const RULES = "surt";
const RULES_VERSION = 1;

/** A query parameter to remove: the last one whose name ends like this. */
export interface StrippedParameter {
  /** In lower case. */
  readonly name: string;
  /** The number of site-specific letters between the name and `=`. */
  readonly letters: number;
  /** The value, up to the next parameter. */
  readonly value: RegExp;
}

const SESSION_ID = /[0-9a-z]{32}(?=&|$)/y;

/**
 * Session ids of Java, PHP, sites with a bare `sid`, and ASP, as in CDX files; in the order of removal.
 */
export const STRIPPED_PARAMETERS: readonly StrippedParameter[] = [
  { name: "jsessionid", letters: 0, value: SESSION_ID },
  { name: "phpsessid", letters: 0, value: SESSION_ID },
  { name: "sid", letters: 0, value: SESSION_ID },
  { name: "aspsessionid", letters: 8, value: /[a-z]{24}(?=&|$)/y },
];

/** ColdFusion parameters, removed if adjacent and not empty. */
export const STRIPPED_PAIR: readonly [string, string] = ["cfid", "cftoken"];

/** Whether a map uses canonicalization rules under which a lookup finds every page that it holds. */
export function areKnownRules(canonicalization: unknown): boolean {
  // Maps with the keys of an index, and maps that state no rules, are trusted.
  return [undefined, RULES, "index", `${RULES}/${RULES_VERSION}`].includes(
    canonicalization as string | undefined,
  );
}
