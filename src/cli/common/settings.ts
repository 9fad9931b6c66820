import { readFileSync } from "node:fs";
import { MementoMapError, quote } from "../../errors.ts";
import { ioError } from "../../files/io-error.ts";
import type { OptionTable } from "./command.ts";
import { nearest } from "./nearest.ts";

/** Values for options from elsewhere than the command line. */
export interface Settings {
  /** The texts of an option by its long name; a flag has `true` or `false`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** How an option is called there, for messages. */
  nameOf(option: string): string;
}

/** What a file or the environment cannot say: it is about this one run. */
const NOT_SETTINGS: ReadonlySet<string> = new Set(["config", "json", "quiet", "help"]);

/**
 * The settings of the environment: `--page-size` is `MEMENTOMAP_PAGE_SIZE`. An option that may be
 * given more than once has its values apart by blanks.
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
    if (option.type === "boolean") checkFlag(text, variableOf(name));
    const isList = option.type === "string" && option.multiple === true;
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
 * `true` or `false` for flags, and lists where an option may be given more than once.
 *
 * @throws MM_IO when it cannot be read, MM_BAD_INPUT when it is no such file.
 */
export function fileSettings(options: OptionTable, path: string): Settings {
  const members = readObject(path);
  const values = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(members)) {
    const option =
      Object.hasOwn(options, name) && !NOT_SETTINGS.has(name) ? options[name] : undefined;
    if (option === undefined) throw unknownSetting(path, name, options);
    const isList = option.type === "string" && option.multiple === true;
    const list: unknown[] = isList && Array.isArray(value) ? value : [value];
    const isRight = list.every((item) =>
      option.type === "boolean"
        ? typeof item === "boolean"
        : typeof item === "string" || typeof item === "number",
    );
    if (!isRight) {
      const wanted = option.type === "boolean" ? "true or false" : "a string or a number";
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
    throw badFile(path, `this is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badFile(path, 'settings are an object: {"port": 1208}');
  }
  // Every object that JSON makes has texts as names.
  return value as Record<string, unknown>;
}

function unknownSetting(path: string, name: string, options: OptionTable): MementoMapError {
  const names = Object.keys(options).filter((option) => !NOT_SETTINGS.has(option));
  const guess = nearest(name, names);
  const hint = guess === undefined ? "" : `; did you mean ${quote(guess)}?`;
  return badFile(path, `there is no setting ${quote(name)}${hint}`);
}

function checkFlag(text: string, name: string): void {
  if (text === "true" || text === "false") return;
  throw new MementoMapError("MM_USAGE", `${name} is ${quote(text)}; write true or false`);
}

function badFile(path: string, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source: path } });
}
