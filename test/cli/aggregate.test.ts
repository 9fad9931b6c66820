import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess } from "../support/aggregate-process.ts";
import { type LocalArchive, localArchive, plainArchive } from "../support/aggregating.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const URI = "http://example.org/a";

/** A folder with the list of these archives; the path of that. */
function listOf(archives: readonly LocalArchive[], more: Record<string, object> = {}): string {
  const path = join(scratchDir(), "archives.json");
  const list = archives.map(({ archive: { id, name, timemap, timegate } }) => ({
    id,
    name,
    timemap,
    timegate,
    ...more[id],
  }));
  writeFileSync(path, JSON.stringify(list));
  return path;
}

async function twoArchives(): Promise<LocalArchive[]> {
  return [
    await plainArchive("one", ["20050101000000", "20100101000000"]),
    await plainArchive("two", ["20080101000000"]),
  ];
}

describe("aggregate URI", () => {
  it("writes a TimeMap, and says on standard error where it is from", async () => {
    const list = listOf(await twoArchives());
    const { code, stdout, stderr } = await runCli(["aggregate", "-a", list, URI]);
    expect(code).toBe(0);
    expect(stdout.match(/(?<=\/web\/)\d{14}/g)).toEqual([
      "20050101000000",
      "20080101000000",
      "20100101000000",
    ]);
    expect(stdout).toContain(`<http://localhost:1208/timegate/${URI}>; rel="timegate"`);
    expect(stderr).toMatch(/^3 mementos: one 2, two 1; 2 archives queried; \d+\.\d s\n$/);
  });

  it("says on standard error why a map is refused", async () => {
    const map = join(scratchDir(), "map.packed");
    writeFileSync(map, "\x89MMP\n", "latin1");
    const list = listOf(await twoArchives(), { one: { mementomap: map } });
    const { code, stderr } = await runCli(["aggregate", "-a", list, URI]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("mementomap: no map of one: ")]);
    expect(stderr).toContain("damaged packed map");
    const quiet = await runCli(["aggregate", "-a", list, "-q", URI]);
    expect(quiet.stderr).toBe("");
  });

  it.each([
    ["JSON", ["-f", "JSON"], /^\{\n {2}"original_uri"/],
    ["JSON by --json", ["--json"], /^\{\n {2}"original_uri"/],
    ["CDXJ", ["--format", "cdxj"], /^!context/],
  ])("writes %s", async (_what, options, start) => {
    const list = listOf(await twoArchives());
    const { stdout } = await runCli(["aggregate", "-a", list, "-q", ...options, URI]);
    expect(stdout).toMatch(start);
  });

  it("describes the memento closest to a datetime", async () => {
    const list = listOf(await twoArchives());
    const argv = ["aggregate", "-a", list, "-q", "-f", "json", URI, "2008-01-01"];
    const { code, stdout } = await runCli(argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      mementos: { closest: { datetime: "2008-01-01T00:00:00Z" } },
    });
  });

  it("asks for what was typed, with characters encoded that requests cannot have", async () => {
    const archives = await twoArchives();
    await runCli(["aggregate", "-a", listOf(archives), "-q", "http://example.org/é b%2F"]);
    expect(archives[0].requests[0]?.target).toBe("/timemap/link/http://example.org/%C3%A9%20b%2F");
  });

  it("keeps to the archives and the time that are wanted", async () => {
    const archives = await twoArchives();
    const list = listOf(archives);
    const options = ["--only", "one", "--from", "2009", "--until", "2010"];
    const { stdout } = await runCli(["aggregate", "-a", list, "-q", ...options, URI]);
    expect(stdout.match(/(?<=\/web\/)\d{14}/g)).toEqual(["20100101000000"]);
    expect(archives[1].requests).toEqual([]);
  });

  it("asks no archive whose map does not have the URI, unless it is told to", async () => {
    const archives = await twoArchives();
    const list = listOf(archives);
    const map = join(scratchDir(), "one.ukvs");
    writeFileSync(map, "com,other)/ 3\n");
    const argv = ["aggregate", "-a", list, "--map", `one=${map}`];
    const routed = await runCli([...argv, URI]);
    expect(routed.stderr).toMatch(/^1 memento: two 1; 1 archive queried, 1 skipped;/);
    const all = await runCli([...argv, "--no-routing", URI]);
    expect(all.stderr).toMatch(/^3 mementos: one 2, two 1; 2 archives queried;/);
  });

  it("ends with 1 when nobody has any, and with 2 when nobody answers", async () => {
    const none = listOf([await plainArchive("none", [])]);
    expect(await runCli(["aggregate", "-a", none, URI])).toMatchObject({ code: 1, stdout: "" });
    const broken = await localArchive(
      "broken",
      (_request, response) => void response.writeHead(500).end(),
    );
    const argv = ["aggregate", "-a", listOf([broken]), URI];
    expect(await runCli(argv)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/none of 1 archive answered; broken: status 500 \[MM_HTTP\]/),
    });
  });

  it.each([
    [["-a", "x.json"], /aggregate needs a URI, or --serve/],
    [[URI], /name the list of archives with --archives FILE/],
    [["-a", "/nowhere.json", URI], /no such file/],
    [["-a", "x.json", "--serve", URI], /--serve takes no URI/],
    [["-a", "x.json", URI, "2010", "2011"], /one URI and one datetime/],
    [["-a", "x.json", URI, "soon"], /not a datetime: "soon"/],
    [["-a", "x.json", "--map", "one", URI], /write ID=MAP/],
    [["-a", "x.json", "--timeout", "soon", URI], /not a duration: "soon"; write .* or 90d/],
    [["-a", "x.json", "--serve", "--access-log", "requests"], /not a file: requests; name a file/],
    [["-a", "x.json", "a b"], /not an address; write one/],
  ])("%j ends with 2 and says what to do", async (argv, message) => {
    const { code, stderr } = await runCli(["aggregate", ...argv]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  it.each([
    ["--map", "x=y.ukvs"],
    ["--only", "x"],
    ["--only", "!x"],
  ])("knows no archive that is not in the list: %s %s", async (option, value) => {
    const list = listOf(await twoArchives());
    const { code, stderr } = await runCli(["aggregate", "-a", list, option, value, URI]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('no archive "x"; the list has "one", "two"'),
    ]);
  });

  it("writes what archives answered to a log that maps are made from", async () => {
    const folder = scratchDir();
    const log = join(folder, "memgator.log");
    const knows = await localArchive("knows", (request, response) => {
      const isHeld = request.url?.includes("/held") === true;
      response.writeHead(isHeld ? 200 : 404, { "Content-Type": "application/link-format" });
      const memento =
        '<http://m/20150101000000/x>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"';
      response.end(isHeld ? memento : "");
    });
    const argv = ["aggregate", "-a", listOf([knows, ...(await twoArchives())]), "-q", "--log", log];
    for (const path of ["held/1", "held/2", "void/1", "void/2"]) {
      await runCli([...argv, `http://example.org/${path}`]);
    }
    const map = join(folder, "knows.ukvs");
    const generated = await runCli(["generate", log, "--archive", "knows", "-o", map]);
    expect(generated).toMatchObject({ code: 0 });
    const rows = readFileSync(map, "utf8")
      .split("\n")
      .filter((line) => /^\w/.test(line));
    expect(rows).toEqual([
      "org,example)/held/1 1+",
      "org,example)/held/2 1+",
      "org,example)/void/1 0",
      "org,example)/void/2 0",
    ]);
    const { stdout } = await runCli(["logs", log, "--json"]);
    expect(stdout).toContain('"knows"');
  });
});

describe.skipIf(process.platform === "win32")("aggregate --serve", () => {
  it("answers until it is told to stop, and what is under way then to its end", async () => {
    let release = (): void => undefined;
    const slow = await localArchive("slow", (_request, response) => {
      release = () => void response.writeHead(404).end();
    });
    const list = listOf([slow, ...(await twoArchives())]);
    const { url, kill, done } = await aggregateProcess(["-a", list]);
    const answer = fetch(`${url}/timemap/link/${URI}`);
    await expect.poll(() => slow.requests.length).toBe(1);
    kill("SIGTERM");
    await expect
      .poll(async () =>
        fetch(`${url}/health`).then(
          ({ status }) => status,
          () => "gone",
        ),
      )
      .toBe("gone");
    release();
    expect((await answer).headers.get("x-memento-count")).toBe("3");
    expect(await done).toMatchObject({ code: 0, signal: null });
  });

  it("goes on in a new log after SIGHUP", async () => {
    const folder = scratchDir();
    const log = join(folder, "memgator.log");
    const list = listOf(await twoArchives());
    const { url, kill, done } = await aggregateProcess(["-a", list, "--log", log]);
    await fetch(`${url}/timemap/link/${URI}/1`);
    await expect.poll(() => readFileSync(log, "utf8")).toContain("Total Mementos");
    renameSync(log, `${log}.1`);
    kill("SIGHUP");
    await expect.poll(() => existsSync(log)).toBe(true);
    await fetch(`${url}/timemap/link/${URI}/2`);
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
    expect(readFileSync(`${log}.1`, "utf8")).toContain(`Aggregating Mementos for ${URI}/1`);
    expect(readFileSync(log, "utf8")).toContain(`Aggregating Mementos for ${URI}/2`);
  });

  it("takes settings from a file, and keeps answers in a folder beyond its end", async () => {
    const folder = scratchDir();
    const archives = await twoArchives();
    mkdirSync(join(folder, "cache"));
    const config = join(folder, "aggregator.json");
    const settings = {
      archives: listOf(archives),
      base: "/mg",
      state: join(folder, "cache"),
      monitor: true,
    };
    writeFileSync(config, JSON.stringify(settings));
    for (const round of [1, 2]) {
      const { url, kill, done } = await aggregateProcess(["--config", config]);
      const answer = await fetch(`${url}/mg/timemap/link/${URI}`);
      expect([round, answer.headers.get("x-memento-count")]).toEqual([round, "3"]);
      kill("SIGTERM");
      expect(await done).toMatchObject({ code: 0 });
    }
    expect(archives.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  it("sends events to listeners", async () => {
    const { url, kill, done } = await aggregateProcess([
      "-a",
      listOf(await twoArchives()),
      "--monitor",
    ]);
    const events = await fetch(`${url}/monitor`);
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    await fetch(`${url}/timemap/link/${URI}`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of events.body ?? []) {
      text += decoder.decode(chunk as Uint8Array);
      if (text.includes("Complete session")) break;
    }
    const data = text.split("\n").filter((line) => line.startsWith("data: "));
    const parsed = data.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
    expect(parsed.map(({ role }) => role)).toEqual([
      "createsess",
      "timemapfetch",
      "extractmementos",
      "timemapfetch",
      "extractmementos",
      "aggregate",
      "timemap",
    ]);
    expect(Object.keys(parsed[1] ?? {})).toEqual([
      "session",
      "origin",
      "role",
      "info",
      "start",
      "end",
    ]);
    expect(new Set(parsed.map(({ session }) => session)).size).toBe(1);
    kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  });
});

describe("options as MemGator has them", () => {
  it.each([
    ["-a=LIST", "-k", "-1", "-F=-1", "-T", "5s"],
    ["--arcs=LIST", "--topk", "5", "--restimeout", "9s", "--hdrtimeout=5s", "--contimeout", "1s"],
  ])("are read: %s %s %s %s", async (...argv) => {
    const { archive } = await plainArchive("one", []);
    const list = join(scratchDir(), "archives.json");
    writeFileSync(list, JSON.stringify([archive]));
    const given = argv.map((text) => text.replace("LIST", list));
    const { code, stderr } = await runCli(["aggregate", ...given, "http://example.org/"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/--headers-timeout is a setting: write it in the file of --config/);
  });

  it("are at most thirty, without settings", async () => {
    const { stdout } = await runCli(["aggregate", "--help"]);
    expect(stdout.match(/^ {4}(?:-\w, )?--/gm)?.length).toBeLessThanOrEqual(30);
  });

  it.each([["--spoof", "archives should be able to identify their clients"]])(
    "%s is known as MemGator's",
    async (option, hint) => {
      const { code, stderr } = await runCli(["aggregate", option, "x", "http://example.org/"]);
      expect(code).toBe(2);
      expect(stderr).toContain("is an option of MemGator");
      expect(stderr).toContain(hint);
    },
  );

  it.each(["200%", "100.1%", "2", "-1"])("--sample %s is refused", async (share) => {
    const { code, stderr } = await runCli(["aggregate", "--serve", "-a", "x", "--sample", share]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--sample")]);
  });
});
