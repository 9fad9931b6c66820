import { parseArgs } from "node:util";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import type { OptionTable, ValueOption } from "./command.ts";
import { nearest } from "./nearest.ts";

/**
 * Parses what was typed after the name of a command, strictly: an unknown option is an error.
 *
 * `parseArgs` splits; the checks are made here, because its own messages name neither the nearest
 * option nor the command whose help to read.
 *
 * @throws `MM_USAGE`
 */
export function parseCommandLine(
  command: string,
  options: OptionTable,
  argv: readonly string[],
): { positionals: string[]; values: Record<string, unknown> } {
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
    const isAnotherOption = value !== undefined && !token.inlineValue && /^-./.test(value);
    if (value === undefined || isAnotherOption) {
      throw usage(command, `${token.rawName} needs a value: ${token.rawName} ${option.value}`);
    }
    const before = given.get(token.name) ?? [];
    if (before.length > 0 && option.multiple !== true) {
      throw usage(command, `${token.rawName} is given twice; once is enough`);
    }
    given.set(token.name, [...before, value]);
  }
  return { positionals, values: optionValues(options, given) };
}

type Splittable = Record<string, { type: "boolean" | "string"; short?: string }>;

function splittable(options: OptionTable): Splittable {
  const table: Splittable = {};
  for (const [name, { type, short }] of Object.entries(options)) {
    table[name] = short === undefined ? { type } : { type, short };
  }
  return table;
}

function optionValues(
  options: OptionTable,
  given: ReadonlyMap<string, readonly string[]>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    if (option.type === "boolean") {
      values[name] = given.has(name);
      continue;
    }
    const texts = given.get(name) ?? (option.default === undefined ? [] : [option.default]);
    const parsed = texts.map((text) => parseValue(name, option, text));
    values[name] = option.multiple === true ? parsed : parsed[0];
  }
  return values;
}

function parseValue(name: string, option: ValueOption, text: string): unknown {
  if (option.parse === undefined) return text;
  try {
    return option.parse(text);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    throw new MementoMapError(error.code, `--${name}: ${error.message}`, { cause: error });
  }
}

function unknownOption(command: string, options: OptionTable, rawName: string): MementoMapError {
  const names = Object.keys(options).map((name) => `--${name}`);
  const guess = nearest(rawName, names);
  const hint = guess === undefined ? "" : `; did you mean ${guess}?`;
  return usage(command, `unknown option ${quote(rawName)}${hint}`);
}

/** A fault in how a command was called, with where to read on. */
export function usage(command: string, message: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `${message} (see mementomap ${command} --help)`);
}
