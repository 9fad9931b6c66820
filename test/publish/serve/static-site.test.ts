import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { discoverMap } from "../../../src/publish/fetch/discover.ts";
import { fetchMap } from "../../../src/publish/fetch/fetch-map.ts";
import { NodeClient } from "../../../src/http/node-client.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { sized, unsized } from "../../support/sized-map.ts";
import { scriptedServer } from "../../support/scripted-server.ts";
import { EXAMPLE_MAP } from "../../support/serving.ts";

async function splitSite(...options: readonly string[]): Promise<string> {
  const folder = scratchDir();
  writeFileSync(join(folder, "map.ukvs"), EXAMPLE_MAP);
  const site = join(folder, "site");
  const size = options.length > 0 ? options : ["--max-lines", "2"];
  const result = await runCli(["split", join(folder, "map.ukvs"), ...size, "--html", "-o", site]);
  expect(result).toEqual({ code: 0, stdout: "", stderr: "6 records on 3 pages\n" });
  return site;
}

/** The plainest of servers: files, and nothing else. */
function fileServer(folder: string): ReturnType<typeof scriptedServer> {
  return scriptedServer((request, response) => {
    const path = request.url === "/" ? "/index.html" : (request.url ?? "");
    try {
      const type = path.endsWith(".html") ? "text/html" : "application/octet-stream";
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { "Content-Type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
}

describe("split --html", () => {
  it.each([[["--max-lines", "2"]], [["--pages", "3"]]])("writes a site: %s", async (options) => {
    const site = await splitSite(...options);
    expect(
      readdirSync(site, { recursive: true })
        .map(String)
        .sort((a, b) => (a < b ? -1 : 1)),
    ).toEqual([
      ".nojekyll",
      ".well-known",
      ".well-known/mementomap",
      ".well-known/mementomap.gz",
      "index.html",
      "pages",
      "pages/page-0001.ukvs",
      "pages/page-0001.ukvs.gz",
      "pages/page-0002.ukvs",
      "pages/page-0002.ukvs.gz",
      "pages/page-0003.ukvs",
      "pages/page-0003.ukvs.gz",
    ]);
    const map = readFileSync(join(site, ".well-known/mementomap"));
    expect(map.toString()).toBe(sized(EXAMPLE_MAP));
    expect(gunzipSync(readFileSync(join(site, ".well-known/mementomap.gz")))).toEqual(map);
    const page = readFileSync(join(site, "index.html"), "utf8");
    expect(page).toContain('<link rel="mementomap" href=".well-known/mementomap"');
    expect(page).not.toContain("<form");
  });

  it("has the same meaning on the plainest of servers", async () => {
    const site = await splitSite();
    const { url } = await fileServer(site);
    const target = join(scratchDir(), "map.ukvs");
    expect(await fetchMap(url, target)).toMatchObject({ method: "well-known", pages: 1 });
    expect(readFileSync(target, "utf8")).toBe(sized(EXAMPLE_MAP));
    const pages = join(scratchDir(), "pages.ukvs");
    await fetchMap(`${url}/pages/page-0001.ukvs`, pages, { isDirect: true });
    expect(unsized(readFileSync(pages, "utf8"))).toBe(EXAMPLE_MAP);
  });

  it("is found by its page where the server hides names that begin with a dot", async () => {
    const site = await splitSite();
    const { url } = await scriptedServer((request, response) => {
      if (request.url === "/archive/") {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end(readFileSync(join(site, "index.html")));
      } else if (request.url === "/archive/.well-known/mementomap") response.end(EXAMPLE_MAP);
      else response.writeHead(404).end();
    });
    const client = new NodeClient({ allowsPrivate: true });
    expect(await discoverMap(client, `${url}/archive/`)).toMatchObject({
      method: "html-link",
      url: `${url}/archive/.well-known/mementomap`,
    });
    client.close();
  });

  it("takes --gzip for a mistake", async () => {
    const result = await runCli(["split", "x", "--pages", "2", "--html", "--gzip", "-o", "y"]);
    expect(result).toMatchObject({ code: 2 });
  });
});
