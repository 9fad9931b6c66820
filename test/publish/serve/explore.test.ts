import { describe, expect, it } from "vitest";
import type { MapChild, MapSlice } from "../../../src/maps/explore/map-slice.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

type Slice = MapSlice & { readonly map: string };

async function sliceAt(url: string): Promise<Slice> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  return (await response.json()) as Slice;
}

describe("GET /explore", () => {
  it.each([64 * 2 ** 20, 0])("begins with the root, with %d bytes in memory", async (memory) => {
    const { url } = await serving(EXAMPLE_MAP, { maxIndexBytes: memory });
    expect(await sliceAt(`${url}/explore`)).toMatchObject({
      map: "map",
      form: "text",
      prefix: "",
      total: "54321/20000",
      rows: 5,
      captures: 12_900,
      bound: "about",
      voids: 1,
      next: null,
      children: [
        { prefix: "com,", captures: 10_000, bound: "atLeast", detail: "rolled up" },
        { prefix: "org,", captures: 2600, bound: "about", voids: 1, detail: "mixed" },
        { prefix: "uk,", captures: 300 },
      ],
    });
    const host = await sliceAt(`${url}/explore?prefix=org,arxiv)/&sort=key`);
    expect(host).toMatchObject({ url: "http://arxiv.org/", kind: "host", rows: 3 });
    expect(host.children.map(({ prefix, kind }) => [prefix, kind])).toEqual([
      ["org,arxiv)/", "page"],
      ["org,arxiv)/*", "wildcard"],
      ["org,arxiv)/pdf/", "path"],
    ]);
  });

  it("gives the address of the next children, however keys are spelled", async () => {
    const keys = ["com,a)/%20", "com,a)/+x", "com,a)/&y", "com,a)/=", "com,a)/é"].toSorted((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    const head = '!fields {"keys":["surt"],"values":["frequency"]}\n';
    const { url } = await serving(head + keys.map((key) => `${key} 1\n${key}/b 2\n`).join(""));
    let at: string | undefined = `${url}/explore?prefix=com,a)/&limit=2&sort=key`;
    const children: MapChild[] = [];
    while (at !== undefined) {
      const slice: Slice = await sliceAt(at);
      expect(slice.children.length).toBeLessThanOrEqual(2);
      children.push(...slice.children);
      at = slice.next === null ? undefined : new URL(slice.next, at).href;
    }
    expect(children.map(({ prefix }) => prefix)).toEqual(keys.map((key) => `${key}/`));
    for (const { prefix } of children) {
      const below = await sliceAt(`${url}/explore?prefix=${encodeURIComponent(prefix)}`);
      expect(below.children.map(({ captures }) => captures)).toEqual([2, 1]);
    }
  });

  it("may be kept, and is sent again only when the map changed", async () => {
    const { url } = await serving(EXAMPLE_MAP, { maxAgeSeconds: 7 });
    const first = await fetch(`${url}/explore?prefix=org,`);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"map\.[0-9a-f]{32}-explore"$/);
    expect(first.headers.get("cache-control")).toBe("public, max-age=7");
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
    const again = await fetch(`${url}/explore?prefix=org,`, { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await fetch(`${url}/explore`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("has several levels, and finds parts by their names", async () => {
    const { url } = await serving();
    const slice = await sliceAt(`${url}/explore?prefix=org,&depth=2`);
    expect(slice.children[0]).toMatchObject({
      prefix: "org,arxiv,",
      children: [{ prefix: "org,arxiv)/", captures: 2600, hasChildren: true }],
    });
    expect(slice.children[0]?.children?.[0]).not.toHaveProperty("children");
    for (const text of ["pdf", "arxiv.org/pdf", "org,arxiv)/p"]) {
      const found = await sliceAt(`${url}/explore?search=${encodeURIComponent(text)}`);
      expect(found.children).toMatchObject([{ prefix: "org,arxiv)/pdf/", voids: 1 }]);
      expect(found.next).toBeNull();
    }
  });

  it("has the sums of a large map as soon as it is open", async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => {
      const path = "x".repeat(130);
      return `com,a${100 + Math.floor(i / 200)})/${path}/${10_000 + i} 2\n`;
    });
    const head = '!fields {"keys":["surt"],"values":["frequency"]}\n';
    const { url } = await serving(head + rows.join(""), { encodings: [] });
    expect(await sliceAt(`${url}/explore?depth=3`)).toMatchObject({ rows: 60_000 });
    const found = await sliceAt(`${url}/explore?search=a399`);
    expect(found.children).toMatchObject([{ prefix: "com,a399,", captures: 400 }]);
  });

  it.each([
    ["prefix=com%20x", 400],
    ["prefix=com,*", 400],
    ["limit=0", 400],
    ["limit=1001", 400],
    ["limit=x", 400],
    ["sort=size", 400],
    ["from=x", 400],
    ["depth=0", 400],
    ["depth=4", 400],
    ["search=", 400],
    ["level=2", 400],
    ["map=none", 404],
    ["prefix=net,", 404],
  ])("answers %s with a problem: %d", async (query, status) => {
    const { url } = await serving();
    const response = await fetch(`${url}/explore?${query}`);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  it("says of a packed map what it tells", async () => {
    const { url } = await serving(await packedBytes());
    const response = await fetch(`${url}/explore`);
    expect(await response.json()).toMatchObject({
      form: "packed",
      rows: 6,
      hosts: expect.any(Number),
      voids: expect.any(Number),
      depths: expect.arrayContaining([expect.objectContaining({ depth: 1 })]),
    });
  });
});
