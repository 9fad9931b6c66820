/** What made a report, of what, and when: for whoever reads it later. */
export interface RunRecord {
  /** Such as `mementomap/1.0.0`. */
  readonly generator: string;
  /** ISO 8601, in UTC. */
  readonly at: string;
  /** Files, by what they were given as. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  /** Options that say what counts, by name. */
  readonly filters: Readonly<Record<string, string | readonly string[]>>;
}

/** The record in words, for the end of a page. */
export function runText({ generator, at, inputs, filters }: RunRecord): string {
  const given = Object.entries(inputs).map(([name, paths]) => `${name} ${paths.join(", ")}`);
  const counted = Object.entries(filters).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : value.join(", ")}`,
  );
  const filter = counted.length === 0 ? "without filters" : `with ${counted.join("; ")}`;
  return `Made by ${generator} on ${at.slice(0, 16).replace("T", " at ")} UTC of ${given.join("; ")}, ${filter}.`;
}
