import type { JsonMembers } from "../bytes/json-members.ts";

/** What a member of the JSON block of a row tells; bits, so that several can be wanted. */
export const FACT = { uri: 1, status: 2, mime: 4 } as const;

/** The same fact has a different name in pywb, Internet Archive and InterPlanetary Wayback. */
const NAMES: readonly (readonly [fact: number, names: readonly string[]])[] = [
  [FACT.uri, ["url", "original", "original_uri"]],
  [FACT.status, ["status", "statuscode", "status_code"]],
  [FACT.mime, ["mime", "mimetype", "mime_type"]],
];

interface FactName {
  readonly fact: number;
  readonly name: Uint8Array;
}

const NO_FACTS: readonly FactName[] = [];
/** By the first byte of the name, which tells nearly all other names apart. */
const FACT_NAMES: (readonly FactName[] | undefined)[] = Array.from({ length: 256 });
for (const [fact, names] of NAMES) {
  for (const text of names) {
    const name = new TextEncoder().encode(text);
    FACT_NAMES[name[0]] = [...(FACT_NAMES[name[0]] ?? NO_FACTS), { fact, name }];
  }
}

/** What the current member tells; 0 if nothing of interest. */
export function factOf(bytes: Uint8Array, json: JsonMembers): number {
  const candidates = FACT_NAMES[bytes[json.nameStart]];
  if (candidates === undefined) return 0;
  for (const { fact, name } of candidates) if (json.isNamed(name)) return fact;
  return 0;
}
