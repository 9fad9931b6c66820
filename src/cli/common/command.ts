import { TEXT_WIDTH, wrapped } from "../../format.ts";
import { type GuardedOutput, guardOutputs } from "../../maps/output-guard.ts";
import type { Report } from "../../study/report/report.ts";
import { ExitCode, type Io, type NamedFiles } from "./io.ts";
import {
  environmentSettings,
  fileSettings,
  type OptionTable,
  optionValues,
  type OptionValues,
  type Settings,
  splitCommandLine,
  usage,
  variableOf,
} from "./command-line.ts";
import { type CommandIo, commandIo, type Summary } from "./messages.ts";

const COMMON_OPTIONS = {
  json: { help: "Write results, messages and errors as JSON." },
  quiet: { short: "q", help: "Show neither progress nor summary, only warnings and errors." },
  help: { short: "h", help: "Show this help." },
} as const satisfies OptionTable;

/** The values of a command's options, including the common ones. */
export type CommandValues<Options extends OptionTable> = OptionValues<
  Options & typeof COMMON_OPTIONS
>;

interface Arguments<Options extends OptionTable> {
  readonly positionals: readonly string[];
  readonly values: CommandValues<Options>;
  /**
   * The current values: rereads the settings file.
   *
   * @throws as `Command.run` does for values; MM_IO and MM_BAD_INPUT for the file.
   */
  readonly reread: () => CommandValues<Options>;
}

/** The files of a command, to guard against data loss and a second read of standard input. */
interface CommandFiles {
  readonly reads: NamedFiles;
  readonly writes?: readonly GuardedOutput[];
}

/** The result of a command. Warnings are shown immediately. */
export interface Outcome {
  /** `ok` by default. */
  readonly status?: ExitCode;
  /** Written in every requested form; `filters` state which part of the input counts. */
  readonly report?: Report;
  readonly filters?: Readonly<Record<string, unknown>>;
  /** Shown on standard error, unless quiet. */
  readonly summary?: Summary;
}

/** Examples of the help text, which a test runs: a description, and the complete shell command. */
type Examples = Readonly<Record<string, string>>;

/** The declaration of a command. */
interface CommandDefinition<Options extends OptionTable> {
  readonly name: string;
  /** The arguments: `MAP [URI...]`. `[OPTIONS]` is added. */
  readonly usage: string;
  /** Paragraphs of plain text; lines of at most 80 columns. */
  readonly description: string;
  readonly options: Options;
  readonly examples: Examples;
  /**
   * Whether options may also come from the JSON file of its option `config`, and from the environment.
   * The command line takes precedence over the environment, and the environment over the file.
   */
  readonly isConfigurable?: true;
  /** Set by servers, which shut down gracefully on a signal. */
  readonly handlesSignals?: true;
  /** The files of a run, guarded before it starts. */
  readonly files?: (args: Arguments<Options>) => CommandFiles;
  readonly run: (args: Arguments<Options>, io: CommandIo) => Promise<Outcome | ExitCode>;
}

export interface Command {
  readonly name: string;
  /** All options, including the common ones. */
  readonly options: OptionTable;
  readonly examples: Examples;
  /** Whether the command shuts down gracefully on a signal, and must not be abandoned. */
  readonly handlesSignals: boolean;
  /** The whole help text; it ends in a line feed. */
  help(): string;
  /**
   * Runs the command with the arguments after its name.
   *
   * @throws `MM_USAGE` for unknown options and for missing or invalid values.
   */
  run(argv: readonly string[], io: Io): Promise<ExitCode>;
}

/** Creates a command from its declaration, which determines the types of the option values. */
export function defineCommand<const Options extends OptionTable>(
  definition: CommandDefinition<Options>,
): Command {
  const options = { ...definition.options, ...COMMON_OPTIONS };
  const { name, examples, handlesSignals = false } = definition;
  return {
    name,
    options,
    examples,
    handlesSignals,
    help: () => helpText(definition),
    async run(argv, io) {
      const typed = splitCommandLine(name, options, argv);
      const reread = (): CommandValues<Options> => {
        const settings =
          definition.isConfigurable === true
            ? settingsOf(options, typed.given.get("config")?.[0], io)
            : [];
        // The parser uses the same table as the types.
        return optionValues(options, typed, settings) as CommandValues<Options>;
      };
      const args = { positionals: typed.positionals, values: reread(), reread };
      const files = definition.files?.(args);
      if (files !== undefined) await guard(name, files, args.values, io);
      const startedAt = io.now();
      const context = commandIo(io, args.values);
      for (const setting of typed.given.keys()) {
        if (options[setting].isSetting !== true) continue;
        context.warn(
          `--${setting} is a setting: write it in the file of --config, or as ${variableOf(setting)}`,
        );
      }
      const result = await definition.run(args, context);
      const outcome = typeof result === "number" ? { status: result } : result;
      const { report, filters = {}, summary, status = ExitCode.ok }: Outcome = outcome;
      if (report !== undefined) {
        const { reportValues, runRecord, writeReport } = await import("./report-files.ts");
        const run = runRecord(io, files?.reads ?? {}, filters);
        await writeReport(report, run, reportValues(args.values), context);
      }
      if (summary !== undefined) context.summary(summary, io.now() - startedAt);
      return status;
    },
  };
}

/** Rejects outputs that would destroy a file, before anything is read; prompts for typed input. */
async function guard(
  command: string,
  { reads, writes = [] }: CommandFiles,
  values: { readonly [option: string]: unknown },
  io: Io,
): Promise<void> {
  const inputs = Object.values(reads).flat();
  const isPiped = inputs.filter((path) => path === "-").length;
  if (isPiped > 1) throw usage(command, "standard input can be read only once");
  await guardOutputs(writes, { inputs, force: values["force"] === true });
  // Without a prompt, a command that waits for typed input seems to hang.
  if (isPiped === 1 && io.isStdinTTY === true && io.stderr.isTTY === true) {
    io.stderr.write("mementomap: reading standard input; end it with Ctrl-D\n");
  }
}

/** The environment, then the file named on the command line or in the environment. */
function settingsOf(options: OptionTable, typed: string | undefined, { env }: Io): Settings[] {
  const path = typed ?? env[variableOf("config")];
  const environment = environmentSettings(options, env);
  return path === undefined ? [environment] : [environment, fileSettings(options, path)];
}

/** Names and summaries of commands, grouped by purpose. */
export type CommandGroups = Readonly<Record<string, Readonly<Record<string, string>>>>;

const INDENT = "    ";

/** The help text of a command: description, usage, options by section, and examples. */
function helpText(
  command: Pick<
    CommandDefinition<OptionTable>,
    "name" | "usage" | "description" | "options" | "examples"
  >,
): string {
  const examples = Object.entries(command.examples).map(
    ([does, line]) => `${INDENT}# ${does}\n${INDENT}${line}`,
  );
  const bySection = new Map<string, [string, OptionTable[string]][]>();
  for (const entry of Object.entries(command.options)) {
    if (entry[1].isSetting === true) continue;
    const { section = "Options" } = entry[1];
    bySection.set(section, [...(bySection.get(section) ?? []), entry]);
  }
  const sections = [
    command.description.trim(),
    `Usage:\n${INDENT}mementomap ${command.name} [OPTIONS] ${command.usage}`.trimEnd(),
    ...Array.from(bySection, ([title, list]) => `${title}:\n${list.map(optionText).join("\n")}`),
    `Every command has ${COMMON_NAMES}: see mementomap --help.`,
    `Examples:\n${examples.join("\n")}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

const COMMON_NAMES = Object.entries<OptionTable[string]>(COMMON_OPTIONS)
  .map(([name, { short }]) => (short === undefined ? `--${name}` : `-${short}, --${name}`))
  .join("; ");

/** The list of commands, for `mementomap --help`. */
export function overview(groups: CommandGroups): string {
  const names = Object.values(groups).flatMap((commands) => Object.keys(commands));
  const width = Math.max(...names.map((name) => name.length));
  const lists = Object.entries(groups).map(([title, commands]) => {
    const lines = Object.entries(commands).map(
      ([name, summary]) => `${INDENT}${name.padEnd(width)}  ${summary}`,
    );
    return `${title}:\n${lines.join("\n")}`;
  });
  return `mementomap - create, compact, publish and look up summaries of web archives

Usage:
    mementomap <command> [options] [files...]
    mementomap help <command>

${lists.join("\n\n")}

Options of every command:
${Object.entries(COMMON_OPTIONS).map(optionText).join("\n")}

Options:
    -V, --version
        Show the version.

Without a file, or with -, a command reads standard input. Input may be gzip
or zstd. Results go to standard output, or with -o to a file, which is written
completely or not at all; a name that ends in .gz compresses it.

Exit status: 0 for success or "present", 1 for a negative answer, 2 for invalid
use, bad input or I/O errors, 130 if interrupted.
`;
}

function optionText([name, option]: readonly [string, OptionTable[string]]): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const value = option.value === undefined ? "" : ` ${option.value}`;
  const fallback = option.default !== undefined ? ` (default ${option.default})` : "";
  const indent = INDENT.repeat(2);
  const lines = wrapped(`${option.help}${fallback}`, TEXT_WIDTH - indent.length);
  return [`${INDENT}${short}--${name}${value}`, ...lines.map((line) => `${indent}${line}`)].join(
    "\n",
  );
}
