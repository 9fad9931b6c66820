import { describe, expect, it } from "vitest";
import { defineCommand } from "../../src/cli/common/command.ts";
import { parsePositive } from "../../src/cli/common/options.ts";
import { testIo } from "../support/run-cli.ts";

let seen: unknown;

const command = defineCommand({
  name: "count",
  usage: "[FILE...]",
  description: "Counts things.",
  options: {
    output: { short: "o", value: "FILE", help: "Write here." },
    pages: { value: "N", help: "How many.", parse: parsePositive, default: "3" },
    status: { value: "CODE", help: "Keep these.", multiple: true },
    strict: { help: "Mind everything." },
  },
  examples: { "count x": "mementomap count x" },
  run({ positionals, values }) {
    const pages: number = values.pages;
    const status: readonly string[] = values.status;
    const output: string | undefined = values.output;
    const { strict, quiet } = values;
    seen = { positionals, output, pages, status, strict, quiet };
    return Promise.resolve(0);
  },
});

async function parsed(...argv: string[]): Promise<unknown> {
  await command.run(argv, testIo().io);
  return seen;
}

const defaults = {
  positionals: [],
  output: undefined,
  pages: 3,
  status: [],
  strict: false,
  quiet: false,
};

describe("defineCommand", () => {
  it.each([
    [[], {}],
    [["a", "-", "b"], { positionals: ["a", "-", "b"] }],
    [["-o", "x", "a"], { output: "x", positionals: ["a"] }],
    [["-ox"], { output: "x" }],
    [["-o", "-"], { output: "-" }],
    [["--output=-x"], { output: "-x" }],
    [["--pages", "7", "-q", "--strict"], { pages: 7, quiet: true, strict: true }],
    [["--status", "200", "--status=404"], { status: ["200", "404"] }],
    [["--", "--strict"], { positionals: ["--strict"] }],
  ])("parses %j", async (argv, expected) => {
    expect(await parsed(...argv)).toEqual({ ...defaults, ...expected });
  });

  it.each([
    [["--strikt"], 'unknown option "--strikt"; did you mean --strict?'],
    [["-x"], 'unknown option "-x" (see'],
    // The dashes do not make it similar to --json.
    [["--arsn"], 'unknown option "--arsn" (see'],
    [["--constructor"], 'unknown option "--constructor" (see'],
    [["--output"], "--output needs a value: --output FILE"],
    [["-o", "--strict"], "-o needs a value: -o FILE"],
    [["--strict=yes"], "--strict takes no value"],
    [["-o", "a", "-o", "b"], "-o may be given only once"],
    [["--pages", "-1"], '--pages: expected an integer of at least 1, got "-1"'],
    [["--pages", "many"], '--pages: expected an integer of at least 1, got "many"'],
  ])("refuses %j", async (argv, message) => {
    const outcome = Promise.resolve().then(() => parsed(...argv));
    await expect(outcome).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringContaining(message),
    });
  });

  it("makes the help text of the declaration", () => {
    expect(command.help()).toBe(`Counts things.

Usage:
    mementomap count [OPTIONS] [FILE...]

Options:
    -o, --output FILE
        Write here.
    --pages N
        How many. (default 3)
    --status CODE
        Keep these.
    --strict
        Mind everything.

Every command has --json; -q, --quiet; -h, --help: see mementomap --help.

Examples:
    # count x
    mementomap count x
`);
  });
});
