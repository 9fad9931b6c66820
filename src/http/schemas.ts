/** An answer of a lookup. */
export const LOOKUP_SCHEMA = {
  type: "object",
  required: ["input", "present", "key", "frequency", "distance"],
  properties: {
    input: { type: "string" },
    present: { type: "boolean" },
    key: { type: ["string", "null"], description: "The key that decided" },
    frequency: { type: ["string", "null"] },
    distance: { type: ["integer", "null"], description: "0: a key for exactly this URI" },
  },
};

const PART = {
  url: { type: "string", description: "The prefix for people" },
  kind: {
    enum: ["root", "tld", "domain", "host", "path", "page", "query", "wildcard", "other"],
  },
  rows: { type: "integer" },
  captures: { type: "integer", description: "The sum of the frequencies" },
  bound: { enum: ["exact", "atLeast", "atMost", "about"] },
  voids: { type: "integer", description: "Rows that say that nothing is held" },
  wildcards: { type: "integer", description: "Rows that stand for many pages" },
  wildcardCaptures: { type: "integer" },
  detail: { enum: ["kept", "rolled up", "mixed"] },
};

const SLICE = {
  type: "object",
  required: ["map", "form", "rows"],
  properties: {
    map: { type: "string" },
    form: { enum: ["text", "packed"] },
    prefix: { type: "string" },
    ...PART,
    above: { type: "array", items: { type: "object" } },
    coveredBy: { type: "array", items: { type: "object" } },
    total: { type: "string", description: "The frequency of *, at the root" },
    children: {
      type: "array",
      items: {
        type: "object",
        properties: {
          prefix: { type: "string" },
          ...PART,
          hasChildren: { type: "boolean" },
          children: {
            type: "array",
            items: { type: "object" },
            description: "The largest of its own children, with depth above 1",
          },
        },
      },
    },
    search: { type: "string", description: "What was searched for, as keys have it" },
    next: { type: ["string", "null"], description: "Relative to this address" },
  },
};

const COMBINATIONS = {
  type: "object",
  properties: {
    count: { type: "integer" },
    combinations: {
      type: "array",
      items: {
        type: "object",
        properties: {
          held: {
            type: "array",
            items: { type: "string" },
            description: "Maps with rows for them",
          },
          may: {
            type: "array",
            items: { type: "string" },
            description: "Maps whose wildcards cover them",
          },
          count: { type: "integer" },
          differing: { type: "integer", description: "Those whose captures differ" },
          captures: { type: "array", items: { type: "integer" } },
        },
      },
    },
  },
};

const COMPARISON = {
  type: "object",
  properties: {
    maps: { type: "array", items: { type: "object" } },
    keys: COMBINATIONS,
    domains: COMBINATIONS,
    ...Object.fromEntries(
      ["tlds", "largest", "differing", "only"].map((name) => [
        name,
        { type: "array", items: { type: "object" } },
      ]),
    ),
  },
};

/** Answers of `/explore` and `/compare`. */
export const HOLDINGS_SCHEMAS = { Slice: SLICE, Comparison: COMPARISON };
