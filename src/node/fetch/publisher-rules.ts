interface Rule {
  readonly level: "MUST" | "SHOULD";
  /** What the rule asks for, in a few words. */
  readonly asks: string;
}

/** The rules for publishers of `docs/dissemination.md` that can be checked from outside. */
export const PUBLISHER_RULES = {
  P1: { level: "SHOULD", asks: "the map is at the well-known URI" },
  P2: { level: "MUST", asks: "the map is a valid MementoMap" },
  P3: { level: "SHOULD", asks: "!id names the archive" },
  P4: { level: "SHOULD", asks: "there is a strong ETag" },
  P5: { level: "SHOULD", asks: "there is a Last-Modified" },
  P6: { level: "MUST", asks: "conditional requests are honoured" },
  P7: { level: "SHOULD", asks: "range requests are honoured" },
  P8: { level: "MUST", asks: "a range beyond the end is refused" },
  P9: { level: "SHOULD", asks: "gzip is offered" },
  P10: { level: "MUST", asks: "the compressed form is the same map, and told apart" },
  P11: { level: "MUST", asks: "HEAD gives the headers of GET" },
  P12: { level: "SHOULD", asks: "pages of other sites may read the map" },
  P13: { level: "SHOULD", asks: "it is said how long the map is fresh" },
  P14: { level: "SHOULD", asks: "the archive's page links to the map" },
  P15: { level: "MUST", asks: "pages, if offered, are linked and make up the map" },
} as const satisfies Record<string, Rule>;

/** The name of a rule. */
export type RuleId = keyof typeof PUBLISHER_RULES;
