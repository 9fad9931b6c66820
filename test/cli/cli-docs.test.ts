import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cliDocs } from "../../scripts/cli-docs.ts";
import { httpDocs } from "../../scripts/http-docs.ts";
import { COMMAND_TABLE } from "../../src/cli/main.ts";

describe.each([
  ["cli.md", cliDocs],
  ["http.md", httpDocs],
])("docs/%s", (name, write) => {
  it("is up to date (npm run docs)", async () => {
    const written = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
    expect(written).toBe(await write());
  });
});

describe.each([...COMMAND_TABLE])("the help text of %s", (name, { summary, load }) => {
  it("fits 80 columns, and has usage, options and examples", async () => {
    const command = await load();
    expect(command.name).toBe(name);
    const help = command.help();
    expect(help).toContain(`Usage:\n    mementomap ${name} `);
    expect(help).toContain("\nEvery command has --json");
    expect(help).toContain(`\nExamples:\n    # `);
    expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(Object.keys(command.examples).length).toBeGreaterThan(0);
  });
});
