import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as web from "../../src/index.ts";
import { NODE } from "../../src/library/node-platform.ts";
import { diff, type MementoMap, openMap, type Source } from "../../src/node.ts";
import { packedBytes } from "../pack/packed-bytes.ts";
import { folderWith } from "../support/folder-with.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { serving } from "../support/serving.ts";
import { scratchDir } from "../support/scratch.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"type":"MementoMap"}\n';
const ROWS = "com,a)/ 3\ncom,a)/b/* 12\ncom,a)/b/x 0\norg,b,* 1+/1\n";
const MAP = new TextEncoder().encode(HEAD + ROWS);
const URIS = ["http://a.com/", "http://a.com/b/y", "http://a.com/b/x", "http://x.b.org/", "c.net"];
const PRESENT = [true, true, false, true, false];

const openFiles = (): number => readdirSync("/proc/self/fd").length;

function file(bytes: Uint8Array, name = "map.ukvs"): string {
  const path = join(scratchDir(), name);
  writeFileSync(path, bytes);
  return path;
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < MAP.length; at += 7) yield MAP.subarray(at, at + 7);
}

/** A server that answers ranges, or does not. */
async function served(answersRanges: boolean): Promise<string> {
  const url = await serveOnLoopback((_url, response, request) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    response.setHeader("ETag", '"1"');
    if (!answersRanges || from === undefined) return void response.end(MAP);
    const part = MAP.subarray(Number(from), Number(to) + 1);
    const until = Number(from) + part.length - 1;
    response.writeHead(206, { "Content-Range": `bytes ${from}-${until}/${MAP.length}` });
    response.end(part);
  });
  return `${url}/map`;
}

const SOURCES: Readonly<Record<string, () => Source | Promise<Source>>> = {
  bytes: () => MAP,
  "bytes that are compressed": () => gzipSync(MAP),
  "an ArrayBuffer": () => MAP.buffer.slice(MAP.byteOffset, MAP.byteOffset + MAP.length),
  "a Blob": () => new Blob([MAP]),
  "a Blob that is compressed": () => new Blob([gzipSync(MAP)]),
  "a stream of the web": () => new Blob([MAP]).stream(),
  "an async iterable": chunks,
  "an array of chunks": () => [MAP.subarray(0, 10), MAP.subarray(10)],
  "an address": () => served(true),
  "the address of a server without ranges": () => served(false),
  "a URL": async () => new URL(await served(true)),
};

const FILES: Readonly<Record<string, () => Source>> = {
  "a path": () => file(MAP),
  "the path of a compressed file": () => file(gzipSync(MAP), "map.ukvs.gz"),
  "a file: URL": () => pathToFileURL(file(MAP, "a map%.ukvs")),
};

async function answers(map: MementoMap): Promise<boolean[]> {
  const found: boolean[] = [];
  for await (const { present } of map.lookupMany(URIS)) found.push(present);
  return found;
}

async function check(map: MementoMap): Promise<void> {
  expect(map.headers.meta["type"]).toBe("MementoMap");
  expect(await answers(map)).toEqual(PRESENT);
  for (const [i, uri] of URIS.entries()) expect(await map.has(uri)).toBe(PRESENT[i]);
  expect(await map.lookup("http://a.com/b/y")).toEqual({
    present: true,
    key: "com,a)/b/*",
    frequency: "12",
    distance: 2,
  });
  const rows: string[] = [];
  for await (const { key, frequency } of map) rows.push(`${key} ${frequency}\n`);
  expect(rows.join("")).toBe(ROWS);
  expect(await map.explore({ prefix: "com,a)/", limit: 1 })).toMatchObject({
    form: "text",
    captures: 15,
    rows: 3,
    voids: 1,
    children: [{ prefix: "com,a)/b/", captures: 12, rows: 2, detail: "mixed" }],
    next: "1",
  });
  const other = await openMap(new Blob(["com,a)/ 9\n"]));
  const { maps, keys } = await map.compare("own", { other });
  expect(maps.map(({ id }) => id)).toEqual(["own", "other"]);
  expect(keys.combinations.some(({ held }) => held.join() === "own,other")).toBe(true);
  await other.close();
  await map.close();
  await map.close(); // twice is once
  await expect(map.has("http://a.com/")).rejects.toMatchObject({ code: "MM_USAGE" });
}

describe("openMap", () => {
  describe.each([
    ["mementomap", web.openMap, SOURCES],
    ["mementomap/node", openMap, { ...SOURCES, ...FILES }],
  ] as const)("of %s", (_entry, open, sources) => {
    it.each(Object.entries(sources))("opens %s", async (_kind, source) => {
      await check(await open(await source()));
      await check(await open(await source(), { inMemory: true }));
      expect.hasAssertions();
    });
  });

  it("takes one page of a map for no more than it is", async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `com,h${i + 10})/ ${i}\n`).join("");
    const { url } = await serving(HEAD + rows, { pageRecords: 10 });
    await using map = await openMap(`${url}/.well-known/mementomap?page=3`);
    expect(await map.has("http://h39.com/")).toBe(true);
    await expect(map.has("http://h10.com/")).rejects.toMatchObject({ code: "MM_PAGE" });
    await expect(map.explore()).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
  });

  it("says what to import where there are no files", async () => {
    await expect(web.openMap("map.ukvs")).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringContaining("mementomap/node"),
    });
  });

  it("reads the path of a file: URL as Node does", async () => {
    for (const url of ["file:///C:/maps/a%20map.ukvs", "file:///maps/%25.ukvs"]) {
      expect(NODE.filePath(new URL(url))).toBe(fileURLToPath(url));
    }
    const path = pathToFileURL(file(MAP)).href;
    const names = [path.replace(/\/(?=[^/]*$)/, "%2F"), path.replace("map.ukvs", "%zz")];
    for (const url of names.map((name) => new URL(name))) {
      const refused = { code: expect.stringMatching(/^MM_(?:USAGE|IO)$/) as string };
      await expect(openMap(url)).rejects.toMatchObject(refused);
      await expect(diff(MAP, url)).rejects.toMatchObject(refused);
    }
    await expect(web.openMap(new URL(path))).rejects.toMatchObject({ code: "MM_USAGE" });
  });

  it("names the source in errors", async () => {
    const path = file(new TextEncoder().encode("com,a)/ x\n"));
    await expect(openMap(path, { inMemory: true })).rejects.toMatchObject({
      code: "MM_BAD_FREQUENCY",
      position: { source: path, line: 1 },
    });
    await expect(openMap(`${path}.not`)).rejects.toMatchObject({ code: "MM_IO" });
    const missing = await serveOnLoopback((_url, response) => void response.writeHead(404).end());
    await expect(openMap(missing)).rejects.toMatchObject({ code: "MM_HTTP" });
  });

  it("refuses gzip that is cut short, in browsers too", async () => {
    const cut = gzipSync(MAP).subarray(0, 40);
    for (const open of [web.openMap, openMap]) {
      await expect(open(cut)).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
    }
  });

  it.skipIf(process.platform !== "linux")("closes what it refuses", async () => {
    const files = {
      "index.cdxj": "com,a)/ 20130727042553 {}\n",
      "header.ukvs": "!meta {\ncom,a)/ 1\n",
      "index.cdxj.gz": gzipSync("com,a)/ 20130727042553 {}\n"),
    };
    const folder = folderWith(files);
    const paths = [folder, ...Object.keys(files).map((name) => `${folder}/${name}`)];
    const before = openFiles();
    for (const path of paths) {
      await expect(openMap(path)).rejects.toMatchObject({
        code: expect.stringMatching(/^MM_/) as string,
      });
    }
    expect(openFiles()).toBe(before);
  });

  it("says at once whether a packed map in memory has a URI", async () => {
    const packed = (await packedBytes(HEAD + ROWS, { bits: 20 })) ?? new Uint8Array();
    for (const source of [packed, file(packed, "map.packed")]) {
      const map = await openMap(source, { inMemory: true });
      for (const uri of [...URIS, "http://A.com:80/b/y#z", "dns:a.com", "é"]) {
        expect(await map.has(uri)).toBe((await map.lookup(uri)).present);
      }
      expect(await map.has("http://a.com/b/y")).toBe(true);
      const signal = AbortSignal.abort();
      await expect(map.has("http://a.com/", { signal })).rejects.toMatchObject({
        code: "MM_INTERRUPTED",
      });
      await map.close();
      await expect(map.has("http://a.com/")).rejects.toMatchObject({ code: "MM_USAGE" });
    }
  });

  it("closes by `await using`", async () => {
    let kept: MementoMap;
    {
      await using map = await openMap(file(MAP));
      kept = map;
      expect(await map.has("http://a.com/")).toBe(true);
    }
    await expect(kept.has("http://a.com/")).rejects.toMatchObject({ code: "MM_USAGE" });
  });

  it("takes a Date for the time to look up at", async () => {
    const text = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 2014 3\n';
    const map = await openMap(new TextEncoder().encode(text));
    const at = (iso: string): Promise<boolean> => map.has("http://a.com/", { at: new Date(iso) });
    expect(await at("2014-12-31T23:59:59.999Z")).toBe(true);
    expect(await at("2015-01-01T00:00:00Z")).toBe(false);
    await expect(at("nonsense")).rejects.toMatchObject({ code: "MM_BAD_KEY" });
    await expect(at("+012014-01-01T00:00:00Z")).rejects.toMatchObject({ code: "MM_BAD_KEY" });
  });

  it("answers URIs of any characters and length as file search does", async () => {
    const uri = fc.oneof(
      fc.webUrl(),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("http://a.com/", "http://a.com/b/", `http://a.com/b/${"x".repeat(3000)}`),
    );
    const [inMemory, searched] = await Promise.all([openMap(MAP), openMap(new Blob([MAP]))]);
    await fc.assert(
      fc.asyncProperty(uri, async (each) => {
        expect(await inMemory.lookup(each)).toEqual(await searched.lookup(each));
      }),
    );
  });

  it("ends lookups of many when the loop is left, and with an error in its place", async () => {
    const map = await openMap(file(MAP));
    for await (const { present } of map.lookupMany(
      Array.from({ length: 100 }, () => URIS[0] ?? ""),
    )) {
      expect(present).toBe(true);
      break;
    }
    const controller = new AbortController();
    controller.abort();
    const many = map.lookupMany(URIS, { signal: controller.signal });
    await expect(many.next()).rejects.toMatchObject({ code: "MM_INTERRUPTED" });
    await map.close();
  });
});
