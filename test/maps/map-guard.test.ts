import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { MapKeeper, type MapKeeperOptions } from "../../src/aggregate/route/map-keeper.ts";
import { MapRouter } from "../../src/aggregate/route/map-router.ts";
import { isMementoMapError } from "../../src/errors.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { type MapExtent, type MapGuardOptions, refuseShrunk } from "../../src/maps/map-guard.ts";
import { fetchMap } from "../../src/publish/fetch/fetch-map.ts";
import { archivesOf, shown } from "../aggregate/route/routing.ts";
import { aggregateProcess } from "../support/aggregate-process.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";
import { sized } from "../support/sized-map.ts";
import { spawnCli } from "../support/spawn-cli.ts";

function outcome(old: MapExtent, next: MapExtent, options?: MapGuardOptions): string {
  try {
    refuseShrunk(old, next, "map.ukvs", options);
    return "taken";
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

describe("refuseShrunk", () => {
  it.each<[MapExtent, MapExtent, MapGuardOptions, string]>([
    [{ records: 10, mementos: 100 }, { records: 0, mementos: 0 }, {}, "MM_EMPTY"],
    [{ records: 10, mementos: 100 }, { records: 10, mementos: 49 }, {}, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 10, mementos: 50 }, {}, "taken"],
    [{ records: 10, mementos: 0, isPacked: true }, { records: 0, mementos: 0 }, {}, "MM_EMPTY"],
    [{ records: 10, mementos: 0, isPacked: true }, { records: 1, mementos: 1 }, {}, "taken"],
    // Compacted: fewer rows for the same mementos.
    [{ records: 1000, mementos: 5000 }, { records: 3, mementos: 5000 }, {}, "taken"],
    // Without frequencies, the rows are what there is.
    [{ records: 10, mementos: 0 }, { records: 4, mementos: 0 }, {}, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 1, mementos: 11 }, { maxShrink: 0.9 }, "taken"],
    [{ records: 10, mementos: 100 }, { records: 1, mementos: 9 }, { maxShrink: 0.9 }, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 0, mementos: 0 }, { maxShrink: 1 }, "taken"],
    [{ records: 0, mementos: 0 }, { records: 0, mementos: 0 }, {}, "taken"],
  ])("of %j by %j with %j: %s", (old, next, options, expected) => {
    expect(outcome(old, next, options)).toBe(expected);
  });

  it("takes every map that did not shrink", () => {
    const count = fc.integer({ min: 1, max: 2 ** 40 });
    fc.assert(
      fc.property(count, count, count, count, (records, mementos, more, extra) => {
        const next = { records: records + extra, mementos: mementos + more };
        expect(outcome({ records, mementos }, next)).toBe("taken");
      }),
    );
  });
});

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"type":"MementoMap"}\n';
const ROWS = ["com,a)/ 10\n", "com,b)/ 10\n", "com,c)/ 10\n", "org,d)/ 10\n"];
const WHOLE = sized(HEAD + ROWS.join(""));

/** What must not take the place of a map, and the code it is refused with. */
const BAD: readonly (readonly [string, string, string])[] = [
  ["zero bytes", "", "MM_"],
  ["headers only", HEAD, "MM_EMPTY"],
  ["no record, and stating so", sized(HEAD), "MM_EMPTY"],
  ["cut at a line end", WHOLE.slice(0, WHOLE.indexOf("com,b)")), "cut short"],
  ["cut within a line", WHOLE.slice(0, -4), "MM_"],
  ["one row of four", sized(HEAD + ROWS[0]), "MM_SHRUNK"],
  ["an HTML page", "<!doctype html>\n<title>502</title>\n", "MM_"],
];

/** Some of them, for processes, and what is said of them. */
const REFUSED = [
  [WHOLE.slice(0, WHOLE.indexOf("com,c)")), "cut short"],
  [sized(HEAD), "no record"],
] as const;

describe.each(BAD)("a map of %s", (_name, bad, reason) => {
  it("does not replace the one that is served", async () => {
    const { url, path, publisher } = await serving(WHOLE);
    writeFileSync(path, bad);
    await publisher.reload();
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      status: "degraded",
      maps: [{ records: 4, refused: expect.stringContaining(reason) }],
    });
    const answer = await (await fetch(`${url}/lookup?url=http://d.org/`)).json();
    expect(answer).toMatchObject({ present: true });
  });

  it("does not replace the one that a router goes by", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, WHOLE);
    const { keeper, routed } = keeping(path);
    await keeper.start();
    expect(routed()).toBe("+a in-map");
    writeFileSync(path, bad);
    await keeper.check();
    expect(routed()).toBe("+a in-map");
    expect(keeper.stateOf({ id: "a" })).toMatchObject({
      status: "ready",
      keys: 4,
      error: expect.stringContaining(reason),
    });
  });

  it("does not replace the file that was fetched before", async () => {
    let body = WHOLE;
    const url = await serveOnLoopback((_request, response) => void response.end(body));
    const target = join(scratchDir(), "map.ukvs");
    const options = { isDirect: true, retries: 0 };
    await fetchMap(`${url}/map`, target, options);
    body = bad;
    await expect(fetchMap(`${url}/map`, target, options)).rejects.toMatchObject({
      name: "MementoMapError",
    });
    expect(readFileSync(target, "utf8")).toBe(WHOLE);
  });
});

function keeping(
  mementomap: string,
  options: MapKeeperOptions = {},
): { readonly keeper: MapKeeper; readonly routed: () => string } {
  const archives = archivesOf({ a: { mementomap, timegate: "http://a.example/" } });
  const router = new MapRouter(archives, { sampleShare: 0 });
  const keeper = new MapKeeper(router, { folder: scratchDir(), checkEveryMs: 60_000, ...options });
  onTestFinished(() => keeper.stop());
  return { keeper, routed: () => shown(router.route({ uri: "http://d.org/" })) };
}

describe("maps that have shrunk", () => {
  it("are taken where that is allowed", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, WHOLE);
    const { keeper, routed } = keeping(path, { maxShrink: 0.8 });
    await keeper.start();
    writeFileSync(path, sized(HEAD + ROWS[0]));
    await keeper.check();
    expect(routed()).toBe("-a not-in-map");
  });

  it("are taken by fetch when it is forced", async () => {
    let body = WHOLE;
    const url = await serveOnLoopback((_request, response) => void response.end(body));
    const target = join(scratchDir(), "map.ukvs");
    await fetchMap(`${url}/map`, target, { isDirect: true });
    body = sized(HEAD + ROWS[0]);
    await fetchMap(`${url}/map`, target, { isDirect: true, isForced: true });
    expect(readFileSync(target, "utf8")).toBe(body);
  });
});

describe("an empty map", () => {
  it("at first means that nothing is known, not that nothing is held", async () => {
    for (const empty of ["", HEAD, sized(HEAD)]) {
      const path = join(scratchDir(), "a.ukvs");
      writeFileSync(path, empty);
      const { keeper, routed } = keeping(path);
      await keeper.start();
      expect(routed()).toBe("+a no-map");
      expect(keeper.stateOf({ id: "a" })).toMatchObject({ status: "failed" });
    }
  });

  it("of no bytes is refused by the library", () => {
    expect(() => MemoryIndex.build(new Uint8Array())).toThrow(
      expect.objectContaining({ code: "MM_EMPTY" }),
    );
  });

  it("made of an empty index is announced, and replaces no other without --force", async () => {
    const folder = scratchDir();
    const [index, map] = [join(folder, "empty.cdxj"), join(folder, "map.ukvs")];
    writeFileSync(index, "");
    const argv = ["generate", "-q", "--threads", "1", "--format", "cdxj", index, "-o", map];
    const first = await runCli(argv);
    expect(first.code).toBe(0);
    expect(first.stderr).toContain("warning: the map has no records");
    expect(existsSync(map)).toBe(true);
    writeFileSync(map, WHOLE);
    const again = await runCli(argv);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("[MM_EMPTY]") });
    expect(readFileSync(map, "utf8")).toBe(WHOLE);
    expect((await runCli([...argv, "--force"])).code).toBe(0);
  });
});

const PATIENCE = { timeout: 20_000 };

/** As `mv` does: the file is never half there. */
function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

async function json(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}

/** The archive of the list, which is asked only where its map has something. */
function listOf(mementomap: string): string {
  const [timemap, timegate] = ["http://127.0.0.1:9/timemap/", "http://127.0.0.1:9/"];
  const path = join(scratchDir(), "archives.json");
  writeFileSync(path, JSON.stringify([{ id: "one", name: "One", timemap, timegate, mementomap }]));
  return path;
}

describe("an aggregator whose map is replaced by a bad one", () => {
  it.each([["a file"], ["an address"]])(
    "keeps the one before, and says in its log, /health and /about why: %s",
    async (place) => {
      let body = WHOLE;
      const path = join(scratchDir(), "map.ukvs");
      writeFileSync(path, WHOLE);
      const url = await serveOnLoopback((_url, response) => {
        response.setHeader("Cache-Control", "no-cache");
        response.end(body);
      });
      const list = listOf(place === "a file" ? path : `${url}/map`);
      const service = await aggregateProcess(["-a", list, "--allow-private", "--sample", "0"]);
      const routed = async (): Promise<unknown> => {
        const of = (uri: string): Promise<unknown> => json(`${service.url}/route/${uri}`);
        return [await of("http://d.org/"), await of("http://x.org/")];
      };
      await expect
        .poll(() => json(`${service.url}/health`), PATIENCE)
        .toMatchObject({ status: "ok" });
      await expect
        .poll(() => json(`${service.url}/about.json`), PATIENCE)
        .toMatchObject({ archives: [{ map: { status: "ready", keys: 4, error: null } }] });
      // The map is ready a moment before the router goes by it.
      await expect
        .poll(async () => JSON.stringify(await routed()), PATIENCE)
        .toContain("not-in-map");
      const before = await routed();

      for (const [bad, reason] of REFUSED) {
        const told = service.said().length;
        body = bad;
        replace(path, bad);
        service.kill("SIGHUP");
        await expect
          .poll(() => service.said().slice(told), PATIENCE)
          .toMatch(new RegExp(`"msg":"map update failed".*"archive":"one".*${reason}`));
        expect(await json(`${service.url}/health`)).toMatchObject({
          status: "degraded",
          problems: [
            { archive: "one", problem: "map-refused", detail: expect.stringContaining(reason) },
          ],
        });
        expect(await json(`${service.url}/about.json`)).toMatchObject({
          archives: [{ map: { status: "ready", keys: 4, error: expect.stringContaining(reason) } }],
        });
        for (const accept of ["text/html", "text/plain"]) {
          const about = await fetch(`${service.url}/about`, { headers: { accept } });
          expect(await about.text()).toContain(reason);
        }
        expect(await routed()).toEqual(before);
      }

      body = sized(HEAD + ROWS.slice(1).join(""));
      replace(path, body);
      service.kill("SIGHUP");
      await expect
        .poll(() => json(`${service.url}/health`), PATIENCE)
        .toMatchObject({ status: "ok", problems: [] });
      // The other worker takes it a moment later.
      await expect
        .poll(() => json(`${service.url}/about.json`), PATIENCE)
        .toMatchObject({ archives: [{ map: { keys: 3, error: null } }] });
    },
    60_000,
  );
});

describe("a publisher whose map is replaced by a bad one", () => {
  it("serves the one before, and says in its log and /health why", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, WHOLE);
    const { child, done } = spawnCli(["serve", path, "--port", "0", "--json"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString()));
      void done.then((result) => reject(new Error(result.stderr)));
    });
    const { url } = JSON.parse(line) as { url: string };

    for (const [bad, reason] of REFUSED) {
      const told = said.length;
      replace(path, bad);
      child.kill("SIGHUP");
      await expect
        .poll(() => said.slice(told), PATIENCE)
        .toMatch(new RegExp(`"new map rejected; still serving the old one".*${reason}`));
      expect(await json(`${url}/health`)).toMatchObject({
        status: "degraded",
        maps: [{ records: 4, refused: expect.stringContaining(reason) }],
      });
      expect(await json(`${url}/lookup?url=http://d.org/`)).toMatchObject({ present: true });
    }

    replace(path, sized(HEAD + ROWS.slice(1).join("")));
    child.kill("SIGHUP");
    await expect
      .poll(() => json(`${url}/health`), PATIENCE)
      .toMatchObject({ status: "ok", maps: [{ records: 3 }] });
    child.kill("SIGTERM");
    expect(await done).toMatchObject({ code: 0 });
  }, 60_000);
});
