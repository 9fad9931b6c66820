/**
 * What makes a SURT canonical beyond its form: the one list of what is left out. All ways from a URI to a
 * key read it. Whoever changes it raises the version, and adds vectors to test/surt/surt-vectors.test.ts.
 */

/**
 * The name of these rules in the headers of maps (`canonicalization`). Maps that name others, or a later
 * version, may hold a page under a key that is not looked for here: where they have none, nothing is known.
 */
const RULES = "surt";
const RULES_VERSION = 1;

/** A parameter of queries that is left out: the last one whose name ends like this. */
export interface StrippedParameter {
  /** In lower case. */
  readonly name: string;
  /** Letters between the name and the `=`, which differ from site to site. */
  readonly letters: number;
  /** The value, up to the next parameter. */
  readonly value: RegExp;
}

const SESSION_ID = /[0-9a-z]{32}(?=&|$)/y;

/**
 * Session ids of Java, PHP, of sites that write a bare `sid`, and of ASP, as CDX files have them; in the
 * order in which they are looked for.
 */
export const STRIPPED_PARAMETERS: readonly StrippedParameter[] = [
  { name: "jsessionid", letters: 0, value: SESSION_ID },
  { name: "phpsessid", letters: 0, value: SESSION_ID },
  { name: "sid", letters: 0, value: SESSION_ID },
  { name: "aspsessionid", letters: 8, value: /[a-z]{24}(?=&|$)/y },
];

/** Parameters of ColdFusion that are left out where they stand side by side and are not empty. */
export const STRIPPED_PAIR: readonly [string, string] = ["cfid", "cftoken"];

/** Whether the headers of a map name rules by which a page that it holds has the key that is looked for. */
export function areKnownRules(canonicalization: unknown): boolean {
  // Maps made of keys of an index, and maps that say nothing, are believed: that is what there is.
  return [undefined, RULES, "index", `${RULES}/${RULES_VERSION}`].includes(
    canonicalization as string | undefined,
  );
}
