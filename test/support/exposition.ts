/** A metric family in the Prometheus text format. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly { readonly name: string; readonly labels: string; value: number }[];
}

/**
 * Parses the Prometheus text format strictly.
 *
 * @throws for a sample without a family, a suffix that its type does not allow, and a duplicate
 *   family.
 */
export function readExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let samples: { name: string; labels: string; value: number }[] = [];
  let current: Family | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ")) continue;
    const [, typed, type = ""] =
      /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (typed !== undefined) {
      if (families.has(typed)) throw new Error(`duplicate family: ${typed}`);
      samples = [];
      current = { name: typed, type, samples };
      families.set(typed, current);
      continue;
    }
    const found = /^(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\.)*",?)*)\})? (\+Inf|-?[\d.e+-]+)$/.exec(line);
    if (found === null) throw new Error(`not a sample: ${line}`);
    const [, name, labels = "", value] = found;
    const suffixes = current?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    if (!suffixes.some((suffix) => name === `${current?.name}${suffix}`)) {
      throw new Error(`a sample without a family: ${line}`);
    }
    samples.push({ name, labels, value: Number(value) });
  }
  return families;
}
