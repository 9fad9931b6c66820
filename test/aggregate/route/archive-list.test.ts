import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { loadArchives } from "../../../src/aggregate/route/archive-list.ts";
import { serveOnLoopback } from "../../support/http-server.ts";
import { scratchDir } from "../../support/scratch.ts";

function entry(id: string, mementomap?: string): object {
  return { id, timemap: `http://${id}/tm/`, timegate: `http://${id}/tg/`, mementomap };
}

const LIST = JSON.stringify([
  entry("a", "maps/a.ukvs"),
  entry("b", "https://b.example/map"),
  entry("c", "auto"),
  entry("d"),
]);

describe("loadArchives", () => {
  it("reads a file, and takes paths of maps from where it is", async () => {
    const folder = scratchDir();
    const path = join(folder, "archives.json");
    writeFileSync(path, LIST);
    const expected = [join(folder, "maps/a.ukvs"), "https://b.example/map", "auto", undefined];
    for (const place of [path, pathToFileURL(path), String(pathToFileURL(path))]) {
      const archives = await loadArchives(place);
      expect(archives.map(({ mementomap }) => mementomap)).toEqual(expected);
    }
  });

  it("reads a list on the Web, and takes addresses of maps from there", async () => {
    const site = await serveOnLoopback((url, response) => {
      response.statusCode = url.pathname === "/lists/archives.json" ? 200 : 404;
      response.end(LIST);
    });
    const archives = await loadArchives(`${site}/lists/archives.json`);
    expect(archives.map(({ mementomap }) => mementomap)).toEqual([
      `${site}/lists/maps/a.ukvs`,
      "https://b.example/map",
      "auto",
      undefined,
    ]);
    await expect(loadArchives(`${site}/nothing`)).rejects.toMatchObject({
      code: "MM_REFUSED",
      message: "not a list of archives: status 404",
    });
  });

  it("lets no list on the Web name a file", async () => {
    const site = await serveOnLoopback((_url, response) => {
      response.end(JSON.stringify([entry("a", "file:///etc/hostname")]));
    });
    await expect(loadArchives(site + "/")).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
  });

  it("names the file that is not there", async () => {
    await expect(loadArchives("no/archives.json")).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: "no/archives.json" },
    });
  });
});
