import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CdxQuery } from "../../src/harvest/cdx-request.ts";
import type { HarvestOptions } from "../../src/harvest/harvest-index.ts";
import { harvestIndex } from "../../src/harvest/harvest-index.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const LINES = Array.from(
  { length: 25 },
  (_, i) => `com,a)/${i} 20140101000000 http://a.com/${i} text/html 200 X 1`,
);
const ALL = LINES.map((line) => `${line}\n`).join("");
const QUERY: CdxQuery = { url: "a.com", match: "domain", from: "2010" };
const FAST: HarvestOptions = {
  intervalMs: 0,
  backOff: { retries: 3, firstMs: 1, longestMs: 50 },
};

/** A server in the manner of the Internet Archive's. */
function resuming(url: URL): string {
  if (url.searchParams.has("showNumPages")) return "1\n";
  const start = Number(
    /^com,a\)\/ (\d+)!$/.exec(url.searchParams.get("resumeKey") ?? "")?.[1] ?? 0,
  );
  const end = start + Number(url.searchParams.get("limit"));
  const lines = LINES.slice(start, end).map((line) => `${line}\n`);
  const more = end < LINES.length ? `\ncom%2Ca%29%2F+${end}%21\n` : "";
  return lines.join("") + more;
}

/** A server in the manner of pywb's on a ZipNum index. */
function paged(url: URL): string {
  if (url.searchParams.has("showNumPages")) return '{"pages": 3, "pageSize": 5, "blocks": 13}\n';
  const page = Number(url.searchParams.get("page"));
  return LINES.slice(page * 10, page * 10 + 10)
    .map((line) => `${line}\n`)
    .join("");
}

describe("harvestIndex", () => {
  it.each([
    ["resume keys", resuming, 10],
    ["pages", paged, 6],
    ["one stream", () => ALL, 2],
  ])("gets everything from a server with %s", async (_name, answer, requests) => {
    const asked: URL[] = [];
    const api = await serveOnLoopback((url, response) => {
      asked.push(url);
      response.end(answer(url));
    });
    const target = join(scratchDir(), "index.cdx");
    const options = { ...FAST, linesPerPage: 3 };
    const summary = await harvestIndex(`${api}/cdx?x=1`, [QUERY], target, options);
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(summary).toMatchObject({ lines: 25, bytes: ALL.length, resumedLines: 0 });
    expect(summary.requests).toBe(requests);
    expect(asked).toHaveLength(requests);
    for (const { pathname, searchParams } of asked) {
      expect(pathname).toBe("/cdx");
      expect(searchParams.get("x")).toBe("1");
    }
    // The first request names a page that nobody holds.
    for (const { searchParams } of asked.slice(1)) {
      expect(searchParams.get("url")).toBe("a.com");
      expect(searchParams.get("matchType")).toBe("domain");
      expect(searchParams.get("from")).toBe("2010");
    }
    expect(readdirSync(join(target, ".."))).toEqual(["index.cdx"]);
  });

  it("tries again when the server is busy or breaks off", async () => {
    let turn = 0;
    const retries: string[] = [];
    const api = await serveOnLoopback((url, response) => {
      turn++;
      if (turn === 2) {
        response.writeHead(429, { "retry-after": "0" }).end();
      } else if (turn === 4) {
        response.writeHead(503).end();
      } else if (turn === 5) {
        response.write(LINES[0], () => response.destroy());
      } else {
        response.end(resuming(url));
      }
    });
    const target = join(scratchDir(), "index.cdx");
    const onRetry = (reason: string): void => void retries.push(reason);
    await harvestIndex(api, [QUERY], target, { ...FAST, linesPerPage: 10, onRetry });
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(retries).toEqual([
      "the server answered 429 Too Many Requests",
      "the server answered 503 Service Unavailable",
      "the connection was cut before the end",
    ]);
  });

  it("tries again when the server falls silent", async () => {
    const retries: string[] = [];
    const silent = new Set([0, 3]);
    let turn = 0;
    const api = await serveOnLoopback((url, response) => {
      // Whether it begins an answer or not, a silent server is left after a while.
      if (!silent.has(turn++)) response.end(resuming(url));
      else if (turn > 1) response.write(LINES[0]);
    });
    const target = join(scratchDir(), "index.cdx");
    await harvestIndex(api, [QUERY], target, {
      ...FAST,
      linesPerPage: 10,
      timeoutMs: 300,
      backOff: { retries: 100, firstMs: 1, longestMs: 1 },
      onRetry: (reason) => void retries.push(reason),
    });
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(retries).toContain("no answer within 0.3 s");
    expect(retries).toContain("nothing was sent for 0.3 s");
  });

  it("goes on behind the last whole page when it is begun again", async () => {
    let pagesLeft = 3;
    const asked: (string | null)[] = [];
    const api = await serveOnLoopback((url, response) => {
      if (!url.searchParams.has("showNumPages")) {
        asked.push(url.searchParams.get("resumeKey"));
        if (pagesLeft-- === 0) {
          response.writeHead(403).end();
          return;
        }
      }
      response.end(resuming(url));
    });
    const target = join(scratchDir(), "index.cdx");
    const options = { ...FAST, linesPerPage: 4 };
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toMatchObject({
      code: "MM_HTTP",
      message: expect.stringMatching(/403/) as string,
    });
    expect(existsSync(target)).toBe(false);
    // What was being written when a process was killed does not count.
    writeFileSync(`${target}.part`, `${readFileSync(`${target}.part`, "utf8")}half a li`);
    pagesLeft = 100;
    const summary = await harvestIndex(api, [QUERY], target, options);
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(summary).toMatchObject({ lines: 25, resumedLines: 12 });
    expect(asked.filter((key) => key === null)).toHaveLength(1);
  });

  it("takes no captures for no error, as some servers do not", async () => {
    const api = await serveOnLoopback((url, response) => {
      response.writeHead(url.searchParams.get("url") === "a.com" ? 200 : 404);
      const none = '{"message": "No Captures found for: b.com"}';
      response.end(url.searchParams.get("url") === "a.com" ? ALL : none);
    });
    const target = join(scratchDir(), "index.cdx");
    const summary = await harvestIndex(api, [{ url: "b.com" }, QUERY], target, FAST);
    expect(summary.lines).toBe(25);
    expect(readFileSync(target, "utf8")).toBe(ALL);
  });

  it("asks for several URLs one after the other", async () => {
    const api = await serveOnLoopback((url, response) => {
      const asked = url.searchParams.get("url") ?? "";
      response.end(`com,${asked})/ 20140101000000 http://${asked}.com/ text/html 200 X 1`);
    });
    const target = join(scratchDir(), "index.cdx");
    await harvestIndex(api, [{ url: "a" }, { url: "b" }], target, FAST);
    expect(
      readFileSync(target, "utf8")
        .split("\n")
        .map((line) => line.slice(0, 6)),
    ).toEqual(["com,a)", "com,b)", ""]);
  });

  it("refuses answers that are not an index, and states of other harvests", async () => {
    const api = await serveOnLoopback((_url, response) => {
      response.end("<html>please log in</html>\n");
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
    });
    writeFileSync(`${target}.part.json`, '{"harvest": "other"}');
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/of another harvest/) as string,
    });
  });

  it.each([
    ["is gone", undefined, /is gone, which has the beginning; /],
    ["is shorter than it was", LINES[0].slice(0, 20), /has only 20 of \d+ bytes; /],
  ])("does not go on where the part fetched before %s", async (_what, content, message) => {
    let turn = 0;
    const api = await serveOnLoopback((url, response) => {
      if (++turn > 3) response.writeHead(403);
      response.end(resuming(url));
    });
    const target = join(scratchDir(), "index.cdx");
    const options = { ...FAST, linesPerPage: 4 };
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toThrow("403");
    if (content === undefined) rmSync(`${target}.part`);
    else writeFileSync(`${target}.part`, content);
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(message) as string,
    });
  });

  it("says why the server does not answer, and leaves nothing behind if it never did", async () => {
    const api = await serveOnLoopback((_url, response) => {
      response.writeHead(400).end("from= works for exact matches only\n");
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toThrow(
      'the server answered 400 Bad Request: "from= works for exact matches only"',
    );
    expect(readdirSync(join(target, ".."))).toEqual([]);
  });

  it("gives up where the server asks for more patience than it has", async () => {
    const api = await serveOnLoopback((_url, response) => {
      response.writeHead(429, { "retry-after": "7200" }).end();
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toThrow(
      "the server answered 429 Too Many Requests, and asks to wait 120 minutes",
    );
  });

  it("takes an answer for cut off that ends within a line, where nothing says that it is whole", async () => {
    let turn = 0;
    const server = createTcpServer((socket) => {
      socket.once("data", () => {
        turn++;
        const body = turn === 2 ? ALL.slice(0, 200) : turn === 1 ? `${LINES[0]}\n` : ALL;
        socket.end(`HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n${body}`);
      });
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const target = join(scratchDir(), "index.cdx");
    const retries: string[] = [];
    const onRetry = (reason: string): void => void retries.push(reason);
    await harvestIndex(api, [QUERY], target, { ...FAST, onRetry });
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(retries).toEqual([expect.stringContaining("ends in the middle of a line")]);
  });

  it("goes on behind pages that hold nothing but a resume key", async () => {
    const pages = ["", `${LINES[0]}\n`, "", "", `${LINES[1]}\n`];
    const api = await serveOnLoopback((url, response) => {
      if (url.searchParams.has("showNumPages")) return void response.end("5\n");
      const page = Number(url.searchParams.get("resumeKey") ?? 0);
      response.end(pages[page] + (page + 1 < pages.length ? `\n${page + 1}\n` : ""));
    });
    const target = join(scratchDir(), "index.cdx");
    const summary = await harvestIndex(api, [QUERY], target, FAST);
    expect(readFileSync(target, "utf8")).toBe(`${LINES[0]}\n${LINES[1]}\n`);
    expect(summary).toMatchObject({ lines: 2, pages: 5 });
  });

  it("does not go round in circles with a server that repeats a resume key", async () => {
    const api = await serveOnLoopback((url, response) => {
      response.end(url.searchParams.has("showNumPages") ? "5\n" : `${LINES[0]}\n\nsame\n`);
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: 'the server returns the resume key "same" again, so the answer would never end',
    });
  });

  it("detects what an answer is from its first lines, not from its first bytes", async () => {
    const api = await serveOnLoopback((url, response) => {
      if (url.searchParams.has("showNumPages")) return void response.end(ALL);
      response.write("com,");
      setTimeout(() => response.end(ALL.slice(4)), 30);
    });
    const target = join(scratchDir(), "index.cdx");
    await harvestIndex(api, [QUERY], target, FAST);
    expect(readFileSync(target, "utf8")).toBe(ALL);
  });

  it("counts no blank lines behind a resume key", async () => {
    const api = await serveOnLoopback((url, response) => {
      if (url.searchParams.has("showNumPages")) return void response.end("2\n");
      const isFirst = !url.searchParams.has("resumeKey");
      response.end(isFirst ? `${LINES[0]}\r\n\r\nnext\r\n\r\n` : `${LINES[1]}\n`);
    });
    const target = join(scratchDir(), "index.cdx");
    expect(await harvestIndex(api, [QUERY], target, FAST)).toMatchObject({ lines: 2, pages: 2 });
    expect(readFileSync(target, "utf8")).toBe(`${LINES[0]}\r\n${LINES[1]}\n`);
  });

  it.each([
    ["resume keys", "2\n", [QUERY]],
    ["pages", '{"pages": 2}', [QUERY]],
    ["one stream, for several URLs", "", [QUERY, { url: "b.com" }]],
  ])("takes no array in JSON from a server with %s", async (_name, probe, queries) => {
    const api = await serveOnLoopback((url, response) => {
      const isProbe = url.searchParams.has("showNumPages");
      response.end(isProbe ? probe : '[["urlkey","timestamp"],\n["com,a)/","2014"]]\n');
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, queries, target, FAST)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(/leave output=json out/) as string,
    });
  });

  it("takes one array in JSON, however long its line", async () => {
    const rows = LINES.map((line) => JSON.stringify(line.padEnd(100_000)));
    const text = `[["original"],${rows.map((row) => `[${row}]`).join(",")}]\n`;
    const api = await serveOnLoopback((_url, response) => response.end(text));
    const target = join(scratchDir(), "index.json");
    await harvestIndex(api, [QUERY], target, { ...FAST, paging: "stream" });
    expect(readFileSync(target, "utf8")).toBe(text);
  });

  it("stops at a line without an end", async () => {
    const block = "x".repeat(1 << 16);
    const api = await serveOnLoopback((url, response) => {
      if (url.searchParams.has("showNumPages")) return void response.end(ALL);
      const more = (): void => {
        while (!response.destroyed && response.write(block));
        response.once("drain", more);
      };
      response.write(`${ALL}com,a)/ 20140101000000 `);
      more();
    });
    const target = join(scratchDir(), "index.cdx");
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toMatchObject({
      code: "MM_LIMIT",
      position: { line: 26 },
    });
  });

  it.each([
    "null",
    "7",
    "{",
    '{"harvest": HASH}',
    '{"harvest": HASH, "note": {"query": 0, "bytes": 9}, "digest": HASH}',
  ])("says that what is remembered is damaged: %s", async (text) => {
    let turn = 0;
    const api = await serveOnLoopback((url, response) => {
      if (++turn > 2) response.writeHead(403);
      response.end(resuming(url));
    });
    const target = join(scratchDir(), "index.cdx");
    const options = { ...FAST, linesPerPage: 4 };
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toThrow("403");
    const [hash = ""] = /"[0-9a-f]{64}"/.exec(readFileSync(`${target}.part.json`, "utf8")) ?? [];
    writeFileSync(`${target}.part.json`, text.replace("HASH", hash));
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/^is damaged; /) as string,
      position: { source: `${target}.part.json` },
    });
  });

  it("compresses when all is there, and goes on before that", async () => {
    let turn = 0;
    const api = await serveOnLoopback((url, response) => {
      if (++turn === 4) response.writeHead(403);
      response.end(resuming(url));
    });
    const target = join(scratchDir(), "index.cdx.gz");
    const options = { ...FAST, linesPerPage: 4 };
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toThrow("403");
    const summary = await harvestIndex(api, [QUERY], target, options);
    expect(summary).toMatchObject({ lines: 25, resumedLines: 8 });
    expect(gunzipSync(readFileSync(target)).toString()).toBe(ALL);
    expect(readdirSync(join(target, ".."))).toEqual(["index.cdx.gz"]);
  });

  it.skipIf(process.platform === "win32")("replaces what a link names, and no device", async () => {
    let asked = 0;
    const api = await serveOnLoopback((url, response) => {
      asked++;
      response.end(resuming(url));
    });
    const folder = scratchDir();
    const socket = join(folder, "socket");
    const listener = createTcpServer().listen(socket);
    onTestFinished(() => void listener.close());
    await once(listener, "listening");
    await expect(harvestIndex(api, [QUERY], socket, FAST)).rejects.toMatchObject({
      code: "MM_IO",
      message: "is not a plain file to continue; name a file",
    });
    expect(asked).toBe(0);
    writeFileSync(join(folder, "file"), "old");
    symlinkSync("file", join(folder, "link"));
    await harvestIndex(api, [QUERY], join(folder, "link"), FAST);
    expect(readFileSync(join(folder, "file"), "utf8")).toBe(ALL);
    expect(readlinkSync(join(folder, "link"))).toBe("file");
  });

  it("says what cannot be written, and at once where the file is a folder", async () => {
    let asked = 0;
    const api = await serveOnLoopback((url, response) => {
      asked++;
      response.end(resuming(url));
    });
    const folder = scratchDir();
    const isError = (source: string) => ({ code: "MM_IO", position: { source } });
    await expect(harvestIndex(api, [QUERY], folder, FAST)).rejects.toMatchObject(isError(folder));
    expect(asked).toBe(0);
    const target = join(folder, "index.cdx");
    mkdirSync(`${target}.part.json`);
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toMatchObject(
      isError(`${target}.part.json`),
    );
  });

  it("only makes the file where a run got everything and could not write it", async () => {
    const folder = scratchDir();
    const target = join(folder, "index.cdx");
    let asked = 0;
    const api = await serveOnLoopback((url, response) => {
      if (++asked === 2) mkdirSync(target);
      response.end(resuming(url));
    });
    await expect(harvestIndex(api, [QUERY], target, FAST)).rejects.toThrow("is a directory");
    rmdirSync(target);
    const summary = await harvestIndex(api, [QUERY], target, FAST);
    expect(summary).toMatchObject({ lines: 25, resumedLines: 25, requests: 0 });
    expect(asked).toBe(2);
    expect(readFileSync(target, "utf8")).toBe(ALL);
    expect(readdirSync(folder)).toEqual(["index.cdx"]);
  });

  it("refuses a second run of the same at once, and not the next", async () => {
    const folder = scratchDir();
    const target = join(folder, "index.cdx");
    let second: Promise<unknown> | undefined;
    const api = await serveOnLoopback((url, response) => {
      second ??= harvestIndex(api, [QUERY], target, FAST).catch((error: unknown) => error);
      void second.then(() => response.end(resuming(url)));
    });
    await harvestIndex(api, [QUERY], target, FAST);
    expect(await second).toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("another run is using it"),
    });
    expect(readFileSync(target, "utf8")).toBe(ALL);
    await harvestIndex(api, [QUERY], target, FAST);
    expect(readdirSync(folder)).toEqual(["index.cdx"]);
  });

  it("waits between requests, and stops when told to", async () => {
    const times: number[] = [];
    const controller = new AbortController();
    const api = await serveOnLoopback((url, response) => {
      times.push(performance.now());
      if (times.length === 3) controller.abort(new Error("stop"));
      response.end(resuming(url));
    });
    const target = join(scratchDir(), "index.cdx");
    const options = { ...FAST, linesPerPage: 2, intervalMs: 60, signal: controller.signal };
    await expect(harvestIndex(api, [QUERY], target, options)).rejects.toThrow("stop");
    expect(times).toHaveLength(3);
    for (let i = 1; i < times.length; i++) expect(times[i] - times[i - 1]).toBeGreaterThan(50);
  });
});

describe("mementomap harvest", () => {
  it("fetches an index that generate makes a map from", async () => {
    const api = await serveOnLoopback((url, response) => response.end(resuming(url)));
    const index = join(scratchDir(), "index.cdx");
    const words = ["harvest", api, "--url", "a.com", "--match", "domain", "--interval", "0"];
    const harvested = await runCli([...words, "-o", index]);
    expect(harvested).toMatchObject({ code: 0, stdout: "" });
    expect(harvested.stderr).toBe("25 captures, 1 page, 2 requests\n");
    const { stdout } = await runCli(["generate", "-q", "--threads", "1", index]);
    expect(stdout.split("\n").filter((line) => line.startsWith("com,a)/"))).toHaveLength(25);
  });

  it("shows on a terminal that something comes", async () => {
    const api = await serveOnLoopback((url, response) => {
      if (url.searchParams.has("showNumPages")) return void response.end(ALL);
      response.write(ALL);
      setTimeout(() => response.end(ALL), 300);
    });
    const words = ["harvest", api, "--url", "a.com", "--interval", "0"];
    const index = join(scratchDir(), "index.cdx");
    const { stderr } = await runCli([...words, "-o", index], { isTTY: true });
    const drawn = stderr.split("\r\u001b[2K");
    expect(drawn[1]).toMatch(/^fetching \d.*\/s$/);
    expect(drawn.at(-1)).toMatch(/^50 captures, /);
    const { stderr: quiet } = await runCli([...words, "-q", "-o", index], { isTTY: true });
    expect(quiet).toBe("");
  });

  it.each([
    [["harvest"], /needs the URL of one server/],
    [["harvest", "http://localhost/"], /needs --url or --search/],
    [["harvest", "http://localhost/", "--url", "a"], /needs -o/],
    [["harvest", "http://localhost/", "--search", "a", "-o", "-"], /needs -o FILE/],
    [["harvest", "nowhere", "--url", "a", "-o", "x"], /not the URL of a server: "nowhere"/],
    [["harvest", "nowhere", "--search", "a", "-o", "x"], /not the URL of a server: "nowhere"/],
    [["harvest", "http://h/", "--url", "a", "--contact", "Ш", "-o", "x"], /cannot be sent as/],
    [["harvest", "http://h/", "--url", "a", "--match", "all"], /unknown "all"; use exact, prefix/],
  ])("says what is wrong with %j", async (argv, message) => {
    const folder = scratchDir();
    const words = argv.map((word) => (word === "x" ? join(folder, "x") : word));
    const { code, stderr } = await runCli(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
