import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compactMapFile, openMap, type PackForm, type PackSummary } from "../../src/node.ts";
import { scratchDir } from "../support/scratch.ts";

const MAP = "com,a)/ 3\ncom,a)/b 1\n";

function world(): { readonly map: string; readonly at: (name: string) => string } {
  const folder = scratchDir();
  const map = join(folder, "map.ukvs");
  writeFileSync(map, MAP);
  return { map, at: (name) => join(folder, name) };
}

function packMapFile(map: string, target: string, pack: PackForm = {}): Promise<PackSummary> {
  return compactMapFile(map, target, { pack });
}

async function has(path: string, uri: string): Promise<boolean> {
  await using map = await openMap(path);
  return await map.has(uri);
}

describe("compactMapFile, to a packed map,", () => {
  it("packs a map", async () => {
    const { map, at } = world();
    const { rowsRead, bits, bytes } = await packMapFile(map, at("x.packed"), { bits: 12 });
    expect([rowsRead, bits]).toEqual([2, 12]);
    expect(bytes).toBe(readFileSync(at("x.packed")).length);
    expect(await has(at("x.packed"), "http://a.com/b")).toBe(true);
    expect(await has(at("x.packed"), "http://c.org/new")).toBe(false);
  });

  it("leaves nothing behind where it fails", async () => {
    const { map, at } = world();
    writeFileSync(at("notes.txt"), "my notes\n");
    const usage = { code: "MM_USAGE" };
    await expect(packMapFile(map, at("notes.txt"))).rejects.toMatchObject(usage);
    await expect(packMapFile(map, at("x"), { bits: 32 })).rejects.toMatchObject(usage);
    await expect(packMapFile(at("none"), at("x"))).rejects.toMatchObject({ code: "MM_IO" });
    expect(readFileSync(at("notes.txt"), "utf8")).toBe("my notes\n");
    expect(existsSync(at("x"))).toBe(false);
  });
});
