import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MementoMapError } from "../../../src/errors.ts";
import {
  mapFolder,
  MapKeeper,
  type MapKeeperOptions,
} from "../../../src/aggregate/route/map-keeper.ts";
import { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import { archivesOf, shown } from "./routing.ts";
import { packedBytes } from "../../pack/packed-bytes.ts";
import { serveOnLoopback } from "../../support/http-server.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const URI = "http://arxiv.org/abs/1";
const HAS = "org,arxiv)/* 3\n";
const HAS_NOT = "com,arxiv)/* 3\n";

interface Kept {
  readonly keeper: MapKeeper;
  readonly failures: MementoMapError[];
  /** `+a in-map` */
  readonly routed: () => string;
  readonly state: () => object | undefined;
}

/** A keeper of the maps of one archive, named `a`. */
function keeping(mementomap: string, options: MapKeeperOptions & { timegate?: string } = {}): Kept {
  const { timegate = "http://a.example/" } = options;
  const archives = archivesOf({ a: { mementomap, timegate } });
  const router = new MapRouter(archives, { sampleShare: 0, now: options.now });
  const failures: MementoMapError[] = [];
  const keeper = new MapKeeper(router, {
    folder: scratchDir(),
    checkEveryMs: 60_000,
    onFailure: (_archive, error) => failures.push(error),
    ...options,
    fetch: { retries: 0, ...options.fetch },
  });
  onTestFinished(() => keeper.stop());
  return {
    keeper,
    failures,
    routed: () => shown(router.route({ uri: URI })),
    state: () => keeper.stateOf(archives[0]),
  };
}

/** A keeper that has the map, or knows that it cannot be had. */
async function started(...args: Parameters<typeof keeping>): Promise<Kept> {
  const kept = keeping(...args);
  await kept.keeper.start();
  await kept.keeper.fetched();
  return kept;
}

describe("MapKeeper, for a file", () => {
  it("reads it, and reads it again when it changes", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, `!meta {"updated_at":"2018-09-03T13:27:52Z"}\n${HAS}`);
    const { keeper, routed, state } = keeping(path);
    expect(state()).toMatchObject({ status: "loading", keys: 0 });
    expect(routed()).toBe("+a no-map");
    await keeper.start();
    expect(routed()).toBe("+a in-map");
    expect(state()).toMatchObject({
      status: "ready",
      keys: 1,
      bytes: 59,
      updatedAt: Date.parse("2018-09-03T13:27:52Z"),
      error: undefined,
    });
    writeFileSync(path, gzipSync(HAS_NOT + HAS.replace("arxiv", "xarxiv")));
    await keeper.check();
    expect(routed()).toBe("-a not-in-map");
    expect(state()).toMatchObject({ keys: 2, updatedAt: undefined });
  });

  it.each([["plain"], ["inside gzip"]])("takes packed maps, %s", async (form) => {
    const path = join(scratchDir(), "a.packed");
    const stored = (file: Uint8Array): Uint8Array => (form === "plain" ? file : gzipSync(file));
    const packed = async (...rows: string[]): Promise<Buffer> =>
      Buffer.from((await packedBytes(rows.join(""))) ?? []);
    const rows = Array.from({ length: 10 }, (_, i) => `org,arxiv)/abs/${i} 3\n`);
    const good = await packed(...rows);
    writeFileSync(path, stored(good));
    const { keeper, failures, routed, state } = await started(path);
    expect(routed()).toBe("+a in-map");
    const ready = { status: "ready", isPacked: true, keys: 10, bytes: good.length };
    expect(state()).toMatchObject(ready);
    const flipped = (at: number): Buffer => {
      const file = Buffer.from(good);
      file[at] ^= 1;
      return file;
    };
    const bad: readonly (readonly [Buffer, string])[] = [
      [good.subarray(0, 16), "MM_CUT"],
      [good.subarray(0, 200), "MM_CUT"],
      [good.subarray(0, -4), "MM_CUT"],
      [flipped(8), "version"],
      [flipped(40), "damaged: header"],
      [flipped(good.length - 1), "damaged: shard"],
      [await packed(...rows.slice(0, 3)), "MM_SHRUNK"],
      [Buffer.from("!meta {}\n"), "MM_EMPTY"],
    ];
    for (const [content, reason] of bad) {
      writeFileSync(path, stored(content));
      await keeper.check();
      expect(`${failures.at(-1)?.describe()} ${failures.at(-1)?.code}`).toContain(reason);
      expect(failures.at(-1)?.describe()).toContain(path);
      expect(routed()).toBe("+a in-map");
      expect(state()).toMatchObject(ready);
    }
    // What a map in text counts cannot be compared with what a packed one does.
    writeFileSync(path, stored(Buffer.from(HAS_NOT)));
    await keeper.check();
    expect(routed()).toBe("-a not-in-map");
    writeFileSync(path, stored(await packed("net,arxiv)/abs/1 3\n")));
    await keeper.check();
    expect(routed()).toBe("-a not-in-map");
    expect(state()).toMatchObject({ status: "ready", isPacked: true, keys: 1, error: undefined });
  });

  it("looks by itself", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, HAS);
    const { routed } = await started(path, { checkEveryMs: 5 });
    writeFileSync(path, `${HAS_NOT}com,b)/ 1\n`);
    await expect.poll(routed).toBe("-a not-in-map");
  });

  it.each([
    ["cut off", HAS.slice(0, -3), "expected 2 columns"],
    ["not sorted", `org,b)/ 1\n${HAS}`, 'key "org,arxiv)/*" comes after "org,b)/"'],
    [
      "of a time that does not exist",
      `!fields {"keys":["surt","datetime"],"values":["frequency"]}\norg,b)/ 201413 1\n`,
      "month",
    ],
    ["no map", "<!doctype html>\n", "MM_BAD_INPUT"],
    ["empty of sense", "\0\0\0\0\n", "MM_BAD_INPUT"],
    ["damaged in its gzip", gzipSync(HAS).subarray(0, 20), "MM_BAD_INPUT"],
  ])("keeps the old map when the new one is %s", async (_name, content, message) => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, HAS);
    const { keeper, failures, routed, state } = await started(path);
    writeFileSync(path, content);
    await keeper.check();
    await keeper.check();
    expect(routed()).toBe("+a in-map");
    expect(state()).toMatchObject({ status: "ready", error: expect.stringContaining(message) });
    expect(failures).toHaveLength(1);
    writeFileSync(path, HAS_NOT);
    await keeper.check();
    expect(routed()).toBe("-a not-in-map");
    expect(state()).toMatchObject({ error: undefined });
  });

  it("asks an archive whose map cannot be read, and tells it once", async () => {
    const path = join(scratchDir(), "a.ukvs");
    const { keeper, failures, routed, state } = await started(path);
    await keeper.check();
    expect(routed()).toBe("+a no-map");
    expect(state()).toMatchObject({ status: "failed", error: expect.stringContaining("MM_IO") });
    expect(failures).toHaveLength(1);
    writeFileSync(path, HAS);
    await keeper.check();
    expect(routed()).toBe("+a in-map");
  });

  it("does not believe an old map where it says absent", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, `!meta {"updated_at":"2018-01-01T00:00:00Z"}\n${HAS_NOT}`);
    let now = Date.parse("2018-01-02T00:00:00Z") - 1;
    const { routed, state } = await started(path, { maxMapAgeMs: 86_400_000, now: () => now });
    expect([routed(), state()]).toEqual([
      "-a not-in-map",
      expect.objectContaining({ status: "ready" }),
    ]);
    now += 1;
    expect([routed(), state()]).toEqual([
      "+a old-map",
      expect.objectContaining({ status: "stale" }),
    ]);
  });
});

describe("MapKeeper, for an address", () => {
  it.each([
    ["of a map", (url: string) => ({ map: `${url}/maps/map` })],
    ["of an archive", (url: string) => ({ map: `${url}/` })],
    ["of a TimeGate", (url: string) => ({ map: "auto", timegate: `${url}/wayback/` })],
  ])("fetches the map: %s", async (_name, placeAt) => {
    const { url } = await serving(EXAMPLE_MAP);
    const { map, ...more } = { timegate: "http://a.example/", ...placeAt(url) };
    const folder = join(scratchDir(), "new", "folder");
    const { failures, routed, state } = await started(map, { ...more, folder });
    expect(failures).toEqual([]);
    expect(routed()).toBe("+a in-map");
    expect(state()).toMatchObject({ status: "ready", keys: 6, bytes: EXAMPLE_MAP.length });
    expect(readdirSync(folder)).toContain("a.ukvs");
  });

  it("takes the map of an earlier run at once, and stays with it while the archive is away", async () => {
    const folder = scratchDir();
    writeFileSync(join(folder, "a.ukvs"), HAS);
    const site = await serveOnLoopback((_url, response) => {
      response.statusCode = 503;
      response.end();
    });
    const { keeper, failures, routed, state } = keeping(`${site}/map`, { folder });
    await keeper.start();
    expect(routed()).toBe("+a in-map");
    await keeper.fetched();
    expect(routed()).toBe("+a in-map");
    expect(state()).toMatchObject({ status: "ready", error: expect.stringContaining("503") });
    expect(failures).toHaveLength(1);
  });

  it("follows a packed map that changes", async () => {
    const packed = async (text: string): Promise<Uint8Array> =>
      (await packedBytes(text, { bits: 20 })) ?? new Uint8Array(0);
    let file = await packed(HAS_NOT);
    const site = await serving(file);
    const { keeper, failures, routed, state } = await started(site.url);
    expect(routed()).toBe("-a not-in-map");
    file = await packed(`${HAS_NOT}${HAS}`);
    writeFileSync(site.path, file);
    await site.publisher.reload();
    await keeper.refresh();
    expect(routed()).toBe("+a in-map");
    expect(state()).toMatchObject({ isPacked: true, keys: 0, bytes: file.length });
    writeFileSync(site.path, await packed(`${HAS_NOT}com,c)/* 1\n`));
    await site.publisher.reload();
    await keeper.refresh();
    expect(routed()).toBe("-a not-in-map");
    expect(failures).toEqual([]);
  });

  it("does not take a map that came from another address before", async () => {
    const folder = scratchDir();
    const { url } = await serving(EXAMPLE_MAP);
    const first = await started(`${url}/maps/map`, { folder });
    expect(first.routed()).toBe("+a in-map");
    const away = await serveOnLoopback((_url, response) => {
      response.statusCode = 503;
      response.end();
    });
    const second = await started(`${away}/map`, { folder });
    expect(second.routed()).toBe("+a no-map");
  });

  it("takes maps that another process fetches into the folder, and asks no archive itself", async () => {
    const folder = scratchDir();
    let requests = 0;
    const old = EXAMPLE_MAP.replace("2018-09-03", "2008-09-03");
    const site = await serveOnLoopback((_url, response) => {
      requests += 1;
      response.end(old);
    });
    const options = { folder, maxMapAgeMs: 86_400_000 };
    const follower = await started(`${site}/map`, { ...options, isFetching: false });
    await follower.keeper.refresh();
    expect(follower.state()).toMatchObject({ status: "loading", error: undefined });
    expect(requests).toBe(0);
    const fetcher = await started(`${site}/map`, options);
    await follower.keeper.check();
    expect(fetcher.state()).toMatchObject({ status: "ready", keys: 6 });
    // The map is old, but the archive has just said that it is the one to go by.
    expect(follower.state()).toMatchObject({ status: "ready", keys: 6 });
    expect(follower.routed()).toBe("+a in-map");
  });

  it("asks an archive whose map is refused", async () => {
    const site = await serveOnLoopback((_url, response) => {
      response.end("!meta {}\norg,arxiv)/* many\n");
    });
    const { routed, state } = await started(`${site}/map`);
    expect(routed()).toBe("+a no-map");
    expect(state()).toMatchObject({ status: "failed", error: expect.stringContaining("many") });
  });

  it("fetches again what the disk has spoilt", async () => {
    const { url } = await serving(EXAMPLE_MAP);
    const folder = scratchDir();
    const first = await started(`${url}/`, { folder });
    await first.keeper.stop();
    writeFileSync(join(folder, "a.ukvs"), EXAMPLE_MAP.replaceAll("*", "\0"));
    const second = keeping(`${url}/`, { folder });
    await second.keeper.start();
    expect(second.routed()).toBe("+a no-map");
    await second.keeper.fetched();
    expect(second.routed()).toBe("+a in-map");
    expect(second.state()).toMatchObject({ error: undefined });
  });

  it("tells when there is no place to keep maps", async () => {
    const file = join(scratchDir(), "file");
    writeFileSync(file, "");
    const { keeper } = keeping("http://a.example/map", { folder: join(file, "maps") });
    await expect(keeper.start()).rejects.toMatchObject({ code: "MM_IO" });
  });
});

describe("mapFolder", () => {
  it("is in the folder for what can be had again", () => {
    expect(mapFolder({ XDG_CACHE_HOME: "/var/cache" })).toBe("/var/cache/mementomap/maps");
    expect(mapFolder({})).toMatch(/[\\/]\.cache[\\/]mementomap[\\/]maps$/);
  });
});

describe("MapKeeper, when something happens that should not", () => {
  it("logs it, keeps the maps in use, and goes on", async () => {
    const path = join(scratchDir(), "a.ukvs");
    writeFileSync(path, HAS);
    const faults: string[] = [];
    let isBroken = false;
    const { routed } = await started(path, {
      checkEveryMs: 5,
      onFault: (error) => faults.push(error.message),
      onFailure: () => {
        if (isBroken) throw new TypeError("a fault in a timer");
      },
    });
    isBroken = true;
    writeFileSync(path, "not a map");
    await expect.poll(() => faults.join()).toContain("a fault in a timer");
    isBroken = false;
    expect(routed()).toBe("+a in-map");
    writeFileSync(path, "com,arxiv)/* 3\norg,c)/ 1\n");
    await expect.poll(routed).toBe("-a not-in-map");
  });
});

describe("MapKeeper, with little memory", () => {
  const PADDED = `${HAS}org,arxiv)/${"a".repeat(50_000)} 1\n`;

  it("goes without a map that does not fit, as plain text or compressed", async () => {
    for (const bytes of [PADDED, gzipSync(PADDED)]) {
      const path = join(scratchDir(), "a.ukvs");
      writeFileSync(path, bytes);
      const { routed, failures } = await started(path, { maxMemoryBytes: 40_000 });
      expect(routed()).toBe("+a no-map");
      expect(failures.map(({ code }) => code)).toEqual(["MM_LIMIT"]);
    }
  });

  it("fetches none of more than a quarter of it, decompressed", async () => {
    const { url } = await serving(PADDED);
    for (const [maxMemoryBytes, expected] of [
      [100_000, "+a no-map"],
      [400_000, "+a in-map"],
    ] as const) {
      const { routed } = await started(url, { maxMemoryBytes });
      expect(routed()).toBe(expected);
    }
  });
});
