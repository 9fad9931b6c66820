import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { aggregateProcess } from "../support/aggregate-process.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { scratchDir } from "../support/scratch.ts";
import { sized } from "../support/sized-map.ts";
import { spawnCli } from "../support/spawn-cli.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"type":"MementoMap"}\n';
const ROWS = ["com,a)/ 10\n", "com,b)/ 10\n", "com,c)/ 10\n", "org,d)/ 10\n"];
const WHOLE = sized(HEAD + ROWS.join(""));
const BAD = {
  cut: [WHOLE.slice(0, WHOLE.indexOf("com,c)")), "cut short"],
  empty: ["", "MM_"],
  "without a record": [sized(HEAD), "no record"],
  shrunken: [sized(HEAD + ROWS[0]), "MM_SHRUNK"],
} as const;

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

      for (const [bad, reason] of Object.values(BAD)) {
        const told = service.said().length;
        body = bad;
        replace(path, bad);
        service.kill("SIGHUP");
        await expect
          .poll(() => service.said().slice(told), PATIENCE)
          .toMatch(new RegExp(`"msg":"no new map".*"archive":"one".*${reason}`));
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

    for (const [bad, reason] of Object.values(BAD)) {
      const told = said.length;
      replace(path, bad);
      child.kill("SIGHUP");
      await expect
        .poll(() => said.slice(told), PATIENCE)
        .toMatch(new RegExp(`"new map refused, the old one is kept".*${reason}`));
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
