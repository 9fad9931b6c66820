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
import { harvestIndex } from "../../src/harvest/harvest-index.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { FAST, harvesting, isProbe, QUERY } from "./harvesting.ts";

const LINES = Array.from(
  { length: 25 },
  (_, i) => `com,a)/${i} 20140101000000 http://a.com/${i} text/html 200 X 1`,
);
const ALL = LINES.map((line) => `${line}\n`).join("");

/** A server in the manner of the Internet Archive's. */
function resuming(url: URL): string {
  if (isProbe(url)) return "1\n";
  const key = /^com,a\)\/ (\d+)!$/.exec(url.searchParams.get("resumeKey") ?? "");
  const start = Number(key?.[1] ?? 0);
  const end = start + Number(url.searchParams.get("limit"));
  const lines = LINES.slice(start, end).map((line) => `${line}\n`);
  return lines.join("") + (end < LINES.length ? `\ncom%2Ca%29%2F+${end}%21\n` : "");
}

/** A server in the manner of pywb's on a ZipNum index. */
function paged(url: URL): string {
  if (isProbe(url)) return '{"pages": 3, "pageSize": 5, "blocks": 13}\n';
  const page = Number(url.searchParams.get("page"));
  const lines = LINES.slice(page * 10, page * 10 + 10);
  return lines.map((line) => `${line}\n`).join("");
}

describe("harvestIndex", () => {
  it.each([
    ["resume keys", resuming, 10],
    ["pages", paged, 6],
    ["one stream", () => ALL, 2],
  ])("gets everything from a server with %s", async (_name, answer, requests) => {
    const { api, asked, folder, target, text } = await harvesting(answer);
    const options = { ...FAST, linesPerPage: 3 };
    const summary = await harvestIndex(`${api}/cdx?x=1`, [QUERY], target, options);
    expect(text()).toBe(ALL);
    expect(summary).toMatchObject({ lines: 25, bytes: ALL.length, resumedLines: 0, requests });
    expect(asked).toHaveLength(requests);
    expect(new Set(asked.map(({ pathname }) => pathname))).toEqual(new Set(["/cdx"]));
    // The first request names a page that nobody holds.
    for (const { searchParams } of asked.slice(1)) {
      const own = { x: "1", url: "a.com", matchType: "domain", from: "2010" };
      expect(Object.fromEntries(searchParams)).toMatchObject(own);
    }
    expect(readdirSync(folder)).toEqual(["index.cdx"]);
  });

  it("tries again when the server is busy or breaks off", async () => {
    const retries: string[] = [];
    const { run, text } = await harvesting((url, turn, response) => {
      if (turn === 2) return response.writeHead(429, { "retry-after": "0" }).end();
      if (turn === 4) return 503;
      if (turn === 5) return response.write(LINES[0], () => response.destroy());
      return resuming(url);
    });
    await run({ linesPerPage: 10, onRetry: (reason) => void retries.push(reason) });
    expect(text()).toBe(ALL);
    expect(retries).toEqual([
      "the server answered 429 Too Many Requests",
      "the server answered 503 Service Unavailable",
      "the connection was closed before the response was complete",
    ]);
  });

  it("tries again when the server falls silent, before an answer or within", async () => {
    const retries: string[] = [];
    const { run, text } = await harvesting((url, turn, response) => {
      if (turn === 1) return undefined;
      return turn === 4 ? response.write(LINES[0]) : resuming(url);
    });
    await run({
      linesPerPage: 10,
      timeoutMs: 300,
      backOff: { retries: 100, firstMs: 1, longestMs: 1 },
      onRetry: (reason) => void retries.push(reason),
    });
    expect(text()).toBe(ALL);
    expect(retries).toContain("no response within 0.3 s");
    expect(retries).toContain("no data received for 0.3 s");
  });

  it("goes on behind the last whole page when it is begun again", async () => {
    let pagesLeft = 3;
    const { asked, run, target, text } = await harvesting((url) =>
      !isProbe(url) && pagesLeft-- === 0 ? 403 : resuming(url),
    );
    const options = { linesPerPage: 4 };
    await expect(run(options)).rejects.toMatchObject({
      code: "MM_HTTP",
      message: expect.stringMatching(/403/) as string,
    });
    expect(existsSync(target)).toBe(false);
    // What was being written when a process was killed does not count.
    writeFileSync(`${target}.part`, `${readFileSync(`${target}.part`, "utf8")}half a li`);
    pagesLeft = 100;
    const summary = await run(options);
    expect(text()).toBe(ALL);
    expect(summary).toMatchObject({ lines: 25, resumedLines: 12 });
    const pages = asked.filter((url) => !isProbe(url));
    expect(pages.filter(({ searchParams }) => !searchParams.has("resumeKey"))).toHaveLength(1);
  });

  it("takes no captures for no error, as some servers do not", async () => {
    const { run, text } = await harvesting((url, _turn, response) => {
      if (url.searchParams.get("url") === "a.com") return ALL;
      return response.writeHead(404).end('{"message": "No Captures found for: b.com"}');
    });
    expect(await run({}, [{ url: "b.com" }, QUERY])).toMatchObject({ lines: 25 });
    expect(text()).toBe(ALL);
  });

  it("asks for several URLs one after the other", async () => {
    const { run, text } = await harvesting(
      ({ searchParams }) => `com,${searchParams.get("url")})/ 20140101000000 x text/html 200 X 1`,
    );
    await run({}, [{ url: "a" }, { url: "b" }]);
    const keys = text()
      .split("\n")
      .map((line) => line.slice(0, 6));
    expect(keys).toEqual(["com,a)", "com,b)", ""]);
  });

  it("refuses answers that are not an index, and states of other harvests", async () => {
    const { run, target } = await harvesting(() => "<html>please log in</html>\n");
    await expect(run()).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
    writeFileSync(`${target}.part.json`, '{"harvest": "other"}');
    await expect(run()).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(/belongs to another harvest/) as string,
    });
  });

  /** A harvest that was begun, and got some of the lines. */
  async function begun(name?: string): ReturnType<typeof harvesting> {
    const harvest = await harvesting((url, turn) => (turn === 4 ? 403 : resuming(url)), name);
    await expect(harvest.run({ linesPerPage: 4 })).rejects.toThrow("403");
    return harvest;
  }

  it.each([
    ["is gone", undefined, /the partial download is missing; /],
    ["is shorter than it was", LINES[0].slice(0, 20), /has only 20 of \d+ bytes; /],
  ])("does not go on where the part fetched before %s", async (_what, content, message) => {
    const { run, target } = await begun();
    if (content === undefined) rmSync(`${target}.part`);
    else writeFileSync(`${target}.part`, content);
    await expect(run({ linesPerPage: 4 })).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringMatching(message) as string,
    });
  });

  it("compresses when all is there, and goes on before that", async () => {
    const { folder, run, target } = await begun("index.cdx.gz");
    expect(await run({ linesPerPage: 4 })).toMatchObject({ lines: 25, resumedLines: 8 });
    expect(gunzipSync(readFileSync(target)).toString()).toBe(ALL);
    expect(readdirSync(folder)).toEqual(["index.cdx.gz"]);
  });

  it("says why the server does not answer, and leaves nothing behind if it never did", async () => {
    const { folder, run } = await harvesting((_url, _turn, response) =>
      response.writeHead(400).end("from= works for exact matches only\n"),
    );
    await expect(run()).rejects.toThrow(
      'the server answered 400 Bad Request: "from= works for exact matches only"',
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("gives up where the server asks for more patience than it has", async () => {
    const { run } = await harvesting((_url, _turn, response) =>
      response.writeHead(429, { "retry-after": "7200" }).end(),
    );
    await expect(run()).rejects.toThrow(
      "the server answered 429 Too Many Requests; it requests a wait of 120 minutes",
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
    const { run, text } = await harvesting((url) => {
      if (isProbe(url)) return "5\n";
      const page = Number(url.searchParams.get("resumeKey") ?? 0);
      return pages[page] + (page + 1 < pages.length ? `\n${page + 1}\n` : "");
    });
    expect(await run()).toMatchObject({ lines: 2, pages: 5 });
    expect(text()).toBe(`${LINES[0]}\n${LINES[1]}\n`);
  });

  it("does not go round in circles with a server that repeats a resume key", async () => {
    const { run } = await harvesting((url) => (isProbe(url) ? "5\n" : `${LINES[0]}\n\nsame\n`));
    await expect(run()).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: 'the server repeats the resume key "same", so the harvest would never end',
    });
  });

  it("detects what an answer is from its first lines, not from its first bytes", async () => {
    const { run, text } = await harvesting((url, _turn, response) => {
      if (isProbe(url)) return ALL;
      return response.write("com,", () => setImmediate(() => response.end(ALL.slice(4))));
    });
    await run();
    expect(text()).toBe(ALL);
  });

  it("counts no blank lines behind a resume key", async () => {
    const { run, text } = await harvesting((url) => {
      if (isProbe(url)) return "2\n";
      const isFirst = !url.searchParams.has("resumeKey");
      return isFirst ? `${LINES[0]}\r\n\r\nnext\r\n\r\n` : `${LINES[1]}\n`;
    });
    expect(await run()).toMatchObject({ lines: 2, pages: 2 });
    expect(text()).toBe(`${LINES[0]}\r\n${LINES[1]}\n`);
  });

  it.each([
    ["resume keys", "2\n", [QUERY]],
    ["pages", '{"pages": 2}', [QUERY]],
    ["one stream", "", [QUERY]],
  ])("takes no array in JSON from a server with %s", async (_name, probe, queries) => {
    const array = '[["urlkey","timestamp"],\n["com,a)/","2014"]]\n';
    const { run } = await harvesting((url) => (isProbe(url) ? probe : array));
    await expect(run({}, queries)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(/remove output=json/) as string,
    });
  });

  it("stops at a line without an end", async () => {
    const block = "x".repeat(1 << 16);
    const { run } = await harvesting((url, _turn, response) => {
      if (isProbe(url)) return ALL;
      const more = (): void => {
        while (!response.destroyed && response.write(block));
        response.once("drain", more);
      };
      response.write(`${ALL}com,a)/ 20140101000000 `);
      return more();
    });
    await expect(run()).rejects.toMatchObject({ code: "MM_LIMIT", position: { line: 26 } });
  });

  it.skipIf(process.platform === "win32")("replaces what a link names, and no device", async () => {
    const { api, asked, folder } = await harvesting(resuming);
    const socket = join(folder, "socket");
    const listener = createTcpServer().listen(socket);
    onTestFinished(() => void listener.close());
    await once(listener, "listening");
    await expect(harvestIndex(api, [QUERY], socket, FAST)).rejects.toMatchObject({
      code: "MM_IO",
      message: "is not a plain file; name a file",
    });
    expect(asked).toEqual([]);
    writeFileSync(join(folder, "file"), "old");
    symlinkSync("file", join(folder, "link"));
    await harvestIndex(api, [QUERY], join(folder, "link"), FAST);
    expect(readFileSync(join(folder, "file"), "utf8")).toBe(ALL);
    expect(readlinkSync(join(folder, "link"))).toBe("file");
  });

  it("says what cannot be written, and at once where the file is a folder", async () => {
    const { api, asked, folder, run, target } = await harvesting(resuming);
    const isError = (source: string) => ({ code: "MM_IO", position: { source } });
    const intoFolder = harvestIndex(api, [QUERY], folder, FAST);
    await expect(intoFolder).rejects.toMatchObject(isError(folder));
    expect(asked).toEqual([]);
    mkdirSync(`${target}.part.json`);
    await expect(run()).rejects.toMatchObject(isError(`${target}.part.json`));
  });

  it("only makes the file where a run got everything and could not write it", async () => {
    const { asked, folder, run, target, text } = await harvesting((url, turn) => {
      if (turn === 2) mkdirSync(target);
      return resuming(url);
    });
    await expect(run()).rejects.toThrow("is a directory");
    rmdirSync(target);
    expect(await run()).toMatchObject({ lines: 25, resumedLines: 25, requests: 0 });
    expect(asked).toHaveLength(2);
    expect(text()).toBe(ALL);
    expect(readdirSync(folder)).toEqual(["index.cdx"]);
  });

  it("refuses a second run of the same at once, and not the next", async () => {
    let second: Promise<unknown> | undefined;
    const { folder, run, text } = await harvesting((url, _turn, response) => {
      second ??= run().catch((error: unknown) => error);
      return second.then(() => response.end(resuming(url)));
    });
    await run();
    expect(await second).toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("in use by another run"),
    });
    expect(text()).toBe(ALL);
    await run();
    expect(readdirSync(folder)).toEqual(["index.cdx"]);
  });

  it("waits between requests, and stops when told to", async () => {
    const times: number[] = [];
    const controller = new AbortController();
    const { run } = await harvesting((url, turn) => {
      times.push(performance.now());
      if (turn === 3) controller.abort(new Error("stop"));
      return resuming(url);
    });
    const options = { linesPerPage: 2, intervalMs: 60, signal: controller.signal };
    await expect(run(options)).rejects.toThrow("stop");
    expect(times).toHaveLength(3);
    for (let i = 1; i < times.length; i++) expect(times[i] - times[i - 1]).toBeGreaterThan(50);
  });
});

describe("mementomap harvest", () => {
  it("fetches an index that generate makes a map from", async () => {
    const { api, target: index } = await harvesting(resuming);
    const words = ["harvest", api, "--url", "a.com", "--match", "domain", "--interval", "0"];
    const harvested = await runCli([...words, "-o", index]);
    expect(harvested).toMatchObject({ code: 0, stdout: "" });
    expect(harvested.stderr).toBe("25 captures, 1 page, 2 requests\n");
    const { stdout } = await runCli(["generate", "-q", "--threads", "1", index]);
    expect(stdout.split("\n").filter((line) => line.startsWith("com,a)/"))).toHaveLength(25);
  });

  it("shows on a terminal that something comes", async () => {
    const { api, target: index } = await harvesting((url, _turn, response) => {
      if (isProbe(url)) return ALL;
      response.write(ALL);
      return setTimeout(() => response.end(ALL), 300);
    });
    const words = ["harvest", api, "--url", "a.com", "--interval", "0"];
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
    [["harvest", "nowhere", "--url", "a", "-o", "x"], /not an HTTP URL: "nowhere"/],
    [["harvest", "nowhere", "--search", "a", "-o", "x"], /not an HTTP URL: "nowhere"/],
    [["harvest", "http://h/", "--url", "a", "--contact", "Ш", "-o", "x"], /invalid User-Agent/],
    [["harvest", "http://h/", "--url", "a", "--match", "all"], /unknown "all"; use exact, prefix/],
  ])("says what is wrong with %j", async (argv, message) => {
    const folder = scratchDir();
    const words = argv.map((word) => (word === "x" ? join(folder, "x") : word));
    const { code, stderr } = await runCli(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
