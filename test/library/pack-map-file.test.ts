import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compactMapFile, openMap, type PackFileResult, type PackForm } from "../../src/node.ts";
import { scratchDir } from "../support/scratch.ts";

const MONDAY = "com,a)/ 3\ncom,a)/b 1\n";
const TUESDAY = "com,a)/ 4\ncom,a)/b 1\norg,c)/new 2\n";

function world(): { readonly map: string; readonly at: (name: string) => string } {
  const folder = scratchDir();
  const map = join(folder, "map.ukvs");
  writeFileSync(map, MONDAY);
  return { map, at: (name) => join(folder, name) };
}

function packMapFile(map: string, target: string, pack: PackForm = {}): Promise<PackFileResult> {
  return compactMapFile(map, target, { pack });
}

async function has(path: string, uri: string): Promise<boolean> {
  await using map = await openMap(path);
  return await map.has(uri);
}

describe("compactMapFile, to a packed map,", () => {
  it("packs a map", async () => {
    const { map, at } = world();
    const { summary, position, reason } = await packMapFile(map, at("x.packed"), { bits: 12 });
    expect([summary?.rowsRead, summary?.bits, position, reason]).toEqual([
      2,
      12,
      undefined,
      undefined,
    ]);
    expect(summary?.bytes).toBe(readFileSync(at("x.packed")).length);
    expect(await has(at("x.packed"), "http://a.com/b")).toBe(true);
    expect(await has(at("x.packed"), "http://c.org/new")).toBe(false);
  });

  it("adds what is new behind a base that is the target", async () => {
    const { map, at } = world();
    const base = at("x.packed");
    const first = await packMapFile(map, base, { base });
    expect([first.position, first.reason]).toEqual([undefined, "there is no base yet"]);
    const monday = readFileSync(base);
    const again = await packMapFile(map, base, { base });
    expect([again.summary, readFileSync(base).equals(monday)]).toEqual([undefined, true]);
    writeFileSync(map, TUESDAY);
    expect(await packMapFile(map, base, { base })).toMatchObject({ position: 1 });
    expect(readFileSync(base).subarray(0, monday.length).equals(monday)).toBe(true);
    expect(await has(base, "http://a.com/b")).toBe(true);
    expect(await has(base, "http://c.org/new")).toBe(true);
  });

  it("writes a delta alone where the base is another file", async () => {
    const { map, at } = world();
    await packMapFile(map, at("old.packed"));
    writeFileSync(map, TUESDAY);
    const base = at("old.packed");
    expect(await packMapFile(map, at("delta.packed"), { base })).toMatchObject({ position: 1 });
    await expect(openMap(at("delta.packed"))).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
    const joined = Buffer.concat([base, at("delta.packed")].map((path) => readFileSync(path)));
    writeFileSync(at("new.packed"), joined);
    expect(await has(at("new.packed"), "http://c.org/new")).toBe(true);
  });

  it("packs whole when there are as many deltas as there may be", async () => {
    const { map, at } = world();
    const base = at("x.packed");
    await packMapFile(map, base);
    writeFileSync(map, TUESDAY);
    await packMapFile(map, base, { base, maxDeltas: 1 });
    writeFileSync(map, `${TUESDAY}org,d)/ 1\n`);
    const { position, reason } = await packMapFile(map, base, { base, maxDeltas: 1 });
    expect([position, reason]).toEqual([undefined, "the base has 1 delta, as many as it may have"]);
    expect(await has(base, "http://d.org/")).toBe(true);
  });

  it("leaves nothing behind where it fails", async () => {
    const { map, at } = world();
    writeFileSync(at("notes.txt"), "my notes\n");
    const usage = { code: "MM_USAGE" };
    await expect(packMapFile(map, at("notes.txt"))).rejects.toMatchObject(usage);
    await expect(packMapFile(map, at("x"), { bits: 32 })).rejects.toMatchObject(usage);
    await expect(packMapFile(map, at("x"), { maxDeltas: 0 })).rejects.toMatchObject(usage);
    await expect(packMapFile(map, at("x"), { base: map })).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
    });
    await expect(packMapFile(map, at("x"), { base: at("none") })).rejects.toMatchObject({
      code: "MM_IO",
    });
    expect(readFileSync(at("notes.txt"), "utf8")).toBe("my notes\n");
    expect(existsSync(at("x"))).toBe(false);
  });
});
