import type { Command, CommandGroup, CommandLoader } from "./common/command.ts";

/** Every command, in the order of the help text. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Make a map",
    commands: new Map([
      ["generate", async () => (await import("./commands/generate.ts")).generate],
      ["harvest", async () => (await import("./commands/harvest.ts")).harvest],
      ["compact", async () => (await import("./commands/compact.ts")).compact],
      ["fit", async () => (await import("./commands/fit.ts")).fit],
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
    title: "Publish maps, and find them",
    commands: new Map([
      ["serve", async () => (await import("./commands/serve.ts")).serve],
      ["fetch", async () => (await import("./commands/fetch.ts")).fetch],
    ]),
  },
  {
    title: "Ask archives",
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
      ["sample", async () => (await import("./commands/sample.ts")).sample],
    ]),
  },
  {
    title: "In your shell",
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
