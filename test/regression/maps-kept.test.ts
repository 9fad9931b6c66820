import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { fetchMap } from "../../src/publish/fetch/fetch-map.ts";
import { MapKeeper, type MapKeeperOptions } from "../../src/aggregate/route/map-keeper.ts";
import { MapRouter } from "../../src/aggregate/route/map-router.ts";
import { archivesOf, shown } from "../aggregate/route/routing.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";
import { sized } from "../support/sized-map.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"type":"MementoMap"}\n';
const ROWS = ["com,a)/ 10", "com,b)/ 10", "com,c)/ 10", "org,d)/ 10"].map((row) => `${row}\n`);
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
