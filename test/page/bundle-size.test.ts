import { describe, expect, it } from "vitest";
import { assetList, pageAsset } from "../../src/page/page-assets.ts";
import { VIEWS } from "../../src/page/page-data.ts";

const assets = assetList();

describe.skipIf(assets === undefined)("the files of the page", () => {
  const { script = "", views = {}, files = [] } = assets ?? {};
  const size = (names: Iterable<string>): number =>
    [...new Set(names)]
      .filter((name) => !name.endsWith(".css"))
      .reduce((sum, name) => sum + (pageAsset(name, "gzip")?.body.length ?? Infinity), 0);

  it("are few: 150 kB gzipped for the first view, 300 kB for all", () => {
    expect(size([script, ...(views.search ?? [])])).toBeLessThanOrEqual(150_000);
    expect(size(files)).toBeLessThanOrEqual(300_000);
  });

  it("are one for each view at least, with a digest in their names", () => {
    for (const view of VIEWS) expect(views[view]?.length).toBeGreaterThan(0);
    for (const name of files) {
      expect(name).toMatch(/^(?:[\w-]+-[\w-]{8}\.(?:js|css|wasm)|elements\.js)$/);
    }
  });

  it("are sent compressed, to be kept, and no others", () => {
    expect(pageAsset(script, "gzip, br")?.headers).toMatchObject({
      "Content-Encoding": "br",
      "Cache-Control": "public, max-age=31536000, immutable",
    });
    expect(pageAsset(script)?.headers["Content-Encoding"]).toBeUndefined();
    // Pages of others name it, so that it cannot carry a digest.
    expect(pageAsset("elements.js")?.headers["Cache-Control"]).toBe("public, max-age=3600");
    expect(pageAsset("page.json")).toBeUndefined();
    expect(pageAsset("../../package.json")).toBeUndefined();
  });
});
