/** The learnt reason for a decision. */
export type LearntReason =
  /** By the archive's answer for this original, or without any answer. */
  | { readonly kind: "had-it" | "lacked-it" | "hint" | "unknown" }
  /** By its answers for others under a prefix; for all others if there is none. */
  | {
      readonly kind: "others";
      readonly hits: number;
      readonly asked: number;
      readonly prefix?: string | undefined;
    };

const TEXTS = {
  "had-it": "it had this original when last queried",
  "lacked-it": "it did not have this original when last queried",
  hint: "no history yet; based on the archive list only",
  unknown: "no history yet",
} as const;

/** As text for programs: `0 of 312 lookups under org,example found anything`. */
export function learntReasonText(reason: LearntReason): string {
  if (reason.kind !== "others") return TEXTS[reason.kind];
  const { hits, asked, prefix } = reason;
  const where = prefix === undefined ? "" : ` under ${prefix}`;
  return `${hits} of ${asked} lookups${where} found anything`;
}

/** Parses such a text, so that it can be translated; undefined for other texts. */
export function readLearntReason(text: string): LearntReason | undefined {
  for (const kind of ["had-it", "lacked-it", "hint", "unknown"] as const) {
    if (text === TEXTS[kind]) return { kind };
  }
  const match = /^(\d+) of (\d+) lookups(?: under (.*))? found anything$/s.exec(text);
  if (match === null) return undefined;
  const [, hits = "", asked = "", prefix] = match;
  return { kind: "others", hits: Number(hits), asked: Number(asked), prefix };
}
