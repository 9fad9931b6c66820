import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchMap } from "../../src/publish/fetch/fetch-map.ts";
import { FreshMap } from "../../src/publish/fetch/fresh-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { type ScriptedServer, scriptedServer } from "../support/scripted-server.ts";

const MAP = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 1\n';

/** A server that sends half a map, and the rest when it is told to. */
async function slowServer(): Promise<
  ScriptedServer & { readonly half: Promise<void>; readonly finish: () => void }
> {
  const waiting: ServerResponse[] = [];
  let reached: () => void = () => undefined;
  const half = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const server = await scriptedServer((_request, response) => {
    response.writeHead(200, { ETag: '"one"', "Content-Length": MAP.length });
    response.write(MAP.slice(0, 20), () => {
      waiting.push(response);
      reached();
    });
  });
  const finish = (): void => {
    for (const response of waiting.splice(0)) response.end(MAP.slice(20));
  };
  return { ...server, half, finish };
}

describe("a file that fetch cannot write", () => {
  // Root may write everywhere.
  const hasRights = process.getuid?.() === 0 || process.platform === "win32";

  it.each<[string, string, RegExp]>([
    ["in a folder that does not exist", "none/map.ukvs", /the folder .*none does not exist/],
    ["below a file", "file/map.ukvs", /not a folder/],
    ["that is a folder", "folder", /is a directory/],
    ["with a name that is too long", "x".repeat(256), /too long/],
    ["in a folder without rights", "locked/map.ukvs", /permission denied/],
  ])("is found out before the server is asked: %s", async (_name, path, message) => {
    if (hasRights && path.startsWith("locked")) return;
    const folder = scratchDir();
    writeFileSync(join(folder, "file"), MAP);
    for (const name of ["folder", "locked"]) mkdirSync(join(folder, name));
    chmodSync(join(folder, "locked"), 0o555);
    const before = readdirSync(folder, { recursive: true });
    const { url, requests } = await scriptedServer((_request, response) => response.end(MAP));
    const target = join(folder, path);
    await expect(fetchMap(url, target, { isDirect: true })).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringMatching(message) as string,
      position: { source: target },
    });
    const { code, stderr } = await runCli(["fetch", "--direct", url, "-o", target]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    expect(requests).toEqual([]);
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });
});

describe("two that fetch into one file at once", () => {
  it("do not mix: the second is refused, and asks nobody", async () => {
    const folder = scratchDir();
    const target = join(folder, "map.ukvs");
    const { url, requests, half, finish } = await slowServer();
    const first = fetchMap(url, target, { isDirect: true });
    await half;
    const { code, stderr } = await runCli(["fetch", "--direct", url, "-o", target]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/another run is using it; wait for it to finish.*\[MM_IO\]/),
    });
    expect(requests).toHaveLength(1);
    finish();
    expect(await first).toMatchObject({ status: "fetched" });
    expect(readFileSync(target, "utf8")).toBe(MAP);
    expect(readdirSync(folder).sort()).toEqual([".map.ukvs.fetch.json", "map.ukvs"]);
  });

  it("go on where they have two names", async () => {
    const folder = scratchDir();
    const { url } = await scriptedServer((_request, response) => response.end(MAP));
    const targets = ["map.ukvs", "map.ukvs.old", "map"].map((name) => join(folder, name));
    await Promise.all(targets.map((target) => fetchMap(url, target, { isDirect: true })));
    for (const target of targets) expect(readFileSync(target, "utf8")).toBe(MAP);
  });

  it("are one after the other where a list names another address for a map", async () => {
    const target = join(scratchDir(), "map.ukvs");
    const old = await slowServer();
    const fresh = new FreshMap(old.url, target, { isDirect: true });
    const started = fresh.start();
    await old.half;
    await fresh.stop();
    expect(await started).toBeUndefined();
    const { url } = await scriptedServer((_request, response) => response.end(MAP));
    expect(await fetchMap(url, target, { isDirect: true })).toMatchObject({ status: "fetched" });
  });
});
