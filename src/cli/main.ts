import { type Command, type CommandGroup, type CommandLoader, overview } from "./common/command.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { isClosedPipe } from "../files/output-file.ts";
import { packageVersion } from "../files/package-file.ts";
import { ExitCode, type Io, writeOut } from "./common/io.ts";
import { nearest } from "./common/command-line.ts";
import { checkSignal, interruption } from "../interruption.ts";

/** Every command, in the order of the help text. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Create a map",
    commands: new Map([
      ["generate", async () => (await import("./commands/generate.ts")).generate],
      ["harvest", async () => (await import("./commands/harvest.ts")).harvest],
      ["compact", async () => (await import("./commands/compact.ts")).compact],
      ["pack", async () => (await import("./commands/pack.ts")).pack],
      ["fit", async () => (await import("./commands/fit.ts")).fit],
    ]),
  },
  {
    title: "Create a map on many machines",
    commands: new Map([
      ["partition", async () => (await import("./commands/partition.ts")).partition],
      ["combine", async () => (await import("./commands/combine.ts")).combine],
    ]),
  },
  {
    title: "Work with maps",
    commands: new Map([
      ["lookup", async () => (await import("./commands/lookup.ts")).lookup],
      ["merge", async () => (await import("./commands/merge.ts")).merge],
      ["split", async () => (await import("./commands/split.ts")).split],
      ["diff", async () => (await import("./commands/diff.ts")).diff],
      ["validate", async () => (await import("./commands/validate.ts")).validate],
      ["surt", async () => (await import("./commands/surt.ts")).surt],
    ]),
  },
  {
    title: "Publish and discover maps",
    commands: new Map([
      ["serve", async () => (await import("./commands/serve.ts")).serve],
      ["page", async () => (await import("./commands/page-command.ts")).page],
      ["fetch", async () => (await import("./commands/fetch.ts")).fetch],
    ]),
  },
  {
    title: "Query archives",
    commands: new Map([
      ["aggregate", async () => (await import("./commands/aggregate.ts")).aggregate],
      ["route", async () => (await import("./commands/route.ts")).route],
    ]),
  },
  {
    title: "Study archives and maps",
    commands: new Map([
      ["analyze", async () => (await import("./commands/analyze.ts")).analyze],
      ["logs", async () => (await import("./commands/logs.ts")).logs],
      ["evaluate", async () => (await import("./commands/evaluate.ts")).evaluate],
      ["simulate", async () => (await import("./commands/simulate.ts")).simulate],
      ["sample", async () => (await import("./commands/sample.ts")).sample],
    ]),
  },
  {
    title: "Shell integration",
    commands: new Map([
      [
        "completion",
        async () => (await import("./commands/completion.ts")).completionOf(allCommands),
      ],
    ]),
  },
];

export const COMMAND_TABLE: ReadonlyMap<string, CommandLoader> = new Map(
  COMMAND_GROUPS.flatMap(({ commands }) => [...commands]),
);

function allCommands(): Promise<Command[]> {
  return Promise.all(Array.from(COMMAND_TABLE.values(), (load) => load()));
}

/**
 * Runs a command line and says how it ended.
 *
 * Touches nothing but `io`, so tests see what a shell would. When it returns, nothing half-written
 * and no scratch folder is left, whatever the outcome.
 */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (isClosedPipe(error)) return ExitCode.ok;
    io.stderr.write(`${errorReport(error, wantsJson(argv))}\n`);
    const isInterrupted = isMementoMapError(error) && error.code === "MM_INTERRUPTED";
    return isInterrupted ? ExitCode.interrupted : ExitCode.failed;
  } finally {
    io.interrupt.cleanUp();
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === undefined) {
    io.stderr.write(await overview(COMMAND_GROUPS));
    return ExitCode.failed;
  }
  if (name === "--version" || name === "-V") {
    await writeOut(io.stdout, `${packageVersion()}\n`);
    return ExitCode.ok;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const [about] = rest;
    const text =
      about === undefined ? await overview(COMMAND_GROUPS) : (await loadCommand(about)).help();
    await writeOut(io.stdout, text);
    return ExitCode.ok;
  }
  const command = await loadCommand(name);
  if (optionsOf(rest).some((option) => ["--help", "-h"].includes(option))) {
    await writeOut(io.stdout, command.help());
    return ExitCode.ok;
  }
  return command.endsItself
    ? command.run(rest, io)
    : untilInterrupted(() => command.run(rest, io), io.interrupt.signal);
}

/** Lets go of work that does not notice an interruption by itself. */
async function untilInterrupted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  checkSignal(signal);
  let stop!: () => void;
  const interrupted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(interruption(signal));
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function optionsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

function wantsJson(argv: readonly string[]): boolean {
  return optionsOf(argv).includes("--json");
}

async function loadCommand(name: string): Promise<Command> {
  const load = COMMAND_TABLE.get(name);
  if (load === undefined) throw unknownWord(name);
  return load();
}

function unknownWord(word: string): MementoMapError {
  const isOption = word.startsWith("-");
  const guess = nearest(word, isOption ? ["--help", "--version"] : [...COMMAND_TABLE.keys()]);
  const hint = guess === undefined ? "" : `; did you mean ${quote(guess)}?`;
  return new MementoMapError(
    "MM_USAGE",
    isOption
      ? `unknown option ${quote(word)}${hint} (options of a command follow its name; see mementomap --help)`
      : `unknown command ${quote(word)}${hint} (see mementomap --help)`,
  );
}

/** A fault we foresaw is one line; one we did not is our bug, so its stack is shown. */
function errorReport(error: unknown, isJson: boolean): string {
  if (isMementoMapError(error)) {
    if (!isJson) return `mementomap: ${error.describe()}`;
    const { code, message, position } = error;
    return JSON.stringify({ error: { code, message, ...position } });
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (isJson) return JSON.stringify({ error: { code: "unforeseen", message: stack } });
  return `mementomap: this should not have happened, please report it:\n${stack}`;
}
