import type { Command } from "./command.ts";

/** Every command, in the order of the help text; loaded only when it is run. */
export const COMMAND_TABLE: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["generate", async () => (await import("./commands/generate.ts")).generate],
  ["harvest", async () => (await import("./commands/harvest.ts")).harvest],
  ["compact", async () => (await import("./commands/compact.ts")).compact],
  ["evaluate", async () => (await import("./commands/evaluate.ts")).evaluate],
  ["lookup", async () => (await import("./commands/lookup.ts")).lookup],
  ["merge", async () => (await import("./commands/merge.ts")).merge],
  ["split", async () => (await import("./commands/split.ts")).split],
  ["diff", async () => (await import("./commands/diff.ts")).diff],
  ["validate", async () => (await import("./commands/validate.ts")).validate],
  ["serve", async () => (await import("./commands/serve.ts")).serve],
  ["fetch", async () => (await import("./commands/fetch.ts")).fetch],
  ["route", async () => (await import("./commands/route.ts")).route],
  ["aggregate", async () => (await import("./commands/aggregate.ts")).aggregate],
  ["surt", async () => (await import("./commands/surt.ts")).surt],
  ["analyze", async () => (await import("./commands/analyze.ts")).analyze],
  ["logs", async () => (await import("./commands/logs.ts")).logs],
  ["fit", async () => (await import("./commands/fit.ts")).fit],
  ["sample", async () => (await import("./commands/sample.ts")).sample],
]);
