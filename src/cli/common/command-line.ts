import { parseArgs, type ParseArgsConfig } from "node:util";
import { readFileSync } from "node:fs";
import { ioError, isMementoMapError, MementoMapError, quote } from "../../errors.ts";

/** An option of a command: a flag, unless it has a `value`. */
interface Option {
  readonly short?: string;
  /** The name of the value in the help text, such as `FILE`. */
  readonly value?: string;
  /** One sentence, for the help text. */
  readonly help: string;
  /** Its heading in the help text. */
  readonly section?: string;
  /** Parsed like a typed value. Shown in the help text. */
  readonly default?: string;
  readonly multiple?: true;
  /** Omitted from the help text: belongs in the `--config` file or in the environment. */
  readonly isSetting?: true;
  /** Other accepted names: those of MemGator. */
  readonly aliases?: readonly string[];
  /** All allowed values, for an enumeration: see `choice`. */
  readonly choices?: readonly string[];
  /** Parses the text; throws `MM_USAGE`, to which the option's name is added. */
  readonly parse?: (text: string) => unknown;
}

export type OptionTable = Readonly<Record<string, Option>>;

type Parsed<Spec> = Spec extends { readonly parse: (text: string) => infer Value } ? Value : string;

type OptionValue<Spec> = Spec extends { readonly value: string }
  ? Spec extends { readonly multiple: true }
    ? readonly Parsed<Spec>[]
    : Spec extends { readonly default: string }
      ? Parsed<Spec>
      : Parsed<Spec> | undefined
  : boolean;

/** The values of options, typed by their declaration. */
export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]: OptionValue<Options[Name]>;
};

/** An option in the place of a value; `-1` and `-` may be values. */
const OPTION = /^-(?![\d.])./;

/** The parsed command line of a command. */
interface TypedLine {
  readonly positionals: readonly string[];
  /** The texts of each typed option; none for a flag. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/**
 * Parses the command line of a command, strictly: an unknown option is an error.
 *
 * `parseArgs` splits; the checks are made here, because its messages neither suggest a similar option
 * nor point to the help of the command.
 *
 * @throws `MM_USAGE`
 */
export function splitCommandLine(
  command: string,
  options: OptionTable,
  argv: readonly string[],
): TypedLine {
  const names = new Map<string, string>();
  const known = Object.entries(options).flatMap(([name, { short, value, aliases = [] }]) => {
    for (const each of [name, ...aliases]) names.set(each, name);
    const type = value === undefined ? "boolean" : "string";
    const own = [name, { type, ...(short === undefined ? {} : { short }) }];
    return [own, ...aliases.map((alias) => [alias, { type }])];
  });
  const { tokens } = parseArgs({
    args: [...argv],
    // `Object.fromEntries` loses the types of the entries above.
    options: Object.fromEntries(known) as ParseArgsConfig["options"],
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const positionals: string[] = [];
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const name = names.get(token.name);
    if (name === undefined) throw unknownOption(command, options, token.rawName);
    const option = options[name];
    if (option.value === undefined) {
      if (token.value !== undefined) throw usage(command, `${token.rawName} takes no value`);
      given.set(name, []);
      continue;
    }
    // MemGator writes -a=FILE.
    const isShort = token.inlineValue === true && !token.rawName.startsWith("--");
    const value = isShort ? token.value.replace(/^=/, "") : token.value;
    const isAnotherOption = value !== undefined && !token.inlineValue && OPTION.test(value);
    if (value === undefined || isAnotherOption) {
      throw usage(command, `${token.rawName} needs a value: ${token.rawName} ${option.value}`);
    }
    const before = given.get(name) ?? [];
    if (before.length > 0 && option.multiple !== true) {
      throw usage(command, `${token.rawName} may be given only once`);
    }
    given.set(name, [...before, value]);
  }
  return { positionals, given };
}

/**
 * The value of every option: from the command line, else from the first of `settings` that has it, else
 * its default.
 *
 * @throws `MM_USAGE` for an invalid value; the message names its source.
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
    if (option.value === undefined) {
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

function parseValue(place: string, option: Option, text: string): unknown {
  if (option.parse === undefined) return text;
  try {
    return option.parse(text);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    throw new MementoMapError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

/** MemGator options with another name here, or without an equivalent. */
const MEMGATOR_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["benchmark", "use --log FILE"],
  ["verbose", "use --access-log -"],
  ["static", "not supported: a web server serves files"],
  ["spoof", "not supported: archives should be able to identify their clients"],
]);

function unknownOption(command: string, options: OptionTable, rawName: string): MementoMapError {
  const known =
    command === "aggregate" ? MEMGATOR_OPTIONS.get(rawName.replace(/^-+/, "")) : undefined;
  if (known !== undefined) {
    return usage(command, `${quote(rawName)} is an option of MemGator; ${known}`);
  }
  const hint = didYouMean(rawName.replace(/^-+/, ""), Object.keys(options), (name) => `--${name}`);
  return usage(command, `unknown option ${quote(rawName)}${hint}`);
}

/** A usage error that points to the help of the command. */
export function usage(command: string, message: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `${message} (see mementomap ${command} --help)`);
}

/** Option values from the environment or a file. */
export interface Settings {
  /** The texts of options by long name; `true` or `false` for a flag. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The name of an option in this source, for messages. */
  nameOf(option: string): string;
}

/** Options that apply to a single run, so that neither a file nor the environment can set them. */
const NOT_SETTINGS: ReadonlySet<string> = new Set(["config", "json", "quiet", "help"]);

/**
 * The settings of the environment: `--page-size` is `MEMENTOMAP_PAGE_SIZE`. The values of a repeatable
 * option are separated by blanks.
 *
 * @throws `MM_USAGE` for a flag that is neither `true` nor `false`.
 */
export function environmentSettings(
  options: OptionTable,
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const values = new Map<string, readonly string[]>();
  for (const [name, option] of Object.entries(options)) {
    const text = NOT_SETTINGS.has(name) ? undefined : env[variableOf(name)];
    if (text === undefined || text === "") continue;
    if (option.value === undefined) checkFlag(text, variableOf(name));
    const isList = option.multiple === true;
    values.set(name, isList ? text.split(/\s+/).filter(Boolean) : [text]);
  }
  return { values, nameOf: variableOf };
}

/** `page-size` → `MEMENTOMAP_PAGE_SIZE` */
export function variableOf(option: string): string {
  return `MEMENTOMAP_${option.toUpperCase().replaceAll("-", "_")}`;
}

/**
 * The settings of a JSON file, an object with the names of options as members: strings, numbers,
 * `true` or `false` for flags, and lists for repeatable options.
 *
 * @throws MM_IO if it cannot be read, MM_BAD_INPUT if it is not such a file.
 */
export function fileSettings(options: OptionTable, path: string): Settings {
  const members = readObject(path);
  const values = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(members)) {
    const option =
      Object.hasOwn(options, name) && !NOT_SETTINGS.has(name) ? options[name] : undefined;
    if (option === undefined) throw unknownSetting(path, name, options);
    const isList = option.multiple === true;
    const list: unknown[] = isList && Array.isArray(value) ? value : [value];
    const isRight = list.every((item) =>
      option.value === undefined
        ? typeof item === "boolean"
        : typeof item === "string" || typeof item === "number",
    );
    if (!isRight) {
      const wanted = option.value === undefined ? "true or false" : "a string or a number";
      throw badFile(path, `${quote(name)} is ${JSON.stringify(value)}; write ${wanted}`);
    }
    values.set(name, list.map(String));
  }
  return { values, nameOf: (option) => `${path}: ${option}` };
}

function readObject(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw ioError(error, path);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badFile(path, `not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badFile(path, 'expected a JSON object, for example {"port": 1208}');
  }
  // The member names of a JSON object are strings.
  return value as Record<string, unknown>;
}

function unknownSetting(path: string, name: string, options: OptionTable): MementoMapError {
  const names = Object.keys(options).filter((option) => !NOT_SETTINGS.has(option));
  return badFile(path, `there is no setting ${quote(name)}${didYouMean(name, names)}`);
}

function checkFlag(text: string, name: string): void {
  if (text === "true" || text === "false") return;
  throw new MementoMapError("MM_USAGE", `${name} is ${quote(text)}; write true or false`);
}

function badFile(path: string, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source: path } });
}

/** Suggests the most similar name; empty if none is similar. */
export function didYouMean(
  typed: string,
  names: readonly string[],
  show: (name: string) => string = quote,
): string {
  let best = "";
  let bestDistance = Math.min(3, Math.floor(typed.length / 2)) + 1;
  for (const name of names) {
    const distance = editDistance(typed, name);
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best === "" ? "" : `; did you mean ${show(best)}?`;
}

/** The number of letters to insert, delete, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        last[column] + 1,
        current[column - 1] + 1,
        last[column - 1] + (isSame ? 0 : 1),
        row > 1 && column > 1 && isSwap ? beforeLast[column - 2] + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length];
}
