import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MapComparison } from "../../../src/maps/compare/comparison.ts";
import type { MapSlice } from "../../../src/maps/explore/map-slice.ts";
import type { PackedHoldings } from "../../../src/maps/explore/packed-holdings.ts";
import { aggregating, type LocalArchive, plainArchive } from "../../support/aggregating.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { scratchDir } from "../../support/scratch.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const MAPS: Readonly<Record<string, string>> = {
  large: `${HEAD}com,a)/ 5\ncom,a)/news/* 20\ncom,c)/ 1\norg,d,* 9\n`,
  small: `${HEAD}com,a)/ 3\ncom,b)/ 1\n`,
};

/** An aggregator with two maps in text, a packed one, and an archive without a map. */
async function serving(): Promise<{ url: string; paths: Readonly<Record<string, string>> }> {
  const folder = scratchDir();
  const paths: Record<string, string> = {};
  const archives: LocalArchive[] = [await plainArchive("none", [])];
  for (const id of ["large", "small", "packed"]) {
    const own = await plainArchive(id, []);
    paths[id] = join(folder, `${id}.ukvs`);
    writeFileSync(paths[id], MAPS[id] ?? (await packedBytes(MAPS["large"])));
    archives.push({ ...own, archive: { ...own.archive, mementomap: paths[id] } });
  }
  const { url } = await aggregating(archives);
  return { url, paths };
}

describe("the maps that an aggregator goes by", () => {
  it("are explored part by part, with a tag for each version", async () => {
    const { url } = await serving();
    const response = await fetch(`${url}/explore?map=large`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("vary")).toContain("Accept");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const slice = (await response.json()) as MapSlice & { map: string };
    expect(slice).toMatchObject({ map: "large", form: "text", rows: 4, captures: 35 });
    expect(slice.children.map(({ prefix, captures }) => [prefix, captures])).toEqual([
      ["com,", 26],
      ["org,", 9],
    ]);
    // Without a name, the first archive that has a map.
    expect(await (await fetch(`${url}/explore`)).json()).toEqual(slice);
    const below = await fetch(`${url}/explore?map=large&prefix=com,a)/`);
    expect(await below.json()).toMatchObject({ rows: 2, captures: 25 });
    const etag = response.headers.get("etag") ?? "";
    const again = await fetch(`${url}/explore?map=large`, { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
    const head = await fetch(`${url}/explore?map=large`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);

    const packed = (await (await fetch(`${url}/explore?map=packed`)).json()) as PackedHoldings;
    expect(packed).toMatchObject({ form: "packed", rows: 4 });
  });

  it("are compared", async () => {
    const { url } = await serving();
    const found = (await (await fetch(`${url}/compare`)).json()) as MapComparison;
    expect(found.maps).toMatchObject([
      { id: "large", rows: 4, captures: 35 },
      { id: "small", rows: 2, captures: 4 },
    ]);
    const packed = await fetch(`${url}/compare?map=large&map=packed`);
    expect([packed.status, await packed.text()]).toEqual([
      400,
      expect.stringContaining("packed is a packed map"),
    ]);
  });

  it("are named to the page, and refused by name where they are not there", async () => {
    const { url } = await serving();
    for (const path of ["/", "/explore", "/compare", "/time", "/about"]) {
      const page = await fetch(`${url}${path}`, { headers: { Accept: "text/html" } });
      expect(page.headers.get("content-type")).toContain("text/html");
      const text = await page.text();
      for (const id of ["large", "small", "packed"]) expect(text).toContain(`"id":"${id}"`);
    }
    for (const [query, status] of [
      ["explore?map=none", 404],
      ["explore?map=large&prefix=net,", 404],
      ["explore?map=large&limit=0", 400],
      ["explore?map=large&what=1", 400],
      ["compare?map=large&map=none", 404],
    ] as const) {
      const refused = await fetch(`${url}/${query}`);
      expect([query, refused.status]).toEqual([query, status]);
      expect(refused.headers.get("content-type")).toBe("application/problem+json");
    }
  });

  it("do not keep others waiting while a large one is read", async () => {
    const rows = Array.from({ length: 400_000 }, (_, i) => `com,a${i})/ 1`).sort();
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, `${HEAD}${rows.join("\n")}\n`);
    const own = await plainArchive("big", []);
    const { url } = await aggregating([{ ...own, archive: { ...own.archive, mementomap: path } }]);
    await fetch(`${url}/health`);
    let isDone = false;
    const exploring = fetch(`${url}/explore?map=big`).then((response) => {
      isDone = true;
      return response.json() as Promise<MapSlice>;
    });
    let answered = 0;
    while (!isDone) {
      await fetch(`${url}/health`);
      answered += 1;
    }
    expect(await exploring).toMatchObject({ rows: 400_000 });
    expect(answered).toBeGreaterThan(3);
  });
});
