import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { runCli, testIo } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { main } from "../../src/cli/main.ts";

describe("main", () => {
  it("shows the version", async () => {
    const { code, stdout, stderr } = await runCli(["--version"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(await runCli(["-V"])).toMatchObject({ stdout });
  });

  it("lists the commands on request, within 80 columns", async () => {
    const { code, stdout, stderr } = await runCli(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\n {4}lookup +Look up whether/);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("shows usage on stderr and fails when called bare", async () => {
    const { stdout } = await runCli(["--help"]);
    expect(await runCli([])).toEqual({ code: 2, stdout: "", stderr: stdout });
  });

  it.each([["--help"], ["-h"]])("shows the help of a command on %s", async (flag) => {
    const { code, stdout, stderr } = await runCli(["surt", "x", flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("mementomap surt [OPTIONS] [URI...]");
  });

  it.each([["help"], ["--help"], ["-h"]])("shows the same on %s COMMAND", async (word) => {
    const { stdout } = await runCli(["surt", "--help"]);
    expect(await runCli([word, "surt"])).toEqual({ code: 0, stdout, stderr: "" });
    const list = await runCli(["--help"]);
    expect(await runCli([word])).toEqual(list);
    expect(await runCli([word, "srt"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("names the nearest option where a command is missing", async () => {
    const { code, stderr } = await runCli(["--versoin"]);
    expect(code).toBe(2);
    expect(stderr).toContain('unknown option "--versoin"; did you mean "--version"?');
    expect((await runCli(["-o", "x"])).stderr).toContain("options of a command follow its name");
  });

  it("takes what follows -- as it is", async () => {
    expect(await runCli(["surt", "--", "--help"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("names the nearest command", async () => {
    expect(await runCli(["lokup"])).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'mementomap: unknown command "lokup"; did you mean "lookup"? (see mementomap --help) [MM_USAGE]\n',
    });
  });

  it("writes errors as JSON when asked to", async () => {
    const { code, stdout, stderr } = await runCli([
      "lookup",
      "none.ukvs",
      "http://a.com/",
      "--json",
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "MM_IO",
        message: "no such file or folder; check the path",
        source: "none.ukvs",
      },
    });
  });

  it("shows the stack of an error nobody foresaw", async () => {
    const { io, written } = testIo();
    const broken = {
      ...io,
      stdout: new Writable({
        write(_chunk, _encoding, done) {
          done(new TypeError("a bug"));
        },
      }).on("error", () => undefined),
    };
    expect(await main(["--version"], broken)).toBe(2);
    expect(written.stderr()).toMatch(/please report it:\nTypeError: a bug\n {4}at /);
  });

  it("ends quietly when nobody reads any more", async () => {
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      },
    }).on("error", () => undefined);
    expect(await runCli(["sample"], { stdout })).toMatchObject({ code: 0, stderr: "" });
  });

  it("lets go when interrupted, and leaves nothing behind", async () => {
    const folder = scratchDir();
    const interrupt = new Interrupt();
    const running = runCli(["sample", "--lines", "1000000", "-o", join(folder, "x.cdxj")], {
      interrupt,
    });
    while (readdirSync(folder).length === 0) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    interrupt.trigger("SIGINT");
    expect(await running).toEqual({
      code: 130,
      stdout: "",
      stderr: "mementomap: stopped by SIGINT [MM_INTERRUPTED]\n",
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
