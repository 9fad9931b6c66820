import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import type { MapComparison } from "../../../src/maps/compare/comparison.ts";
import { createPublisher } from "../../../src/publish/serve/publisher.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { scratchDir } from "../../support/scratch.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';

async function servingAll(maps: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = scratchDir();
  const files = Object.entries(maps).map(([id, text]) => {
    const path = join(folder, `${id}.ukvs`);
    writeFileSync(path, text);
    return { id, path };
  });
  const publisher = await createPublisher(files, { reloadEveryMs: 0, maxAgeSeconds: 7 });
  const server = await listen(publisher, { port: 0 });
  onTestFinished(async () => {
    await server.stop();
    await publisher.close();
  });
  return server.url;
}

const OLD = `${HEAD}com,a)/ 3\ncom,b)/ 1\n`;
const NEW = `${HEAD}com,a)/ 5\ncom,c)/ 1\norg,d,* 9\n`;

describe("GET /compare", () => {
  it("tells what maps have in common, and what only one holds", async () => {
    const url = await servingAll({ old: OLD, new: NEW });
    const response = await fetch(`${url}/compare`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=7");
    const found = (await response.json()) as MapComparison;
    expect(found.maps).toMatchObject([
      { id: "old", rows: 2, captures: 4, domains: 2 },
      { id: "new", rows: 3, captures: 15, domains: 3, tlds: 2 },
    ]);
    expect(found.keys).toEqual({
      count: 3,
      combinations: [
        { held: ["old", "new"], may: [], count: 1, differing: 1, captures: [3, 5] },
        { held: ["old"], may: [], count: 1, differing: 0, captures: [1, 0] },
        { held: ["new"], may: [], count: 1, differing: 0, captures: [0, 1] },
      ],
    });
    const etag = response.headers.get("etag") ?? "";
    const again = await fetch(`${url}/compare`, { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("compares those that are asked for, in their order, and answers all who ask at once", async () => {
    const url = await servingAll({ old: OLD, new: NEW, other: `${HEAD}net,x)/ 1\n` });
    const ask = async (): Promise<MapComparison> =>
      (await (await fetch(`${url}/compare?map=new&map=old`)).json()) as MapComparison;
    const answers = await Promise.all([ask(), ask(), ask()]);
    for (const { maps } of answers) expect(maps.map(({ id }) => id)).toEqual(["new", "old"]);
  });

  it("refuses what cannot be compared", async () => {
    const url = await servingAll({ old: OLD, new: NEW, packed: await packedBytes() });
    const asked = ["map=old", "map=old&map=old", "map=old&map=packed", "x=1"];
    for (const query of asked) {
      const response = await fetch(`${url}/compare?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
    }
    expect((await fetch(`${url}/compare?map=old&map=none`)).status).toBe(404);
    expect((await fetch(`${url}/compare`)).status).toBe(200);
  });

  it("compares the same maps once, and refuses when too many are pending", async () => {
    const ids = ["a", "b", "c", "d"];
    const maps = Object.fromEntries(ids.map((id) => [id, `${HEAD}com,${id})/ 1\n`]));
    const url = await servingAll(maps);
    const pairs = ids.flatMap((one) =>
      ids.filter((id) => id !== one).map((id) => `map=${one}&map=${id}`),
    );
    const statuses = async (queries: readonly string[]): Promise<number[]> =>
      Promise.all(queries.map(async (query) => (await fetch(`${url}/compare?${query}`)).status));
    expect(new Set(await statuses(pairs))).toEqual(new Set([200, 503]));
    const same = Array.from({ length: 50 }, () => "map=a&map=b");
    expect(new Set(await statuses(same))).toEqual(new Set([200]));
  });
});
