import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchMap } from "../../../src/publish/fetch/fetch-map.ts";
import { FreshMap } from "../../../src/publish/fetch/fresh-map.ts";
import { partPaths } from "../../../src/publish/fetch/download.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { unsized } from "../../support/sized-map.ts";
import { type ScriptedServer, scriptedServer } from "../../support/scripted-server.ts";
import { tlsServer } from "../../support/tls-archive.ts";
import { copiesReady, EXAMPLE_MAP, serving } from "../../support/serving.ts";
import { until } from "../../support/until.ts";

const NEWER = `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`;
const DIRECT = { retryDelayMs: 1, isDirect: true } as const;

const targetFile = (): string => join(scratchDir(), "map.ukvs");
const textOf = (path: string): string => readFileSync(path, "utf8");

/** Serves the parts of a map that are asked for; cuts answers once the client has stored so many bytes of each. */
async function cuttingServer(target: string, cuts: number[]): Promise<ScriptedServer> {
  const body = Buffer.from(EXAMPLE_MAP);
  return scriptedServer((request, response) => {
    const from = Number(/bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const range = { "Content-Range": `bytes ${from}-${body.length - 1}/${body.length}` };
    response.writeHead(from > 0 ? 206 : 200, {
      ETag: '"1"',
      "Content-Length": body.length - from,
      ...(from > 0 ? range : {}),
    });
    const length = cuts.shift();
    if (length === undefined) {
      response.end(body.subarray(from));
      return;
    }
    const { part } = partPaths(target);
    const isStored = (): boolean => existsSync(part) && statSync(part).size === from + length;
    response.write(body.subarray(from, from + length));
    void until(isStored).then(() => response.destroy());
  });
}

/** A server that sends half a map, and the rest when it is told to. */
async function slowServer(): Promise<
  ScriptedServer & { readonly half: Promise<void>; readonly finish: () => void }
> {
  const waiting: ServerResponse[] = [];
  let reached: () => void = () => undefined;
  const half = new Promise<void>((resolve) => (reached = resolve));
  const server = await scriptedServer((_request, response) => {
    response.writeHead(200, { ETag: '"one"', "Content-Length": EXAMPLE_MAP.length });
    response.write(EXAMPLE_MAP.slice(0, 20), () => reached());
    waiting.push(response);
  });
  const finish = (): void => {
    for (const response of waiting.splice(0)) response.end(EXAMPLE_MAP.slice(20));
  };
  return { ...server, half, finish };
}

describe("fetchMap", () => {
  it("brings the map of an archive into a file, compressed on the way", async () => {
    const served = await serving();
    await copiesReady(served);
    const target = targetFile();
    const result = await fetchMap(served.url, target);
    expect(result).toMatchObject({
      status: "fetched",
      url: `${served.url}/.well-known/mementomap`,
      method: "well-known",
      bytes: EXAMPLE_MAP.length,
      pages: 1,
    });
    expect(result.warnings).toEqual([
      `the map names another archive (!id is https://archive.example.org/) than ${served.url}/`,
    ]);
    expect(result.freshForMs).toBeGreaterThan(3_500_000);
    expect(textOf(target)).toBe(EXAMPLE_MAP);
  });

  it("asks next time whether it changed, and fetches it only then", async () => {
    const served = await serving();
    const folder = scratchDir();
    const target = join(folder, "map.ukvs");
    await fetchMap(served.url, target);
    expect(await fetchMap(served.url, target)).toMatchObject({ status: "unchanged", pages: 1 });
    writeFileSync(served.path, NEWER);
    await served.publisher.reload();
    expect(await fetchMap(served.url, target)).toMatchObject({ status: "fetched" });
    expect(textOf(target)).toBe(NEWER);
    expect(readdirSync(folder).sort((a, b) => (a < b ? -1 : 1))).toEqual([
      ".map.ukvs.fetch.json",
      "map.ukvs",
    ]);
  });

  it("fetches it again when the file was changed or removed by others", async () => {
    const { url } = await serving();
    const target = targetFile();
    await fetchMap(url, target);
    writeFileSync(target, "something else");
    expect(await fetchMap(url, target)).toMatchObject({ status: "fetched" });
    expect(await fetchMap(url, target, { isForced: true })).toMatchObject({ status: "fetched" });
    expect(textOf(target)).toBe(EXAMPLE_MAP);
  });

  it("puts the pages of a map together", async () => {
    const { url } = await serving(EXAMPLE_MAP, { pageRecords: 2 });
    const target = targetFile();
    const page = `${url}/.well-known/mementomap?page=1`;
    const result = await fetchMap(page, target, DIRECT);
    expect(result).toMatchObject({ status: "fetched", pages: 3, method: "direct" });
    expect(unsized(textOf(target))).toBe(EXAMPLE_MAP);
    expect(await fetchMap(page, target, DIRECT)).toMatchObject({
      status: "unchanged",
      pages: 3,
    });
  });

  it("goes on where a download was cut", async () => {
    const target = targetFile();
    const { url, requests } = await cuttingServer(target, [50, 50, 50]);
    await fetchMap(url, target, DIRECT);
    expect(textOf(target)).toBe(EXAMPLE_MAP);
    expect(requests.map(({ headers }) => [headers.range, headers["if-range"]])).toEqual([
      [undefined, undefined],
      ["bytes=50-", '"1"'],
      ["bytes=100-", '"1"'],
      ["bytes=150-", '"1"'],
    ]);
  });

  it("goes on in the next run, when a run gave up", async () => {
    const target = targetFile();
    const { url, requests } = await cuttingServer(target, [60]);
    const first = fetchMap(url, target, { ...DIRECT, retries: 0 });
    await expect(first).rejects.toMatchObject({ code: "MM_HTTP" });
    expect(existsSync(target)).toBe(false);
    await fetchMap(url, target, DIRECT);
    expect(requests.at(-1)?.headers.range).toBe("bytes=60-");
    expect(textOf(target)).toBe(EXAMPLE_MAP);
  });

  it.each([
    ["429 and seconds", 429, () => "1"],
    ["503 and a date", 503, () => new Date(Date.now() + 2000).toUTCString()],
  ])("asks a busy server when it wants to be asked: %s", async (_what, status, retryAfter) => {
    const times: number[] = [];
    const { url } = await scriptedServer((_request, response) => {
      times.push(performance.now());
      if (times.length > 1) response.end(EXAMPLE_MAP);
      else response.writeHead(status, { "Retry-After": retryAfter() }).end();
    });
    const target = targetFile();
    await fetchMap(url, target, DIRECT);
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });

  it("gives up at once where a server asks for a long delay, and says so", async () => {
    const { url, requests } = await scriptedServer((_request, response) => {
      response.writeHead(503, { "Retry-After": "7200" }).end();
    });
    const told: number[] = [];
    const target = targetFile();
    const options = { ...DIRECT, onToldToWait: (ms: number) => told.push(ms) };
    await expect(fetchMap(url, target, options)).rejects.toThrow(
      "status 503 (Retry-After: 7200 s)",
    );
    expect(requests).toHaveLength(1);
    expect(told).toEqual([7_200_000]);
    const fresh = new FreshMap(url, target, { isDirect: true, random: () => 0 });
    onTestFinished(() => fresh.stop());
    expect(await fresh.start()).toBeUndefined();
    expect(fresh.nextInMs).toBe(7_200_000);
  });

  it("does not try again where the connection is not to be trusted", async () => {
    const { cert, key } = certificateAuthority("Unknown").issue(["localhost"]);
    const { url } = await tlsServer({ cert, key }, (_request, response) => response.end("x"));
    const startedAt = performance.now();
    // With pauses of 10 s, so that a second try would be seen.
    const options = { retryDelayMs: 20_000, isDirect: true };
    await expect(fetchMap(url, targetFile(), options)).rejects.toThrow(
      "the server's certificate is not signed by a trusted authority",
    );
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it("starts again when the map changed in between", async () => {
    let turn = 0;
    const { url } = await scriptedServer((_request, response) => {
      turn += 1;
      const body = turn === 1 ? EXAMPLE_MAP : NEWER;
      response.writeHead(200, { ETag: `"${turn}"`, "Content-Length": body.length });
      if (turn === 1) response.write(body.slice(0, 80), () => response.destroy());
      else response.end(body);
    });
    const target = targetFile();
    await fetchMap(url, target, DIRECT);
    expect(textOf(target)).toBe(NEWER);
  });

  it("takes a map that is stored compressed, and writes one compressed if asked to", async () => {
    const { url } = await scriptedServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "application/gzip" }).end(gzipSync(EXAMPLE_MAP));
    });
    const folder = scratchDir();
    await fetchMap(url, join(folder, "a.ukvs"), DIRECT);
    await fetchMap(url, join(folder, "b.ukvs.gz"), DIRECT);
    expect(readFileSync(join(folder, "a.ukvs"), "utf8")).toBe(EXAMPLE_MAP);
    expect(readFileSync(join(folder, "b.ukvs.gz")).subarray(0, 2)).toEqual(
      Buffer.from([0x1f, 0x8b]),
    );
  });
});

describe("FreshMap", () => {
  it("asks again when the archive says so, and less often after failures", async () => {
    let isBroken = false;
    const { url } = await scriptedServer((_request, response) => {
      if (isBroken) response.writeHead(500).end();
      else
        response.writeHead(200, { "Cache-Control": "max-age=600", ETag: '"1"' }).end(EXAMPLE_MAP);
    });
    const target = targetFile();
    const seen: string[] = [];
    const fresh = new FreshMap(url, target, {
      ...DIRECT,
      retries: 0,
      random: () => 0,
      onFetched: ({ status }) => seen.push(status),
      onFailure: ({ code }) => seen.push(code),
    });
    await fresh.start();
    expect(fresh.nextInMs).toBeGreaterThan(595_000);
    expect(fresh.nextInMs).toBeLessThanOrEqual(600_000);
    isBroken = true;
    const pauses = [];
    for (let i = 0; i < 3; i += 1) {
      await fresh.refresh();
      pauses.push(fresh.nextInMs);
    }
    expect(pauses).toEqual([60_000, 120_000, 240_000]);
    expect(seen).toEqual(["fetched", "MM_HTTP", "MM_HTTP", "MM_HTTP"]);
    expect(textOf(target)).toBe(EXAMPLE_MAP);
    await fresh.stop();
  });

  it("keeps to its own bounds, whatever the archive says", async () => {
    const pauses: (number | undefined)[] = [];
    for (const maxAge of [0, 10 ** 9]) {
      const { url } = await scriptedServer((_request, response) => {
        response.writeHead(200, { "Cache-Control": `max-age=${maxAge}` }).end(EXAMPLE_MAP);
      });
      const fresh = new FreshMap(url, targetFile(), {
        isDirect: true,
        random: () => 1,
        minIntervalMs: 1000,
        maxIntervalMs: 50_000,
      });
      await fresh.start();
      pauses.push(fresh.nextInMs);
      await fresh.stop();
    }
    expect(pauses).toEqual([1100, 55_000]);
  });
});

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
    writeFileSync(join(folder, "file"), EXAMPLE_MAP);
    for (const name of ["folder", "locked"]) mkdirSync(join(folder, name));
    chmodSync(join(folder, "locked"), 0o555);
    const before = readdirSync(folder, { recursive: true });
    const { url, requests } = await scriptedServer((_request, response) =>
      response.end(EXAMPLE_MAP),
    );
    const target = join(folder, path);
    await expect(fetchMap(url, target, DIRECT)).rejects.toMatchObject({
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
    const first = fetchMap(url, target, DIRECT);
    await half;
    const { code, stderr } = await runCli(["fetch", "--direct", url, "-o", target]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/in use by another run; wait for it to finish.*\[MM_IO\]/),
    });
    expect(requests).toHaveLength(1);
    finish();
    expect(await first).toMatchObject({ status: "fetched" });
    expect(textOf(target)).toBe(EXAMPLE_MAP);
    expect(readdirSync(folder).sort()).toEqual([".map.ukvs.fetch.json", "map.ukvs"]);
  });

  it("go on where they have two names", async () => {
    const folder = scratchDir();
    const { url } = await scriptedServer((_request, response) => response.end(EXAMPLE_MAP));
    const targets = ["map.ukvs", "map.ukvs.old", "map"].map((name) => join(folder, name));
    await Promise.all(targets.map((target) => fetchMap(url, target, DIRECT)));
    for (const target of targets) expect(textOf(target)).toBe(EXAMPLE_MAP);
  });

  it("are one after the other where a list names another address for a map", async () => {
    const target = targetFile();
    const old = await slowServer();
    const fresh = new FreshMap(old.url, target, DIRECT);
    const started = fresh.start();
    await old.half;
    await fresh.stop();
    expect(await started).toBeUndefined();
    const { url } = await scriptedServer((_request, response) => response.end(EXAMPLE_MAP));
    expect(await fetchMap(url, target, DIRECT)).toMatchObject({ status: "fetched" });
  });
});
