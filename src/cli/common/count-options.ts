import { quote } from "../../errors.ts";
import { userAgent } from "../../files/package-file.ts";
import type { GenerateOptions } from "../../generate/generate.ts";
import { DATETIME_DIGITS, type MapDescription } from "../../generate/map-rows.ts";
import type { OptionTable, OptionValues } from "./command-line.ts";
import { captureFilter, INDEX_OPTIONS, updatedAt } from "./index-options.ts";
import type { Io } from "./io.ts";
import { choice, misuse, parseAddress } from "./options.ts";

/** The options of commands that count captures for a map. */
export const COUNT_OPTIONS = {
  revisits: {
    value: "RULE",
    default: "count",
    help: "Whether to count or skip captures of unchanged pages.",
    ...choice(["count", "skip"]),
  },
  distinct: { help: "Count captures of the same URI and time once." },
  originals: { help: "Count originals (distinct URIs) too." },
  queries: { help: "Keep queries: one row per URI, in a map with queries." },
  by: { value: "FIELD", help: "Split rows by datetime[:year|month|day].", parse: parseBy },
  archive: { value: "ID", help: "Count only this archive in logs and TimeMaps of aggregators." },
  id: {
    value: "URL",
    help: "The archive's URI, for the header.",
    parse: (text: string) => parseAddress(text, "https://archive.example.org/"),
  },
  name: { value: "TEXT", help: "The archive's name, for the header." },
} as const satisfies OptionTable;

export const SKIP_BAD_OPTION = {
  help: "Count bad lines and damaged parts of indexes, and continue.",
} as const;

type CountValues = OptionValues<typeof INDEX_OPTIONS & typeof COUNT_OPTIONS> & {
  readonly "skip-bad": boolean;
};

/**
 * The settings for counting.
 *
 * @throws MM_USAGE for a filter that no capture can pass.
 */
export function countSettings(values: CountValues): Omit<GenerateOptions, "streams"> {
  const { format, archive, distinct, originals, queries, by = 0, revisits } = values;
  const filter = captureFilter(values, revisits === "skip" ? { skipRevisits: true } : {});
  const skipBad = values["skip-bad"];
  return { format, filter, archive, distinct, originals, queries, datetimeDigits: by, skipBad };
}

/** The description in the header of a map of these files. */
export async function mapDescription(
  values: Pick<CountValues, "id" | "name">,
  paths: readonly string[],
  io: Io,
): Promise<MapDescription> {
  const { id, name } = values;
  return { id, name, updatedAt: await updatedAt(paths, io), generator: userAgent() };
}

function parseBy(text: string): number {
  const [field, unit = "second"] = text.split(":");
  const digits = Object.entries(DATETIME_DIGITS).find(([name]) => name === unit)?.[1];
  if (field === "datetime" && digits !== undefined) return digits;
  throw misuse(
    `cannot split by ${quote(text)}; use datetime, datetime:year, datetime:month or datetime:day`,
  );
}
