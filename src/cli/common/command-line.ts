import { parseArgs } from "node:util";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import type { OptionTable, ValueOption } from "./command.ts";
import { nearest } from "./nearest.ts";
import type { Settings } from "./settings.ts";

/** What stands where a value should be, and is none: `-1` and `-` may be values. */
const OPTION = /^-(?![\d.])./;

/** What was typed after the name of a command, taken apart. */
export interface TypedLine {
  readonly positionals: readonly string[];
  /** The texts of each option that was typed; none for a flag. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/**
 * Takes apart what was typed after the name of a command, strictly: an unknown option is an error.
 *
 * `parseArgs` splits; the checks are made here, because its own messages name neither the nearest
 * option nor the command whose help to read.
 *
 * @throws `MM_USAGE`
 */
export function splitCommandLine(
  command: string,
  options: OptionTable,
  argv: readonly string[],
): TypedLine {
  const { tokens } = parseArgs({
    args: [...argv],
    options: splittable(options),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const positionals: string[] = [];
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(command, options, token.rawName);
    if (option.type === "boolean") {
      if (token.value !== undefined) throw usage(command, `${token.rawName} takes no value`);
      given.set(token.name, []);
      continue;
    }
    const { value } = token;
    const isAnotherOption = value !== undefined && !token.inlineValue && OPTION.test(value);
    if (value === undefined || isAnotherOption) {
      throw usage(command, `${token.rawName} needs a value: ${token.rawName} ${option.value}`);
    }
    const before = given.get(token.name) ?? [];
    if (before.length > 0 && option.multiple !== true) {
      throw usage(command, `${token.rawName} is given twice; once is enough`);
    }
    given.set(token.name, [...before, value]);
  }
  return { positionals, given };
}

type Splittable = Record<string, { type: "boolean" | "string"; short?: string }>;

function splittable(options: OptionTable): Splittable {
  const table: Splittable = {};
  for (const [name, { type, short }] of Object.entries(options)) {
    table[name] = short === undefined ? { type } : { type, short };
  }
  return table;
}

/**
 * The value of every option: what was typed, else what the first of `settings` has, else its default.
 *
 * @throws `MM_USAGE` for a value that is wrong; the message says where it is from.
 */
export function optionValues(
  options: OptionTable,
  { given }: TypedLine,
  settings: readonly Settings[] = [],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    const elsewhere = settings.find((each) => each.values.has(name));
    const typed = given.get(name);
    const texts = typed ?? elsewhere?.values.get(name);
    if (option.type === "boolean") {
      values[name] = typed !== undefined || texts?.[0] === "true";
      continue;
    }
    const place = typed === undefined ? elsewhere?.nameOf(name) : undefined;
    const parsed = (texts ?? (option.default === undefined ? [] : [option.default])).map((text) =>
      parseValue(place ?? `--${name}`, option, text),
    );
    values[name] = option.multiple === true ? parsed : parsed[0];
  }
  return values;
}

function parseValue(place: string, option: ValueOption, text: string): unknown {
  if (option.parse === undefined) return text;
  try {
    return option.parse(text);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    throw new MementoMapError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

/** Options of MemGator that have another name here, or none. */
const OF_MEMGATOR: ReadonlyMap<string, string> = new Map([
  ["arcs", "here it is --archives FILE"],
  ["topk", "here it is --top-k N"],
  ["benchmark", "here --log FILE writes it too"],
  ["proxy", "here it is --base URL"],
  ["restimeout", "here it is --timeout TIME"],
  ["hdrtimeout", "here it is --headers-timeout TIME"],
  ["contimeout", "here it is --connect-timeout TIME"],
  ["verbose", "here it is --access-log requests"],
  ["static", "here there is none; a web server serves files"],
  ["spoof", "here there is none; archives are to know who asks"],
]);

function unknownOption(command: string, options: OptionTable, rawName: string): MementoMapError {
  const known = command === "aggregate" ? OF_MEMGATOR.get(rawName.replace(/^-+/, "")) : undefined;
  if (known !== undefined) {
    return usage(command, `${quote(rawName)} is an option of MemGator; ${known}`);
  }
  const guess = nearest(rawName.replace(/^-+/, ""), Object.keys(options));
  const hint = guess === undefined ? "" : `; did you mean --${guess}?`;
  return usage(command, `unknown option ${quote(rawName)}${hint}`);
}

/** A fault in how a command was called, with where to read on. */
export function usage(command: string, message: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `${message} (see mementomap ${command} --help)`);
}
