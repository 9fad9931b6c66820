import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { NodeClient } from "../../src/http/node-client.ts";
import { discoverMap } from "../../src/publish/fetch/discover.ts";
import { CHROMIUM } from "../support/chromium.ts";
import { launchBrowser, openPage, press } from "../support/page-browsers.ts";
import { folderFiles } from "../support/file-server.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { packedBytes } from "../support/packed-file.ts";
import { EXAMPLE_MAP } from "../support/serving.ts";

const OTHER = '!fields {"keys":["surt"],"values":["frequency"]}\norg,arxiv)/ 7\norg,other)/ 1\n';

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
};

async function made(): Promise<string> {
  const folder = scratchDir();
  writeFileSync(join(folder, "a.ukvs"), EXAMPLE_MAP);
  writeFileSync(join(folder, "b.ukvs.gz"), gzipSync(OTHER));
  writeFileSync(join(folder, "c.packed"), await packedBytes());
  return folder;
}

describe("mementomap page", () => {
  it("writes the page, its files and the maps", async () => {
    const folder = await made();
    const site = join(folder, "site");
    const maps = ["own=a.ukvs", "b.ukvs.gz", "c.packed"].map((map) =>
      map.replace(/[^=]+$/, (path) => join(folder, path)),
    );
    const result = await runCli(["page", ...maps, "-o", site]);
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toContain("3 maps of 14 records");
    expect(readdirSync(site).toSorted()).toEqual([
      ".nojekyll",
      ".well-known",
      "index.html",
      "maps",
      "maps.json",
      "page",
    ]);
    expect(readFileSync(join(site, "maps", "own.ukvs"), "utf8")).toBe(EXAMPLE_MAP);
    expect(existsSync(join(site, "maps", "b.ukvs.gz"))).toBe(true);
    const { maps: listed } = JSON.parse(readFileSync(join(site, "maps.json"), "utf8"));
    expect(listed).toMatchObject([
      { id: "own", name: "Example Archive", href: "maps/own.ukvs", records: 6, isPacked: false },
      { id: "b", name: null, href: "maps/b.ukvs.gz", records: 2 },
      { id: "c", href: "maps/c.packed", isPacked: true },
    ]);
    const page = readFileSync(join(site, "index.html"), "utf8");
    expect(page).toContain("<title>Search · Example Archive</title>");
    expect(page).not.toMatch(/(?:src|href)="\//);
  });

  it("is found by clients, also where a server hides names that begin with a dot", async () => {
    const folder = await made();
    const site = join(folder, "site");
    for (const [map, type] of [
      ["c.packed", "application/vnd.mementomap.packed"],
      ["a.ukvs", "text/plain"],
    ]) {
      rmSync(site, { recursive: true, force: true });
      expect(await runCli(["page", join(folder, map), "-o", site])).toMatchObject({ code: 0 });
      const page = readFileSync(join(site, "index.html"), "utf8");
      expect(page).toMatch(
        new RegExp(`<link\\s+rel="mementomap"\\s+href=".well-known/mementomap"\\s+type="${type}"`),
      );
      const published = readFileSync(join(site, ".well-known/mementomap"));
      expect(published.equals(readFileSync(join(folder, map)))).toBe(true);
    }
    const copy = gunzipSync(readFileSync(join(site, ".well-known/mementomap.gz")));
    expect(copy.toString()).toBe(EXAMPLE_MAP);
    const { url } = await scriptedServer((request, response) => {
      if (request.url === "/archive/") {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end(readFileSync(join(site, "index.html")));
      } else if (request.url === "/archive/.well-known/mementomap") response.end(EXAMPLE_MAP);
      else response.writeHead(404).end();
    });
    const client = new NodeClient({ allowsPrivate: true });
    expect(await discoverMap(client, `${url}/archive/`)).toMatchObject({ method: "html-link" });
    client.close();
  });

  it("refuses a folder that is in use, maps of one name, and what is not a map", async () => {
    const folder = await made();
    const site = join(folder, "site");
    mkdirSync(site);
    writeFileSync(join(site, "mine.txt"), "");
    const map = join(folder, "a.ukvs");
    expect((await runCli(["page", map, "-o", site])).code).not.toBe(0);
    expect(readdirSync(site)).toEqual(["mine.txt"]);
    const other = join(folder, "other");
    for (const args of [
      [map, map],
      [join(folder, "none.ukvs")],
      [join(folder, "..", "x=y")],
      ["-"],
    ]) {
      expect((await runCli(["page", ...args, "-o", other])).code).not.toBe(0);
    }
    writeFileSync(join(folder, "no.txt"), "<html>\n");
    expect((await runCli(["page", join(folder, "no.txt"), "-o", other])).code).not.toBe(0);
    expect((await runCli(["page", map])).stderr).toContain("-o DIR");
    expect(existsSync(other)).toBe(false);
  });

  it.skipIf(CHROMIUM === undefined)("works below any path, without a server's help", async () => {
    const folder = await made();
    const site = join(folder, "site");
    const maps = ["a.ukvs", "b.ukvs.gz"].map((name) => join(folder, name));
    await runCli(["page", ...maps, "-o", site, "--name", "Two maps"]);
    const files = folderFiles(site).map(([path, bytes]) => [`/sub/dir${path}`, bytes] as const);
    const index = files.find(([path]) => path.endsWith("/index.html"));
    const served = new Map<string, Uint8Array>([
      ...files,
      ["/sub/dir/", index?.[1] ?? new Uint8Array()] as const,
    ]);
    const url = await serveOnLoopback(({ pathname }, response) => {
      const type = TYPES[/\.(\w+)$/.exec(pathname)?.[1] ?? "html"] ?? "application/octet-stream";
      const bytes = served.get(pathname);
      response.writeHead(bytes === undefined ? 404 : 200, { "Content-Type": type });
      response.end(bytes);
    });
    const browser = await launchBrowser("chromium", "light");
    try {
      const { page, faults } = await openPage(browser, `${url}/sub/dir/`, {
        width: 1200,
        scheme: "light",
      });
      await page.waitForSelector("#url");
      await page.type("#url", "http://arxiv.org/");
      await page.waitForSelector("::-p-text(Example Archive)");
      await press(page, "link", "Explore");
      await page.waitForSelector(".parts tbody tr");
      await press(page, "link", "Compare");
      await page.waitForSelector(".upset");
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
