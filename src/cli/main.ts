import { type Command, type CommandEntry, type CommandGroup, overview } from "./common/command.ts";
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
      [
        "generate",
        {
          summary: "Create a map from index files",
          load: async () => (await import("./commands/generate.ts")).generate,
        },
      ],
      [
        "harvest",
        {
          summary: "Fetch an index from an archive's server",
          load: async () => (await import("./commands/harvest.ts")).harvest,
        },
      ],
      [
        "compact",
        {
          summary: "Make a map smaller by rolling up subtrees",
          load: async () => (await import("./commands/compact.ts")).compact,
        },
      ],
      [
        "pack",
        {
          summary: "Make a map ten times smaller, for lookups only",
          load: async () => (await import("./commands/pack.ts")).pack,
        },
      ],
      [
        "fit",
        {
          summary: "Measure an archive's parameters for compact",
          load: async () => (await import("./commands/fit.ts")).fit,
        },
      ],
    ]),
  },
  {
    title: "Create a map on many machines",
    commands: new Map([
      [
        "partition",
        {
          summary: "Read a split of an index into a run, for combine",
          load: async () => (await import("./commands/partition.ts")).partition,
        },
      ],
      [
        "combine",
        {
          summary: "Create a map from the runs of partition",
          load: async () => (await import("./commands/combine.ts")).combine,
        },
      ],
    ]),
  },
  {
    title: "Work with maps",
    commands: new Map([
      [
        "lookup",
        {
          summary: "Look up whether an archive may hold a URI",
          load: async () => (await import("./commands/lookup.ts")).lookup,
        },
      ],
      [
        "merge",
        {
          summary: "Merge maps into one",
          load: async () => (await import("./commands/merge.ts")).merge,
        },
      ],
      [
        "split",
        {
          summary: "Split a map into pages",
          load: async () => (await import("./commands/split.ts")).split,
        },
      ],
      [
        "diff",
        {
          summary: "Show the differences between two maps",
          load: async () => (await import("./commands/diff.ts")).diff,
        },
      ],
      [
        "validate",
        {
          summary: "List the faults of a map or of its publication",
          load: async () => (await import("./commands/validate.ts")).validate,
        },
      ],
      [
        "surt",
        {
          summary: "Show the canonical key (SURT) of URIs",
          load: async () => (await import("./commands/surt.ts")).surt,
        },
      ],
    ]),
  },
  {
    title: "Publish and discover maps",
    commands: new Map([
      [
        "serve",
        {
          summary: "Publish maps over HTTP and answer lookups",
          load: async () => (await import("./commands/serve.ts")).serve,
        },
      ],
      [
        "page",
        {
          summary: "Write a web application for lookups in maps as static files",
          load: async () => (await import("./commands/page-command.ts")).page,
        },
      ],
      [
        "fetch",
        {
          summary: "Discover the map of an archive and download it",
          load: async () => (await import("./commands/fetch.ts")).fetch,
        },
      ],
    ]),
  },
  {
    title: "Query archives",
    commands: new Map([
      [
        "aggregate",
        {
          summary: "Query web archives for mementos, once or as a service",
          load: async () => (await import("./commands/aggregate.ts")).aggregate,
        },
      ],
      [
        "route",
        {
          summary: "Show which archives would be queried for a URI, and why",
          load: async () => (await import("./commands/route.ts")).route,
        },
      ],
    ]),
  },
  {
    title: "Study archives and maps",
    commands: new Map([
      [
        "analyze",
        {
          summary: "Show what an archive holds",
          load: async () => (await import("./commands/analyze.ts")).analyze,
        },
      ],
      [
        "logs",
        {
          summary: "Summarize the logs of an aggregator",
          load: async () => (await import("./commands/logs.ts")).logs,
        },
      ],
      [
        "evaluate",
        {
          summary: "Measure the accuracy of maps",
          load: async () => (await import("./commands/evaluate.ts")).evaluate,
        },
      ],
      [
        "simulate",
        {
          summary: "Compare routing policies on a stream of lookups",
          load: async () => (await import("./commands/simulate.ts")).simulate,
        },
      ],
      [
        "sample",
        {
          summary: "Generate a sample index, or URIs to look up in it",
          load: async () => (await import("./commands/sample.ts")).sample,
        },
      ],
    ]),
  },
  {
    title: "Shell integration",
    commands: new Map([
      [
        "completion",
        {
          summary: "Enable Tab completion in a shell",
          load: async () => (await import("./commands/completion.ts")).completionOf(allCommands),
        },
      ],
    ]),
  },
];

export const COMMAND_TABLE: ReadonlyMap<string, CommandEntry> = new Map(
  COMMAND_GROUPS.flatMap(({ commands }) => [...commands]),
);

function allCommands(): Promise<(Command & { readonly summary: string })[]> {
  const entries = Array.from(COMMAND_TABLE.values());
  return Promise.all(entries.map(async ({ summary, load }) => ({ ...(await load()), summary })));
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
    io.stderr.write(overview(COMMAND_GROUPS));
    return ExitCode.failed;
  }
  if (name === "--version" || name === "-V") {
    await writeOut(io.stdout, `${packageVersion()}\n`);
    return ExitCode.ok;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const [about] = rest;
    const text = about === undefined ? overview(COMMAND_GROUPS) : (await loadCommand(about)).help();
    await writeOut(io.stdout, text);
    return ExitCode.ok;
  }
  const command = await loadCommand(name);
  if (optionsOf(rest).some((option) => ["--help", "-h"].includes(option))) {
    await writeOut(io.stdout, command.help());
    return ExitCode.ok;
  }
  return command.handlesSignals
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
  const entry = COMMAND_TABLE.get(name);
  if (entry === undefined) throw unknownWord(name);
  return entry.load();
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
