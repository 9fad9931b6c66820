import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { EXAMPLE_MAP, serving } from "../support/serving.ts";

describe("fetch", () => {
  it("brings a map, and says so only once", async () => {
    const { url } = await serving(
      EXAMPLE_MAP.replace("https://archive.example.org/", "http://127.0.0.1/"),
    );
    const target = join(scratchDir(), "map.ukvs");
    const first = await runCli(["fetch", url, "-o", target]);
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toMatch(/^.*warning.*\nfetched 323 B from .* \(well-known\), fresh for/s);
    const second = await runCli(["fetch", url, "-o", target]);
    expect(second.stderr).toMatch(/^unchanged: /);
  });

  it("writes to standard output, and tells programs in JSON", async () => {
    const { url } = await serving();
    const result = await runCli(["fetch", `${url}/.well-known/mementomap`, "--direct", "--json"]);
    expect(result).toMatchObject({ code: 0, stdout: EXAMPLE_MAP });
    const lines = result.stderr.trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ status: "fetched", method: "direct" });
  });

  it("shows no password of an address", async () => {
    const { url } = await serving();
    const address = url.replace("http://", "http://me:s3cret@");
    const results = [
      await runCli(["fetch", `${address}/.well-known/mementomap`, "--direct"]),
      await runCli(["fetch", `${address}/.well-known/mementomap`, "--direct", "--json"]),
      await runCli(["fetch", `${address}/nothing`, "--direct"]),
      await runCli(["fetch", "--find", address]),
    ];
    expect(results.map(({ code }) => code)).toEqual([0, 0, 2, 0]);
    for (const { stdout, stderr } of results) expect(stdout + stderr).not.toContain("s3cret");
  });

  it("looks up without downloading", async () => {
    const { url } = await serving();
    const present = await runCli(["fetch", url, "--lookup", "http://arxiv.org/abs/1"]);
    expect(present).toMatchObject({
      code: 0,
      stdout: "http://arxiv.org/abs/1\tpresent\torg,arxiv)/*\t2500~/900\t3\n",
    });
    expect(present.stderr).toMatch(/^1 request for the map, /);
    const absent = await runCli(["fetch", url, "--lookup", "http://example.net/", "-q"]);
    expect(absent).toEqual({
      code: 1,
      stdout: "http://example.net/\tabsent\t-\t-\t-\n",
      stderr: "",
    });
  });

  it("says where a map is, and ends with 1 where there is none", async () => {
    const { url } = await serving();
    expect(await runCli(["fetch", "--find", url])).toEqual({
      code: 0,
      stdout: `${url}/.well-known/mementomap\twell-known\n`,
      stderr: "",
    });
    const nothing = await scriptedServer((_request, response) => void response.end("hello"));
    const result = await runCli(["fetch", nothing.url]);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("[MM_NOT_FOUND]");
  });

  it("ends with 2 when the map is refused, and keeps the old one", async () => {
    const { url } = await scriptedServer((_request, response) => {
      response.end(`${EXAMPLE_MAP}com,a)/ 1\n`);
    });
    const target = join(scratchDir(), "map.ukvs");
    writeFileSync(target, EXAMPLE_MAP);
    const result = await runCli(["fetch", url, "-o", target]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("[MM_REFUSED]");
    expect(readFileSync(target, "utf8")).toBe(EXAMPLE_MAP);
    expect(await runCli(["fetch", "archive.example.org"])).toMatchObject({ code: 2 });
    expect(await runCli(["fetch"])).toMatchObject({ code: 2 });
  });
});
