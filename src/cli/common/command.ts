import { TEXT_WIDTH, wrapped } from "../../page/text-format.ts";
import type { ExitCode, Io } from "./io.ts";
import {
  environmentSettings,
  fileSettings,
  type OptionTable,
  optionValues,
  type OptionValues,
  type Settings,
  splitCommandLine,
  variableOf,
} from "./command-line.ts";

const COMMON_OPTIONS = {
  json: { help: "Write results and errors as JSON." },
  quiet: { short: "q", help: "Show neither progress nor summary." },
  help: { short: "h", help: "Show this help." },
} as const satisfies OptionTable;

/** The values of a command's options, those that every command has included. */
export type CommandValues<Options extends OptionTable> = OptionValues<
  Options & typeof COMMON_OPTIONS
>;

interface Arguments<Options extends OptionTable> {
  readonly positionals: readonly string[];
  readonly values: CommandValues<Options>;
  /**
   * The values as they are now: the settings file is read again.
   *
   * @throws as `Command.run` does for values, and what is wrong with the file.
   */
  readonly reread: () => CommandValues<Options>;
}

/** Examples of the help text, which a test runs: what each does, and the whole line for a shell. */
type Examples = Readonly<Record<string, string>>;

/** What a command is, as its file declares it. */
interface CommandDefinition<Options extends OptionTable> {
  readonly name: string;
  /** A few words, for the list of commands. */
  readonly summary: string;
  /** What follows the name: `MAP [URI...]`. `[OPTIONS]` is added. */
  readonly usage: string;
  /** Paragraphs of plain text; lines of at most 80 columns. */
  readonly description: string;
  readonly options: Options;
  readonly examples: Examples;
  /**
   * Whether options may also come from a JSON file, which its option `config` names, and from the
   * environment. What is typed comes first, then the environment, then the file.
   */
  readonly isConfigurable?: true;
  /** Set by servers, which end in their own time when the user wants to stop. */
  readonly endsItself?: true;
  readonly run: (args: Arguments<Options>, io: Io) => Promise<ExitCode>;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** All of them, those that every command has included. */
  readonly options: OptionTable;
  readonly examples: Examples;
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
  const { name, summary, examples, endsItself = false } = definition;
  return {
    name,
    summary,
    options,
    examples,
    endsItself,
    help: () => helpText({ ...definition, options }),
    run(argv, io) {
      const typed = splitCommandLine(name, options, argv);
      const reread = (): CommandValues<Options> => {
        const settings =
          definition.isConfigurable === true
            ? settingsOf(options, typed.given.get("config")?.[0], io)
            : [];
        // The parser goes by the same table as the types.
        return optionValues(options, typed, settings) as CommandValues<Options>;
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

const INDENT = "    ";

/** The help text of a command: what it does, how to call it, its options, examples. */
function helpText(command: Omit<CommandDefinition<OptionTable>, "run">): string {
  const examples = Object.entries(command.examples).map(
    ([does, line]) => `${INDENT}# ${does}\n${INDENT}${line}`,
  );
  const sections = [
    command.description.trim(),
    `Usage:\n${INDENT}mementomap ${command.name} [OPTIONS] ${command.usage}`.trimEnd(),
    `Options:\n${optionList(command.options)}`,
    `Examples:\n${examples.join("\n")}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

/** The list of commands, for `mementomap --help`. */
export async function overview(groups: readonly CommandGroup[]): Promise<string> {
  const width = Math.max(
    ...groups.flatMap(({ commands }) => [...commands.keys()]).map((name) => name.length),
  );
  const lists = await Promise.all(
    groups.map(async ({ title, commands }) => {
      const loaded = await Promise.all(Array.from(commands.values(), (load) => load()));
      const lines = loaded.map(({ name, summary }) => `${INDENT}${name.padEnd(width)}  ${summary}`);
      return `${title}:\n${lines.join("\n")}`;
    }),
  );
  return `mementomap - create, compact, publish and look up summaries of web archives

Usage:
    mementomap <command> [options] [files...]
    mementomap help <command>

${lists.join("\n\n")}

Options:
    -h, --help     Show this help, or that of a command.
    -V, --version  Show the version.

Without a file, or with -, a command reads standard input. Input may be gzip
or zstd. Results go to standard output, or with -o to a file, which is written
completely or not at all; a name that ends in .gz compresses it.

Exit status: 0 for success or "present", 1 for a negative answer, 2 for invalid
use, bad input or I/O errors, 130 if interrupted.
`;
}

function optionList(options: OptionTable): string {
  return Object.entries(options)
    .map(([name, option]) => {
      const short = option.short === undefined ? "" : `-${option.short}, `;
      const value = option.value === undefined ? "" : ` ${option.value}`;
      const fallback = option.default !== undefined ? ` (default ${option.default})` : "";
      const indent = INDENT.repeat(2);
      const lines = wrapped(`${option.help}${fallback}`, TEXT_WIDTH - indent.length);
      const text = lines.map((line) => `${indent}${line}`).join("\n");
      return `${INDENT}${short}--${name}${value}\n${text}`;
    })
    .join("\n");
}
