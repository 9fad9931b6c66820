import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";

describe("surt", () => {
  it("answers arguments in their order", async () => {
    expect(await runCli(["surt", "https://www.Example.org/A/?b=1", "http://localhost/"])).toEqual({
      code: 0,
      stdout: "org,example)/a?b=1\nlocalhost)/\n",
      stderr: "",
    });
  });

  it("answers every line of standard input, blank ones too", async () => {
    const stdin = "https://example.org/a\r\n\nhttps://example.org/b";
    expect(await runCli(["surt"], { stdin })).toMatchObject({
      stdout: "org,example)/a\n-\norg,example)/b\n",
    });
  });

  it("gives the same for arguments and for standard input", async () => {
    const uris = ["https://example.org/ä b", "https://bücher.example/%C3%A9", "x", "mailto:a@b.c"];
    const fromArguments = await runCli(["surt", ...uris]);
    const fromInput = await runCli(["surt"], { stdin: `${uris.join("\n")}\n` });
    expect(fromInput).toEqual(fromArguments);
  });

  it("takes bytes that are no UTF-8", async () => {
    const stdin = Buffer.from("687474703a2f2f612e636f6d2ff0e9", "hex");
    expect(await runCli(["surt"], { stdin })).toMatchObject({
      code: 0,
      stdout: "com,a)/%f0%e9\n",
    });
  });

  it("lists the lookup keys, most specific first", async () => {
    const { stdout } = await runCli(["surt", "--keys", "https://example.org/a", "https://b.org/"]);
    expect(stdout).toBe(
      `org,example)/a
org,example)/a/*
org,example)/*
org,example,*)/a
org,example,*
org,*)/a
org,*

org,b)/
org,b)/*
org,b,*)/
org,b,*
org,*)/
org,*
`,
    );
  });

  it("writes JSON Lines", async () => {
    const { stdout } = await runCli(["surt", "--json", "--keys"], { stdin: "http://a.b/" });
    expect(JSON.parse(stdout)).toMatchObject({
      uri: "http://a.b/",
      surt: "b,a)/",
      keys: expect.arrayContaining([{ key: "b,a)/", distance: 0 }]),
    });
  });

  it("refuses a line that is too long to be one", async () => {
    const result = await runCli(["surt"], { stdin: `x\n${"a".repeat(10_000_000)}` });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("stdin:2:") });
    expect(result.stderr).toContain("[MM_LIMIT]");
  });
});
