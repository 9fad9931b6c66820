import { join } from "node:path";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Aggregator } from "../../src/aggregate/aggregator.ts";
import { MapRouter } from "../../src/aggregate/route/map-router.ts";
import { type ByteSource, MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";
import { FileSource } from "../../src/files/input-file.ts";
import { FetchClient } from "../../src/http/http-client.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { pageSource, planPages } from "../../src/maps/split-map.ts";
import { surveyMap } from "../../src/maps/map-survey.ts";
import {
  analyzeFiles,
  checkPublisher,
  compact,
  compactMapFile,
  createRouter,
  diff,
  discoverMap,
  evaluateMapFiles,
  fetchMap,
  FreshMap,
  generate,
  generateMapFile,
  harvestIndex,
  loadArchives,
  merge,
  openMap,
  readTimeMap,
  readUkvs,
  sampleSearch,
  validate,
} from "../../src/node.ts";
import * as web from "../../src/index.ts";
import { HttpSource } from "../../src/publish/fetch/http-source.ts";
import { folderWith } from "../support/folder-with.ts";
import { scriptedUpstream } from "../support/scripted-upstream.ts";
import { archive } from "../support/sessions.ts";

const encoder = new TextEncoder();
const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const MAP = `${HEAD}com,a)/ 1\ncom,b)/ 2\ncom,c)/ 3\n`;
const CDXJ = 'com,a)/ 20150101000000 {"url": "http://a.com/", "status": "200"}\n';

let folder = "";
let origin = "";
/** Answers never; tells that a request has come. */
let onRequest: () => void = () => undefined;
const server = createServer(() => {
  onRequest();
});

beforeEach(() => {
  folder = folderWith({ "map.ukvs": MAP, "index.cdxj": CDXJ, "uris.txt": "http://a.com/\n" });
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (name: string): string => join(folder, name);

/** Lines of a text, each but the last behind a pause in which `reached` is called. */
async function* slowly(text: string, reached: () => void): AsyncGenerator<Uint8Array> {
  for (const line of text.split(/(?<=\n)/)) {
    yield encoder.encode(line);
    reached();
    await Promise.resolve();
  }
}

function slowSource(text: string, reached: () => void): ByteSource {
  const memory = new MemorySource(encoder.encode(text), "slow");
  return {
    name: memory.name,
    size: memory.size,
    async read(offset, length) {
      const bytes = await memory.read(offset, length);
      reached();
      return bytes;
    },
  };
}

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

const never = (): Promise<undefined> => new Promise(() => undefined);

type Run = (signal: AbortSignal, reached: () => void) => Promise<unknown>;

/** Of bytes: `reached` is called when the first of several is read. */
const OF_STREAMS: Readonly<Record<string, Run>> = {
  readUkvs: async (signal, reached) =>
    drain((await readUkvs(slowly(MAP, reached), { signal })).records()),
  openMap: (signal, reached) => openMap(slowly(MAP, reached), { signal }),
  generate: (signal, reached) => generate([slowly(CDXJ, reached)], { signal }).bytes(),
  compact: (signal, reached) => compact(slowly(MAP, reached), { signal }).bytes(),
  merge: (signal, reached) => merge([slowly(MAP, reached)], { signal }).bytes(),
  diff: async (signal, reached) =>
    drain((await diff(slowly(MAP, reached), slowly(MAP, reached), { signal })).records),
  validate: (signal, reached) => drain(validate(slowly(MAP, reached), { signal })),
  createRouter: (signal, reached) =>
    createRouter([archive("a")], { maps: { a: slowly(MAP, reached) }, signal }),
  readTimeMap: (signal, reached) => readTimeMap(slowly(MAP, reached), { signal }),
  surveyMap: (signal, reached) => surveyMap(slowSource(MAP, reached), { signal }),
  planPages: (signal, reached) => planPages(slowSource(MAP, reached), { pages: 2 }, { signal }),
  "MapSearch.open": (signal, reached) =>
    MapSearch.open(slowSource(MAP, reached), { signal, blockBytes: 16 }),
};

/** Of the Web: `reached` is called when a request comes, which nobody answers. */
const OF_SERVERS: Readonly<Record<string, Run>> = {
  "HttpSource.open by FetchClient": (signal) => HttpSource.open(new FetchClient(), origin, signal),
  "HttpSource.open by NodeClient": (signal) =>
    HttpSource.open(new NodeClient(TRUSTED()), origin, signal),
  "openMap by FetchClient": (signal) => web.openMap(origin, { signal }),
  "openMap by NodeClient": (signal) => openMap(origin, { signal }),
  "openMap by NodeClient, in memory": (signal) => openMap(origin, { signal, inMemory: true }),
  "discoverMap by FetchClient": (signal) => web.discoverMap(origin, { signal }),
  "discoverMap by NodeClient": (signal) => discoverMap(origin, { signal }),
  checkPublisher: (signal) => drain(checkPublisher(origin, { signal })),
  fetchMap: (signal) => fetchMap(origin, at("fetched.ukvs"), { signal }),
  "fetchMap of an address": (signal) => fetchMap(origin, at("f.ukvs"), { signal, isDirect: true }),
  FreshMap: (signal) => new FreshMap(origin, at("fresh.ukvs"), { signal }).start(),
  harvestIndex: (signal) =>
    harvestIndex(`${origin}/cdx`, [{ url: "a.com", match: "domain" }], at("h.cdxj"), {
      signal,
    }),
  sampleSearch: (signal) =>
    sampleSearch(`${origin}/search`, at("s.cdxj"), { signal, words: ["a"] }),
  loadArchives: (signal) => loadArchives(`${origin}/archives.json`, { signal }),
};
const TRUSTED = (): { trustedOrigins: string[] } => ({ trustedOrigins: [origin] });

/** Of files; nothing tells how far they are. */
const OF_FILES: Readonly<Record<string, Run>> = {
  "openMap of a file": (signal) => openMap(at("map.ukvs"), { signal }),
  "openMap of a file in memory": (signal) => openMap(at("map.ukvs"), { signal, inMemory: true }),
  "FileSource.read": async (signal) => {
    const source = await FileSource.open(at("map.ukvs"));
    try {
      await source.read(0, 10, signal);
    } finally {
      await source.close();
    }
  },
  generateMapFile: (signal) => generateMapFile([at("index.cdxj")], at("out.ukvs"), { signal }),
  compactMapFile: (signal) => compactMapFile(at("map.ukvs"), at("out.ukvs"), { signal }),
  "compactMapFile to a budget": (signal) =>
    compactMapFile(at("map.ukvs"), at("out.ukvs"), { signal, budget: { maxLines: 2 } }),
  "compactMapFile to a packed map": (signal) =>
    compactMapFile(at("map.ukvs"), at("out.ukvs"), { signal, pack: {} }),
  evaluateMapFiles: (signal) =>
    evaluateMapFiles([at("map.ukvs")], {
      signal,
      truth: at("map.ukvs"),
      lookups: at("uris.txt"),
    }),
  analyzeFiles: (signal) => analyzeFiles([at("index.cdxj")], { signal }),
};

const OTHERS: Readonly<Record<string, Run>> = {
  Aggregator: (signal, reached) => {
    const { upstream } = scriptedUpstream(() => {
      reached();
      return never();
    });
    const router = new MapRouter([archive("a")], { isBroadcasting: true });
    return new Aggregator(router, upstream).timeMap({ uri: "http://a.com/", signal });
  },
};

/** What is there already, and is asked. */
const LOOKUPS: Readonly<Record<string, Run>> = {
  "MapSearch.lookup": async (signal) => {
    const search = await MapSearch.open(new MemorySource(encoder.encode(MAP)));
    await search.lookup("http://a.com/");
    return search.lookup("http://a.com/", { signal });
  },
  "MapSearch.find": async (signal) => {
    const search = await MapSearch.open(new MemorySource(encoder.encode(MAP)));
    return search.find("com,a)/", { signal });
  },
  "MemoryIndex.lookup": (signal) =>
    MemoryIndex.build(encoder.encode(MAP)).lookup("http://a.com/", { signal }),
  pageSource: async (signal) => {
    const source = new MemorySource(encoder.encode(MAP));
    const plan = await planPages(source, { pages: 2 });
    await drain(sourceChunks(pageSource(source, plan, plan.pages[0]), { signal }));
  },
};

const INTERRUPTED = { name: "MementoMapError", code: "MM_INTERRUPTED" };
const reason = new Error("not wanted any more");

describe("a signal that was aborted before", () => {
  it.each(Object.entries({ ...OF_STREAMS, ...OF_SERVERS, ...OF_FILES, ...OTHERS, ...LOOKUPS }))(
    "ends %s",
    async (_name, run) => {
      const work = run(AbortSignal.abort(reason), () => undefined);
      await expect(work).rejects.toMatchObject({ ...INTERRUPTED, cause: reason });
      expect(existsSync(at("out.ukvs"))).toBe(false);
    },
  );

  it("ends without a reason of its own too", async () => {
    const work = OF_STREAMS["generate"](AbortSignal.abort(), () => undefined);
    await expect(work).rejects.toMatchObject(INTERRUPTED);
  });
});

describe("a signal that is aborted in the middle", () => {
  // Shorter than the 60 s after which an aggregator stops waiting anyway.
  it.each(Object.entries({ ...OF_STREAMS, ...OTHERS }))(
    "ends %s",
    { timeout: 30_000 },
    async (_name, run) => {
      const controller = new AbortController();
      const work = run(controller.signal, () => controller.abort(reason));
      await expect(work).rejects.toMatchObject({ ...INTERRUPTED, cause: reason });
    },
  );

  it.each(Object.entries(OF_SERVERS))("ends %s", async (_name, run) => {
    const controller = new AbortController();
    onRequest = () => controller.abort(reason);
    await expect(run(controller.signal, () => undefined)).rejects.toMatchObject({
      ...INTERRUPTED,
      cause: reason,
    });
  });

  it.each(Object.entries(OF_FILES))("ends %s, and leaves nothing behind", async (_name, run) => {
    const controller = new AbortController();
    const work = run(controller.signal, () => undefined);
    controller.abort(reason);
    await expect(work).rejects.toMatchObject({ ...INTERRUPTED, cause: reason });
    expect(existsSync(at("out.ukvs"))).toBe(false);
  });
});
