const STRING = { type: "string" };
const INTEGER = { type: "integer" };
const OBJECT = { type: "object" };

function listOf(items: object): { readonly type: "array"; readonly items: object } {
  return { type: "array", items };
}

/** The result of a lookup. */
export const LOOKUP_SCHEMA = {
  ...OBJECT,
  required: ["input", "present", "key", "frequency", "distance"],
  properties: {
    input: STRING,
    present: { type: "boolean" },
    key: { type: ["string", "null"], description: "The matching key" },
    frequency: { type: ["string", "null"] },
    distance: { type: ["integer", "null"], description: "0: the key of exactly this URI" },
  },
};

const PART = {
  url: { ...STRING, description: "The prefix as a URL, for display" },
  kind: {
    enum: ["root", "tld", "domain", "host", "path", "page", "query", "wildcard", "other"],
  },
  rows: INTEGER,
  captures: { ...INTEGER, description: "The sum of the frequencies" },
  bound: { enum: ["exact", "atLeast", "atMost", "about"] },
  voids: { ...INTEGER, description: "Rows with frequency 0: nothing is held" },
  wildcards: { ...INTEGER, description: "Rows that cover many pages" },
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
    search: { ...STRING, description: "The search term, in the form of keys" },
    next: { type: ["string", "null"], description: "Relative to this address" },
  },
};

const COMBINATION = {
  held: { ...listOf(STRING), description: "Maps that hold them" },
  may: { ...listOf(STRING), description: "Maps whose wildcards cover them" },
  count: INTEGER,
  differing: { ...INTEGER, description: "Number with differing captures" },
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

/** Responses of `/explore` and `/compare`. */
export const HOLDINGS_SCHEMAS = { Slice: SLICE, Comparison: COMPARISON };
