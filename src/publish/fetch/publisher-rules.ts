interface Rule {
  readonly level: "MUST" | "SHOULD";
  /** What the rule asks for, as it is said behind a finding that breaks it. */
  readonly asks: string;
}

/** The rules for publishers of `docs/dissemination.md` that can be checked from outside. */
export const PUBLISHER_RULES = {
  P1: { level: "SHOULD", asks: "the map should be at the well-known URI" },
  P2: { level: "MUST", asks: "the map must be a valid MementoMap" },
  P3: { level: "SHOULD", asks: "!id should name the archive" },
  P4: { level: "SHOULD", asks: "there should be a strong ETag" },
  P5: { level: "SHOULD", asks: "there should be a Last-Modified" },
  P6: { level: "MUST", asks: "conditional requests must be honoured" },
  P7: { level: "SHOULD", asks: "range requests should be honoured" },
  P8: { level: "MUST", asks: "a range beyond the end must be answered with 416" },
  P9: { level: "SHOULD", asks: "gzip should be offered" },
  P10: { level: "MUST", asks: "the compressed form must be the same map, with a tag of its own" },
  P11: { level: "MUST", asks: "HEAD must give the headers of GET" },
  P12: { level: "SHOULD", asks: "pages of other sites should be allowed to read the map" },
  P13: { level: "SHOULD", asks: "the response should say how long the map is fresh" },
  P14: { level: "SHOULD", asks: "the archive's page should link to the map" },
  P15: { level: "MUST", asks: "pages, if offered, must be linked and make up the map" },
} as const satisfies Record<string, Rule>;

/** The name of a rule. */
export type RuleId = keyof typeof PUBLISHER_RULES;
