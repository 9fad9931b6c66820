import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { EXAMPLE_MAP } from "../support/serving.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { until } from "../support/until.ts";

function mapFile(text: string = EXAMPLE_MAP): string {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, text);
  return path;
}

describe("serve", () => {
  it("says where it listens, logs in JSON, and ends with 0 when told to stop", async () => {
    const log = join(scratchDir(), "access.log");
    const { child, done } = spawnCli(["serve", mapFile(), "--port", "0", "--access-log", log]);
    const url = await new Promise<string>((resolve) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${url}/.well-known/mementomap`)).text()).toBe(EXAMPLE_MAP);
    child.kill("SIGTERM");
    const { code, stderr } = await done;
    expect(code).toBe(0);
    const entries = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string });
    expect(readFileSync(log, "utf8")).toContain('"GET /.well-known/mementomap HTTP/1.1" 200');
    expect(entries.map(({ msg }) => msg)).toContain("stopping");
  });

  it.skipIf(process.platform === "win32")("looks at its files when it is told to", async () => {
    const path = mapFile();
    const { child, done } = spawnCli(["serve", path, "--port", "0", "--reload", "3600"]);
    const url = await new Promise<string>((resolve) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    });
    const served = async (): Promise<string> =>
      (await fetch(`${url}/.well-known/mementomap`)).text();
    const newer = `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`;
    writeFileSync(`${path}.new`, newer);
    renameSync(`${path}.new`, path);
    expect(await served()).toBe(EXAMPLE_MAP);
    child.kill("SIGHUP");
    await expect.poll(served).toBe(newer);
    child.kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });

  it("loses no request while its map is replaced again and again", async () => {
    const path = mapFile();
    const { child, done } = spawnCli(["serve", path, "--port", "0", "--reload", "0.05"]);
    const url = await new Promise<string>((resolve) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    });
    const seen = new Set<string>();
    const faults: string[] = [];
    let isOver = false;
    const ask = async (): Promise<void> => {
      const response = await fetch(`${url}/.well-known/mementomap`);
      const text = await response.text();
      // Never a part of one map and a part of another.
      const [, version] = /\nuk,co,bbc\)\/images\/\* ([\d+/-]+)\n$/.exec(text) ?? [];
      if (response.status !== 200 || version === undefined) faults.push(text);
      else seen.add(version);
    };
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) await ask().catch((error: unknown) => faults.push(String(error)));
    });
    for (let version = 1; version <= 12; version += 1) {
      writeFileSync(`${path}.new`, EXAMPLE_MAP.replace("300+/20-", "1".repeat(version)));
      renameSync(`${path}.new`, path);
      await until(() => seen.has("1".repeat(version)));
    }
    isOver = true;
    await Promise.all(clients);
    child.kill("SIGTERM");
    expect(faults).toEqual([]);
    expect((await done).code).toBe(0);
  });

  it.each<[string, string[], RegExp]>([
    ["no map", [], /needs a map/],
    ["standard input", ["-"], /must be a file/],
    ["a map that is missing", ["none.ukvs"], /no such file/],
    ["two maps of one name", ["a=x.ukvs", "a=y.ukvs"], /two maps are named "a"/],
    ["a port that is none", ["x.ukvs", "--port", "99999"], /not a port/],
    ["a base that is none", ["x.ukvs", "--base", "archive"], /not a web address/],
  ])("refuses %s", async (_name, args, message) => {
    const result = await runCli(["serve", ...args]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(message);
  });

  it("refuses a map that is not sound, and a port that is taken", async () => {
    const unsorted = await runCli(["serve", mapFile(`${EXAMPLE_MAP}com,a)/ 1\n`), "--port", "0"]);
    expect(unsorted.stderr).toContain("[MM_NOT_SORTED]");
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const taken = await runCli(["serve", mapFile(), "--port", String(port)]);
    expect(taken).toMatchObject({ code: 2 });
    expect(taken.stderr).toContain("the port is in use by another process");
  });

  it("refuses an address that is not of this machine", async () => {
    const result = await runCli(["serve", mapFile(), "--port", "0", "--host", "192.0.2.1"]);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain("192.0.2.1:0: this machine has no such address");
  });

  it("can be stopped before it is asked anything", async () => {
    const interrupt = new Interrupt();
    const stdout = new PassThrough();
    const argv = ["serve", mapFile(), "--port", "0", "--json", "-q"];
    const running = runCli(argv, { interrupt, stdout });
    const [line] = (await once(stdout, "data")) as [Buffer];
    interrupt.trigger("test");
    expect((await running).code).toBe(0);
    expect(JSON.parse(line.toString())).toMatchObject({
      url: expect.stringMatching(/^http/) as string,
    });
  });
});
