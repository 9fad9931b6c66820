import { type Command, type CommandGroups, overview } from "./common/command.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { isClosedPipe } from "../files/output-file.ts";
import { packageVersion } from "../files/package-file.ts";
import { ExitCode, type Io, writeOut } from "./common/io.ts";
import { didYouMean } from "./common/command-line.ts";
import { checkSignal, interruption } from "../interruption.ts";

/** Every command with a short summary, in the order of the help text. */
export const COMMAND_GROUPS: CommandGroups = {
  "Create a map": {
    generate: "Create a map from index files",
    harvest: "Fetch an index from an archive's server",
    compact: "Make a map smaller by rolling up subtrees",
    pack: "Make a map ten times smaller, for lookups only",
    fit: "Measure an archive's parameters for compact",
  },
  "Create a map on many machines": {
    partition: "Read a split of an index into a run, for combine",
    combine: "Create a map from the runs of partition",
  },
  "Work with maps": {
    lookup: "Look up whether an archive may hold a URI",
    merge: "Merge maps into one",
    split: "Split a map into pages",
    diff: "Show the differences between two maps",
    validate: "List the problems of a map or of its publication",
    surt: "Show the canonical key (SURT) of URIs",
  },
  "Publish and discover maps": {
    serve: "Publish maps over HTTP and answer lookups",
    page: "Write a web application for lookups in maps as static files",
    fetch: "Discover the map of an archive and download it",
  },
  "Query archives": {
    aggregate: "Query web archives for mementos, once or as a service",
    route: "Show which archives would be queried for a URI, and why",
  },
  "Study archives and maps": {
    analyze: "Show what an archive holds",
    logs: "Summarize the logs of an aggregator",
    evaluate: "Measure the accuracy of maps",
    simulate: "Compare routing policies on a stream of lookups",
    sample: "Generate a sample index, or URIs to look up in it",
  },
  "Shell integration": {
    completion: "Enable Tab completion in a shell",
  },
};

/** Commands are loaded on demand. */
const LOAD: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  generate: () => import("./commands/generate.ts"),
  harvest: () => import("./commands/harvest.ts"),
  compact: () => import("./commands/compact.ts"),
  pack: () => import("./commands/pack.ts"),
  fit: () => import("./commands/fit.ts"),
  partition: () => import("./commands/partition.ts"),
  combine: () => import("./commands/combine.ts"),
  lookup: () => import("./commands/lookup.ts"),
  merge: () => import("./commands/merge.ts"),
  split: () => import("./commands/split.ts"),
  diff: () => import("./commands/diff.ts"),
  validate: () => import("./commands/validate.ts"),
  surt: () => import("./commands/surt.ts"),
  serve: () => import("./commands/serve.ts"),
  page: () => import("./commands/page-command.ts"),
  fetch: () => import("./commands/fetch.ts"),
  aggregate: () => import("./commands/aggregate.ts"),
  route: () => import("./commands/route.ts"),
  analyze: () => import("./commands/analyze.ts"),
  logs: () => import("./commands/logs.ts"),
  evaluate: () => import("./commands/evaluate.ts"),
  simulate: () => import("./commands/simulate.ts"),
  sample: () => import("./commands/sample.ts"),
  async completion() {
    const { completionOf } = await import("./commands/completion.ts");
    return { command: completionOf(allCommands) };
  },
};

/** A command in the list of all commands. */
interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const COMMAND_TABLE: ReadonlyMap<string, CommandEntry> = new Map(
  Object.values(COMMAND_GROUPS)
    .flatMap((commands) => Object.entries(commands))
    .map(([name, summary]) => [name, { summary, load: async () => (await LOAD[name]()).command }]),
);

function allCommands(): Promise<(Command & { readonly summary: string })[]> {
  const entries = Array.from(COMMAND_TABLE.values());
  return Promise.all(entries.map(async ({ summary, load }) => ({ ...(await load()), summary })));
}

/**
 * Runs a command line and returns its exit status.
 *
 * Touches nothing but `io`, so tests see what a shell would. Whatever the outcome, partial output and
 * scratch folders are removed before it returns.
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

/** Rejects on an interruption, even if the work itself does not notice it. */
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
  const hint = didYouMean(word, isOption ? ["--help", "--version"] : [...COMMAND_TABLE.keys()]);
  return new MementoMapError(
    "MM_USAGE",
    isOption
      ? `unknown option ${quote(word)}${hint} (options of a command follow its name; see mementomap --help)`
      : `unknown command ${quote(word)}${hint} (see mementomap --help)`,
  );
}

/** One line for an expected error; the stack for an unexpected one, which is a bug. */
function errorReport(error: unknown, isJson: boolean): string {
  if (isMementoMapError(error)) {
    if (!isJson) return `mementomap: ${error.describe()}`;
    const { code, message, position } = error;
    return JSON.stringify({ error: { code, message, ...position } });
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (isJson) return JSON.stringify({ error: { code: "unforeseen", message: stack } });
  return `mementomap: internal error, please report it:\n${stack}`;
}
