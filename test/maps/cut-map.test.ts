import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import { BudgetCompaction } from "../../src/compact/budget-compaction.ts";
import { openRemoteMap } from "../../src/publish/fetch/remote-map.ts";
import { isMementoMapError, MementoMapError } from "../../src/errors.ts";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import type { SourceLookup } from "../../src/lookup/map-lookup.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { surveyMap } from "../../src/maps/map-survey.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import { openMapFile } from "../../src/lookup/open-map-file.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { readMap } from "../../src/aggregate/route/read-map.ts";
import { readUkvs } from "../../src/ukvs/reader.ts";
import { collected, encode, mapText, mergedWith } from "./map-files.ts";
import { type Row, rows } from "../lookup/map-arbitraries.ts";
import { fileServer } from "../support/file-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sized } from "../support/sized-map.ts";

const HEADERS = ['!fields {"keys":["surt"],"values":["frequency"]}', '!meta {"type":"MementoMap"}'];
const STREAMS = { stdin: Readable.from([]), stdout: new Writable() };

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await collected(chunks));
}

function plainBytes(stored: Uint8Array): Promise<Uint8Array> {
  return joined(decompressed(Readable.from([stored]), { source: "map" }));
}

/** Every way to read a map; each gives what can be asked, or refuses. */
const DOORS: Record<
  string,
  (map: Uint8Array) => Promise<Pick<SourceLookup, "lookup" | "lookupSurt">>
> = {
  search: (map) => MapSearch.open(new MemorySource(map), { blockBytes: 16 }),
  index: async (map) => MemoryIndex.build(map),
  async reader(map) {
    const reader = await readUkvs([map]);
    await collected(reader.records());
    return MemoryIndex.build(map);
  },
  async survey(map) {
    await surveyMap(new MemorySource(map));
    return MapSearch.open(new MemorySource(map));
  },
  async validate(map) {
    for await (const { message } of validateMap([map], { isOnlyErrors: true })) {
      throw new MementoMapError("MM_BAD_INPUT", message);
    }
    return MapSearch.open(new MemorySource(map));
  },
  merge: async (map) =>
    MemoryIndex.build(encode(await mergedWith({}, Buffer.from(map).toString("latin1")))),
  compact: async (map) =>
    MemoryIndex.build(
      await joined(compactMap([map], { hostWeight: Infinity, pathWeight: Infinity })),
    ),
  async budget(map) {
    const read = async function* read(): AsyncGenerator<Uint8Array> {
      yield map;
    };
    const compaction = await BudgetCompaction.survey(read);
    return MemoryIndex.build(await joined(compaction.write(compaction.plan(Infinity))));
  },
  gunzipped: async (map) => MemoryIndex.build(await plainBytes(gzipSync(map))),
};

const isVoid = ({ frequency }: Row): boolean => frequency.startsWith("0");

describe("a map that was cut", () => {
  it.each(Object.keys(DOORS))("is refused, or answers as the whole map does: %s", async (name) => {
    const open = DOORS[name] ?? DOORS["index"];
    await fc.assert(
      fc.asyncProperty(
        rows.filter((list) => list.every(({ key }) => !key.includes("*") && !key.includes("?"))),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        async (content, share) => {
          const whole = encode(sized(mapText(content, HEADERS)));
          const map = whole.subarray(0, Math.floor(share * whole.length));
          const found = await open(map).catch((error: unknown) => {
            if (isMementoMapError(error)) return undefined;
            throw error;
          });
          for (const row of found === undefined ? [] : content.filter((r) => !isVoid(r))) {
            expect(await found?.lookupSurt(row.key)).toMatchObject({ present: true });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is refused at every byte, plain or compressed, by what opens files", async () => {
    const folder = scratchDir();
    const whole = Buffer.from(sized("!meta {}\ncom,a)/ 1\ncom,b)/ 12\norg,c)/ 7\n"));
    const zipped = gzipSync(whole);
    const path = join(folder, "map");
    const opened = async (bytes: Uint8Array): Promise<string[]> => {
      writeFileSync(path, bytes);
      const codes: string[] = [];
      for (const open of [
        () => openMapFile(path, STREAMS, { forMany: false }),
        () => openMapFile(path, STREAMS, { forMany: true }),
        () => readMap(path),
      ]) {
        const code = await open().then(
          async (map) => {
            if ("close" in map) await map.close();
            return "fine";
          },
          (error: unknown) => (isMementoMapError(error) ? error.code : String(error)),
        );
        codes.push(code);
      }
      return codes;
    };
    expect(await opened(whole)).toEqual(["fine", "fine", "fine"]);
    expect(await opened(zipped)).toEqual(["fine", "fine", "fine"]);
    for (let end = 0; end < whole.length; end += 1) {
      for (const code of await opened(whole.subarray(0, end))) expect(code).toMatch(/^MM_/);
    }
    for (let end = 0; end < zipped.length; end += 7) {
      for (const code of await opened(zipped.subarray(0, end))) expect(code).toMatch(/^MM_/);
    }
  });

  it("is refused by commands, which write nothing", async () => {
    const folder = scratchDir();
    const [map, out] = [join(folder, "map.ukvs"), join(folder, "out.ukvs")];
    const whole = sized("!meta {}\ncom,a)/ 1\ncom,b)/ 12\norg,c)/ 7\n");
    // At the end of a line: without the header it would look whole.
    writeFileSync(map, whole.slice(0, whole.indexOf("org,c)/")));
    for (const argv of [
      ["compact", map, "-o", out],
      ["compact", "--max-lines", "3", map, "-o", out],
      ["merge", map, "-o", out],
      ["split", map, "--pages", "2", "-o", out],
      ["lookup", map, "http://a.com/"],
      ["lookup", map, "--batch", map],
      ["diff", map, map],
      ["fit", map],
    ]) {
      const result = await runCli(argv);
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("[MM_CUT]");
      expect(existsSync(out)).toBe(false);
    }
    const stored = readFileSync(map);
    const index = join(folder, "a.cdxj");
    writeFileSync(index, 'com,a)/ 20140101000000 {"url":"http://a.com/"}\n');
    for (const content of [stored, gzipSync(stored)]) {
      const added = join(folder, "added");
      writeFileSync(added, content);
      for (const indexes of [[], [index]]) {
        const argv = ["generate", "--threads", "1", ...indexes, "--add", added, "-o", out];
        const result = await runCli(argv, { stdin: readFileSync(index) });
        expect(result).toMatchObject({ code: 2, stdout: "" });
        expect(result.stderr).toContain("[MM_CUT]");
        expect(existsSync(out)).toBe(false);
      }
    }
    const validated = await runCli(["validate", map]);
    expect(validated.code).toBe(1);
    expect(validated.stdout).toMatch(
      /cut short.*states 31 bytes and 3 records, found 21 bytes and 2 records/,
    );
  });
});

describe("a map that was cut on its server", () => {
  it("is refused at every byte by lookups over HTTP, whatever is asked", async () => {
    const whole = Buffer.from(sized("!meta {}\ncom,a)/ 1\ncom,b)/ 12\norg,c)/ 7\n"));
    const { url, files } = await fileServer([["/map.ukvs", whole]]);
    const client = new NodeClient({ allowsPrivate: true });
    onTestFinished(() => client.close());
    const found = async (uri: string): Promise<unknown> => {
      const { lookup: search } = await openRemoteMap(client, `${url}/map.ukvs`);
      return (await search.lookup(uri)).present;
    };
    expect(await found("http://c.org/")).toBe(true);
    expect(await found("http://d.org/")).toBe(false);
    for (let end = 1; end < whole.length; end += 1) {
      files.set("/map.ukvs", whole.subarray(0, end));
      for (const uri of ["http://a.com/", "http://c.org/", "http://d.org/"]) {
        await expect(found(uri)).rejects.toThrow(
          expect.objectContaining({ code: expect.stringMatching(/^MM_/) }),
        );
      }
    }
  });

  it("is refused by fetch --lookup and by fetch, which writes nothing", async () => {
    const whole = Buffer.from(sized("!meta {}\ncom,a)/ 1\ncom,b)/ 12\norg,c)/ 7\n"));
    const cut = whole.subarray(0, whole.indexOf("org,c)"));
    const { url } = await fileServer([["/map.ukvs", cut]]);
    const target = join(scratchDir(), "map.ukvs");
    const options = ["--direct", "--allow-private"];
    for (const more of [
      ["--lookup", "http://a.com/"],
      ["-o", target],
    ]) {
      const result = await runCli(["fetch", `${url}/map.ukvs`, ...options, ...more]);
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("the map is cut short");
      expect(existsSync(target)).toBe(false);
    }
  });
});

describe("what streams a map", () => {
  it("never copies the size that its input stated", async () => {
    const rows = "com,a)/ 1\ncom,b)/ 12\norg,c)/ 7\n";
    const map = sized(`!meta {}\n${rows}`);
    const rolledUp = await joined(compactMap([encode(map)], { hostWeight: 0, pathWeight: 0 }));
    const merged = await mergedWith({}, map, sized("!meta {}\nnet,d)/ 1\n"));
    for (const text of [Buffer.from(rolledUp).toString(), merged]) {
      expect(text).not.toContain("!size");
      expect(MemoryIndex.build(encode(text)).keyCount).toBeGreaterThan(0);
    }
  });
});

describe("what writes a map", () => {
  it("states its size in plain files, in gzip and zstd, and on standard output", async () => {
    const folder = scratchDir();
    const index = join(folder, "a.cdxj");
    const lines = Array.from(
      { length: 500 },
      (_, i) => `com,a)/${String(i).padStart(4, "0")} 2014 {}\n`,
    );
    writeFileSync(index, lines.join(""));
    const env = { SOURCE_DATE_EPOCH: "0" };
    const { stdout } = await runCli(["generate", "-q", "--threads", "1", index], { env });
    expect(stdout).toBe(sized(stdout.replace(/^!size .*\n/m, "")));
    const zstd = "zstd" in process.versions ? ["map.ukvs.zst"] : [];
    for (const name of ["map.ukvs", "map.ukvs.gz", ...zstd]) {
      const path = join(folder, name);
      await runCli(["generate", "-q", "--threads", "1", index, "-o", path], { env });
      expect(Buffer.from(await plainBytes(readFileSync(path))).toString()).toBe(stdout);
    }
    // In one member, for readers that stop at its end.
    expect(gunzipSync(readFileSync(join(folder, "map.ukvs.gz"))).toString()).toBe(stdout);
  });
});
