const STRING = { type: "string" };
const INTEGER = { type: "integer" };
const OBJECT = { type: "object" };

function listOf(items: object): { readonly type: "array"; readonly items: object } {
  return { type: "array", items };
}

/** An answer of a lookup. */
export const LOOKUP_SCHEMA = {
  ...OBJECT,
  required: ["input", "present", "key", "frequency", "distance"],
  properties: {
    input: STRING,
    present: { type: "boolean" },
    key: { type: ["string", "null"], description: "The key that decided" },
    frequency: { type: ["string", "null"] },
    distance: { type: ["integer", "null"], description: "0: a key for exactly this URI" },
  },
};

const PART = {
  url: { ...STRING, description: "The prefix for people" },
  kind: {
    enum: ["root", "tld", "domain", "host", "path", "page", "query", "wildcard", "other"],
  },
  rows: INTEGER,
  captures: { ...INTEGER, description: "The sum of the frequencies" },
  bound: { enum: ["exact", "atLeast", "atMost", "about"] },
  voids: { ...INTEGER, description: "Rows that say that nothing is held" },
  wildcards: { ...INTEGER, description: "Rows that stand for many pages" },
  wildcardCaptures: INTEGER,
  detail: { enum: ["kept", "rolled up", "mixed"] },
};

const CHILD = {
  prefix: STRING,
  ...PART,
  hasChildren: { type: "boolean" },
  children: {
    ...listOf(OBJECT),
    description: "The largest of its own children, with depth above 1",
  },
};

const SLICE = {
  ...OBJECT,
  required: ["map", "form", "rows"],
  properties: {
    map: STRING,
    form: { enum: ["text", "packed"] },
    prefix: STRING,
    ...PART,
    above: listOf(OBJECT),
    coveredBy: listOf(OBJECT),
    total: { ...STRING, description: "The frequency of *, at the root" },
    children: listOf({ ...OBJECT, properties: CHILD }),
    search: { ...STRING, description: "What was searched for, as keys have it" },
    next: { type: ["string", "null"], description: "Relative to this address" },
  },
};

const COMBINATION = {
  held: { ...listOf(STRING), description: "Maps with rows for them" },
  may: { ...listOf(STRING), description: "Maps whose wildcards cover them" },
  count: INTEGER,
  differing: { ...INTEGER, description: "Those whose captures differ" },
  captures: listOf(INTEGER),
};

const COMBINATIONS = {
  ...OBJECT,
  properties: {
    count: INTEGER,
    combinations: listOf({ ...OBJECT, properties: COMBINATION }),
  },
};

const COMPARISON = {
  ...OBJECT,
  properties: {
    maps: listOf(OBJECT),
    keys: COMBINATIONS,
    domains: COMBINATIONS,
  },
};

/** Answers of `/explore` and `/compare`. */
export const HOLDINGS_SCHEMAS = { Slice: SLICE, Comparison: COMPARISON };
