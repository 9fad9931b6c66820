import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess } from "../support/aggregate-process.ts";
import { type CliResult, runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const LOG = `INFO: 2016/06/09 12:00:00 Aggregating Mementos for http://example.org/
INFO: 2016/06/09 12:00:00 a => Success: 2 mementos
INFO: 2016/06/09 12:00:01 b => Response error: 404 Not Found
`;

function world(): { list: string; file: (name: string, text: string) => string } {
  const folder = scratchDir();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const archives = ["a", "b"].map((id) => ({ id, timemap: `http://127.0.0.1:9/${id}/` }));
  return { list: file("archives.json", JSON.stringify(archives)), file };
}

function route(list: string, ...args: readonly string[]): Promise<CliResult> {
  return runCli(["route", "http://example.org/", "--archives", list, ...args]);
}

describe("what to learn from", () => {
  it.each(["route", "aggregate"])("is refused by %s where nothing is learnt", async (command) => {
    const { list, file } = world();
    const args = [command, "http://a.org/", "--archives", list, "--learn-from", file("log", LOG)];
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("--learn-from requires --recall");
  });

  it("is told of where it is a log without an answer, and taken all the same", async () => {
    const { list, file } = world();
    const recall = ["--recall", "0.9", "--learn-from"];
    const fault = "a log to learn from is unusable";
    const empty = await route(list, ...recall, file("empty.log", ""));
    const reason = "no archive response found";
    expect(empty.stderr).toMatch(new RegExp(`${fault}: ".*empty.log": ${reason}\n`));
    const notes = await route(list, ...recall, file("notes.txt", "Remember the milk.\n"));
    expect(notes.stderr).toMatch(new RegExp(`notes.txt": ${reason}\n`));
    expect((await route(list, ...recall, file("memgator.log", LOG))).stderr).toBe("");
    expect([empty.code, notes.code]).toEqual([0, 0]);
  });

  it("is counted in the log of the service", async () => {
    const { list, file } = world();
    const args = ["--archives", list, "--recall", "0.9", "--learn-from"];
    const { said } = await aggregateProcess([...args, file("memgator.log", LOG)]);
    await expect.poll(said).toMatch(/"restored learned state","answers":2\b/);
  });
});
