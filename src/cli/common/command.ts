import type { ExitCode, Io } from "./io.ts";
import { optionValues, splitCommandLine } from "./command-line.ts";
import { helpText } from "./help.ts";
import { environmentSettings, fileSettings, type Settings, variableOf } from "./settings.ts";

/** An option that is there or not. */
export interface FlagOption {
  readonly type: "boolean";
  readonly short?: string;
  /** One sentence, for the help text. */
  readonly help: string;
}

/** An option with a value. */
export interface ValueOption {
  readonly type: "string";
  readonly short?: string;
  /** What the value is called in the help text, such as `FILE`. */
  readonly value: string;
  /** One sentence, for the help text. */
  readonly help: string;
  /** Used as if it had been typed. Shown in the help text. */
  readonly default?: string;
  /** May be given more than once. */
  readonly multiple?: true;
  /** All values there are, where they are few: see `choice`. */
  readonly choices?: readonly string[];
  /** Makes a value of the text; throws `MM_USAGE`, to which the option's name is added. */
  readonly parse?: (text: string) => unknown;
}

/** The options of a command by their long name. */
export type OptionTable = Readonly<Record<string, FlagOption | ValueOption>>;

/** The options every command has. */
export const COMMON_OPTIONS = {
  json: { type: "boolean", help: "Write results and errors as JSON." },
  quiet: { type: "boolean", short: "q", help: "Show no progress and no summary." },
  help: { type: "boolean", short: "h", help: "Show this help." },
} as const satisfies OptionTable;

type Parsed<Spec> = Spec extends { readonly parse: (text: string) => infer Value } ? Value : string;

type OptionValue<Spec> = Spec extends { readonly type: "boolean" }
  ? boolean
  : Spec extends { readonly multiple: true }
    ? readonly Parsed<Spec>[]
    : Spec extends { readonly default: string }
      ? Parsed<Spec>
      : Parsed<Spec> | undefined;

/** The values of options, typed by their declaration. */
export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]: OptionValue<Options[Name]>;
};

/** What was typed after the name of a command. */
export interface Arguments<Options extends OptionTable> {
  readonly positionals: readonly string[];
  readonly values: OptionValues<Options & typeof COMMON_OPTIONS>;
  /**
   * The values as they are now: the settings file is read again.
   *
   * @throws as `Command.run` does for values, and what is wrong with the file.
   */
  readonly reread: () => OptionValues<Options & typeof COMMON_OPTIONS>;
}

/** An example of the help text. A test runs it. */
export interface Example {
  /** A whole line, as for a shell: `mementomap surt https://example.org/`. */
  readonly line: string;
  /** What it does, in a few words. */
  readonly does: string;
}

/** What a command is, as its file declares it. */
export interface CommandDefinition<Options extends OptionTable> {
  readonly name: string;
  /** A few words, for the list of commands. */
  readonly summary: string;
  /** What follows the name: `MAP [URI...]`. `[OPTIONS]` is added. */
  readonly usage: string;
  /** Paragraphs of plain text; lines of at most 80 columns. */
  readonly description: string;
  readonly options: Options;
  readonly examples: readonly Example[];
  /**
   * Whether options may also come from a JSON file, which its option `config` names, and from the
   * environment. What is typed comes first, then the environment, then the file.
   */
  readonly isConfigurable?: true;
  /** Set by servers, which end in their own time when the user wants to stop. */
  readonly endsItself?: true;
  readonly run: (args: Arguments<Options>, io: Io) => Promise<ExitCode>;
}

/** A command, ready to be run. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** All of them, those that every command has included. */
  readonly options: OptionTable;
  readonly examples: readonly Example[];
  /** Whether the command ends in its own time when it is interrupted, and is not let go of. */
  readonly endsItself: boolean;
  /** The whole help text; it ends in a line feed. */
  help(): string;
  /**
   * Runs the command on what was typed after its name.
   *
   * @throws `MM_USAGE` for unknown options and values that are missing or wrong.
   */
  run(argv: readonly string[], io: Io): Promise<ExitCode>;
}

/** Makes a command of its declaration; the types of the option values follow from it. */
export function defineCommand<const Options extends OptionTable>(
  definition: CommandDefinition<Options>,
): Command {
  const options = { ...definition.options, ...COMMON_OPTIONS };
  return {
    name: definition.name,
    summary: definition.summary,
    options,
    examples: definition.examples,
    endsItself: definition.endsItself === true,
    help: () => helpText({ ...definition, options }),
    run(argv, io) {
      const typed = splitCommandLine(definition.name, options, argv);
      const reread = (): Arguments<Options>["values"] => {
        const settings =
          definition.isConfigurable === true
            ? settingsOf(options, typed.given.get("config")?.[0], io)
            : [];
        // The parser goes by the same table as the types.
        return optionValues(options, typed, settings) as Arguments<Options>["values"];
      };
      return definition.run({ positionals: typed.positionals, values: reread(), reread }, io);
    },
  };
}

/** The environment, then the file that was named in the command line or there. */
function settingsOf(options: OptionTable, typed: string | undefined, { env }: Io): Settings[] {
  const path = typed ?? env[variableOf("config")];
  const environment = environmentSettings(options, env);
  return path === undefined ? [environment] : [environment, fileSettings(options, path)];
}

/** Loads a command only when it is run. */
export type CommandLoader = () => Promise<Command>;

/** Commands that serve the same purpose. */
export interface CommandGroup {
  /** A few words, for the list of commands. */
  readonly title: string;
  readonly commands: ReadonlyMap<string, CommandLoader>;
}
