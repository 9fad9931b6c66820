import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CachedAnswer,
  type CacheStore,
  MemoryStore,
} from "../../../src/aggregate/upstream/cache-store.ts";
import { DiskStore, openDiskStore } from "../../../src/aggregate/upstream/disk-store.ts";
import { scratchDir } from "../../support/scratch.ts";

const keyOf = (name: string): string => `follow \nhttp://example.com/${name}`;

const answerOf = (body: string, members: Partial<CachedAnswer> = {}): CachedAnswer => ({
  receivedAt: 1_700_000_000_000,
  status: 200,
  url: "http://example.com/",
  headerBlock: "content-type: application/link-format\r\n",
  requestHeaders: {},
  body: Buffer.from(body),
  ...members,
});

const answerFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".answer"))
    .map((name) => join(folder, name));

const textOf = (answer: CachedAnswer | undefined): string | undefined =>
  answer === undefined ? undefined : Buffer.from(answer.body).toString();

const stores: [string, (maxBytes?: number) => Promise<CacheStore & { readonly bytes: number }>][] =
  [
    ["memory", (maxBytes) => Promise.resolve(new MemoryStore({ maxBytes }))],
    ["disk", (maxBytes) => openDiskStore(scratchDir(), { maxBytes })],
  ];

describe.each(stores)("a store in %s", (_name, openStore) => {
  it("gives back what was put, byte for byte", async () => {
    const store = await openStore();
    const field = fc.stringMatching(/^(?:[\u0021-\u007e\u00a1-\u00ff]+(?: [\u0021-\u007e]+)?)?$/);
    const answers = fc.record({
      receivedAt: fc.nat(),
      status: fc.integer({ min: 100, max: 599 }),
      url: fc.oneof(fc.stringMatching(/^[\u0021-\u00ff]+$/), fc.constant("http://example.com/1")),
      headerBlock: fc
        .array(field, { maxLength: 4 })
        .map((values) => values.map((value) => `x-a: ${value}\r\n`).join("")),
      requestHeaders: fc.dictionary(fc.stringMatching(/^[a-z]+$/), field, { maxKeys: 3 }),
      body: fc.uint8Array({ maxLength: 5000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(20), answers, async (number, answer) => {
        store.put(keyOf(String(number)), answer);
        const found = await store.find(keyOf(String(number)));
        expect({ ...found, body: [...(found?.body ?? [])] }).toEqual({
          ...answer,
          requestHeaders: { ...answer.requestHeaders },
          body: [...answer.body],
        });
        expect(await store.find(keyOf(`other ${number}`))).toBeUndefined();
      }),
      { numRuns: 100 },
    );
    store.delete(keyOf("1"));
    expect(await store.find(keyOf("1"))).toBeUndefined();
    await store.close();
  });

  it("stays within its bytes, and keeps the newest", async () => {
    const store = await openStore(1_000_000);
    for (let number = 0; number < 300; number++) {
      store.put(keyOf(String(number)), answerOf(String(number).repeat(3000)));
    }
    if (store instanceof DiskStore) await store.close();
    expect(store.bytes).toBeLessThanOrEqual(1_000_000);
    expect(textOf(await store.find(keyOf("299")))).toBe("299".repeat(3000));
    expect(await store.find(keyOf("0"))).toBeUndefined();
  });

  it("does not give up everything for one long answer", async () => {
    const store = await openStore(1_000_000);
    store.put(keyOf("small"), answerOf("small"));
    store.put(keyOf("long"), answerOf("x".repeat(600_000)));
    expect(await store.find(keyOf("long"))).toBeUndefined();
    expect(textOf(await store.find(keyOf("small")))).toBe("small");
    await store.close();
  });
});

describe("a store in memory", () => {
  it("keeps what is asked for again and again", () => {
    const store = new MemoryStore({ maxBytes: 1_000_000 });
    store.put(keyOf("loved"), answerOf("loved"));
    for (let number = 0; number < 1000; number++) {
      store.put(keyOf(String(number)), answerOf("x".repeat(5000)));
      expect(textOf(store.find(keyOf("loved")))).toBe("loved");
    }
    expect(store.find(keyOf("0"))).toBeUndefined();
    expect(store.bytes).toBeLessThanOrEqual(1_000_000);
  });
});

describe("a store on disk", () => {
  it("is there again after a restart, the oldest going first", async () => {
    const folder = scratchDir();
    const store = await openDiskStore(folder);
    for (const name of ["a", "b", "c"]) store.put(keyOf(name), answerOf(name.repeat(1000)));
    await store.close();
    const old = answerFiles(folder).find((path) => readFileSync(path, "latin1").includes("bbbb"));
    utimesSync(old ?? "", 1, 1);
    const again = await openDiskStore(folder, { maxBytes: 2.5 * 4096 });
    expect(await again.find(keyOf("b"))).toBeUndefined();
    expect(textOf(await again.find(keyOf("a")))).toBe("a".repeat(1000));
    expect(textOf(await again.find(keyOf("c")))).toBe("c".repeat(1000));
    await again.close();
    expect(answerFiles(folder)).toHaveLength(2);
  });

  it("gives nothing of a file that was damaged or cut, wherever", async () => {
    const folder = scratchDir();
    const store = await openDiskStore(folder);
    store.put(keyOf("a"), answerOf("body"));
    await store.close();
    const [path = ""] = answerFiles(folder);
    const sound = readFileSync(path);
    for (let at = 0; at < sound.length; at++) {
      for (const damage of ["cut", "flip"]) {
        const bytes = Buffer.from(sound.subarray(0, damage === "cut" ? at : sound.length));
        if (damage === "flip") bytes[at] ^= 1;
        writeFileSync(path, bytes);
        const opened = await openDiskStore(folder);
        expect(await opened.find(keyOf("a"))).toBeUndefined();
        await opened.close();
        expect(answerFiles(folder)).toEqual([]);
      }
    }
  });

  it("is whole after a kill in the middle of writing", async () => {
    const program = fileURLToPath(new URL("cache-writer.ts", import.meta.url));
    const folder = scratchDir();
    let found = 0;
    for (let turn = 0; turn < 4; turn++) {
      const child = spawn(process.execPath, ["--import", "tsx", program, folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      // A different one is being written each time.
      for await (const line of createInterface(child.stdout)) {
        if (Number(line) >= 60 + turn * 13) break;
      }
      child.kill("SIGKILL");
      await once(child, "exit");
      const store = await openDiskStore(folder);
      for (let number = 0; number < 40; number++) {
        const answer = await store.find(`stay \nhttp://example.com/${number}`);
        if (answer === undefined) continue;
        found += 1;
        const expected = Buffer.alloc(1_000_000, String(number));
        expect(Buffer.compare(answer.body, expected)).toBe(0);
      }
      await store.close();
      const left = readdirSync(folder, { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
    }
    expect(found).toBeGreaterThan(0);
  }, 30_000);

  it("tells of a disk that fails, and goes on", async () => {
    const folder = scratchDir();
    const faults: Error[] = [];
    const store = await openDiskStore(folder, { onError: (error) => faults.push(error) });
    for (let sub = 0; sub < 256; sub++) {
      writeFileSync(join(folder, sub.toString(16).padStart(2, "0")), "in the way");
    }
    store.put(keyOf("a"), answerOf("body"));
    expect(textOf(await store.find(keyOf("a")))).toBe("body");
    await store.close();
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ code: "MM_IO" });
    expect(await store.find(keyOf("a"))).toBeUndefined();
  });

  it("tells of a disk that fails once, and again only when it worked in between", async () => {
    const folder = scratchDir();
    const faults: Error[] = [];
    const store = await openDiskStore(folder, { onError: (error) => faults.push(error) });
    const subFolders = Array.from({ length: 256 }, (_, sub) =>
      join(folder, sub.toString(16).padStart(2, "0")),
    );
    for (const round of [1, 2]) {
      for (const path of subFolders) writeFileSync(path, "in the way");
      for (let i = 0; i < 20; i++) store.put(keyOf(`${round} ${i}`), answerOf("body"));
      await store.close();
      expect(faults).toHaveLength(round);
      for (const path of subFolders) rmSync(path);
      store.put(keyOf("good"), answerOf("kept"));
      await store.close();
      expect(textOf(await store.find(keyOf("good")))).toBe("kept");
      for (const path of subFolders) rmSync(path, { recursive: true, force: true });
    }
  });

  it("cannot be opened where there is a file", async () => {
    const path = join(scratchDir(), "file");
    writeFileSync(path, "");
    await expect(openDiskStore(path)).rejects.toMatchObject({ code: "MM_IO" });
  });
});

describe("a store in memory", () => {
  it("hands over what it has, the newest where there is no room for all", () => {
    // Few and large ones: of many small ones, the index may forget some, others in each store.
    const pad = "x".repeat(1000);
    const from = new MemoryStore({ maxBytes: 64 * 1024 });
    for (let number = 0; number < 60; number++) {
      from.put(keyOf(String(number % 30)), answerOf(`answer ${number} ${pad}`));
    }
    const slabs = structuredClone(from.dump());
    const same = new MemoryStore({ maxBytes: 64 * 1024 });
    const small = new MemoryStore({ maxBytes: 16 * 1024 });
    for (const store of [same, small]) store.restore(slabs);
    for (let number = 0; number < 30; number++) {
      const text = `answer ${number + 30} ${pad}`;
      expect(textOf(from.find(keyOf(String(number))))).toBe(text);
      expect(textOf(same.find(keyOf(String(number))))).toBe(text);
    }
    expect(textOf(small.find(keyOf("29")))).toBe(`answer 59 ${pad}`);
    expect(small.find(keyOf("0"))).toBeUndefined();
    expect(small.bytes).toBeLessThanOrEqual(16 * 1024);
  });
});
