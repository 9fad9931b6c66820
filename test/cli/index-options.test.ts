import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";

const CDXJ = 'com,a)/ 20130727042553 {"url": "http://a.com/", "status": "200"}\n';

describe("the options of commands that read an index", () => {
  it.each([
    [["--from", "20x"], '--from: not a datetime: "20x"'],
    [["--to", "201302301"], '--to: not a datetime: "201302301"'],
    [["--status", "200,ok"], '--status: not a status such as 200 or 2xx: "ok"'],
    [["--exclude", "("], '--exclude: not a regular expression: "("'],
    [
      ["--from", "2012", "--to", "2010-06"],
      "--from 2012 is after --to 201006: no capture would be counted",
    ],
  ])("are named when they are wrong: %j", async (argv, message) => {
    const { code, stdout, stderr } = await runCli(["generate", ...argv], { stdin: CDXJ });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it.each([
    [["--from", "2013", "--to", "2013"], 1],
    [["--from", "2013-07-27", "--to", "2013"], 1],
    [["--from", "2014"], 0],
    [["--to", "2013-07-26T00:00:00Z"], 0],
  ])("take dates of any length and form: %j", async (argv, rows) => {
    const { code, stdout } = await runCli(["generate", ...argv], { stdin: CDXJ });
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.startsWith("com,")).length).toBe(rows);
  });

  it("want the address of an archive as --id", async () => {
    const { code, stderr } = await runCli(["generate", "--id", "archive.example"], { stdin: CDXJ });
    expect(code).toBe(2);
    expect(stderr).toContain('--id: not a web address: "archive.example"; write https://');
  });
});
