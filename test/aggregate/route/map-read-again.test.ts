import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { MapKeeper } from "../../../src/aggregate/route/map-keeper.ts";
import { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import { archivesOf, shown } from "./routing.ts";
import { scratchDir } from "../../support/scratch.ts";

/** How many reads fail for want of open files. */
let failures = 0;

vi.mock(import("node:fs/promises"), async (original) => {
  const module = await original();
  const readFile = ((path: string, ...more: []) => {
    if (!path.endsWith("/a.ukvs") || --failures < 0) return module.readFile(path, ...more);
    const error = new Error(`EMFILE: too many open files, open '${path}'`);
    return Promise.reject(Object.assign(error, { code: "EMFILE" }));
  }) as typeof module.readFile;
  return { ...module, readFile };
});

/**
 * A service that was out of open files when a map changed noted the version as refused, and never
 * read it; a map that had been fetched was even removed.
 */
it("reads a map that could not be read, though its file did not change since", async () => {
  const folder = scratchDir();
  const path = join(folder, "a.ukvs");
  writeFileSync(path, "org,arxiv)/* 3\n");
  for (const mementomap of [path, "http://127.0.0.1:1/map"]) {
    failures = 1;
    const router = new MapRouter(archivesOf({ a: { mementomap } }), { sampleShare: 0 });
    const keeper = new MapKeeper(router, { folder, fetch: { retries: 0 } });
    onTestFinished(() => keeper.stop());
    await keeper.start();
    expect(failures).toBe(0);
    expect(shown(router.route({ uri: "http://arxiv.org/" }))).toBe("+a no-map");
    expect(existsSync(path)).toBe(true);
    await keeper.check();
    expect(shown(router.route({ uri: "http://arxiv.org/" }))).toBe("+a in-map");
    await keeper.stop();
  }
});
