import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { forwardProxy } from "../support/forward-proxy.ts";
import { runCli } from "../support/run-cli.ts";
import type { Crawl } from "./crawl.ts";
import { crawl } from "./crawl.ts";
import { freePort, output, program, startServer } from "./programs.ts";

/* What real CDX servers say must be the same through a proxy. See inputs.test.ts for what is needed. */
const wget = program("wget");
const cdxIndexer = program("cdx-indexer");
const wayback = program("wayback");
const wbManager = program("wb-manager");
const java = program("java");
const outbackJar = process.env["OUTBACKCDX_JAR"];

/** The rows of a map of an input. */
async function rows(input: string, options: readonly string[] = []): Promise<string[]> {
  const result = await runCli(["generate", "-q", "--threads", "1", ...options, input]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return result.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

describe.skipIf(wget === undefined)("a crawl by Wget, harvested through a proxy", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-peers-"));
  let crawled: Crawl;

  beforeAll(async () => {
    crawled = await crawl(wget ?? "", folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(wayback === undefined || wbManager === undefined)("is what pywb has", async () => {
    const place = mkdtempSync(join(folder, "pywb-"));
    await output(wbManager ?? "", ["init", "coll"], place);
    await output(wbManager ?? "", ["add", "coll", crawled.warcGz], place);
    const port = await freePort();
    const args = ["-p", String(port), "-b", "127.0.0.1"];
    const server = await startServer(wayback ?? "", args, place, `http://127.0.0.1:${port}/`);
    onTestFinished(() => server.stop());
    const index = await harvested(port, "/coll/cdx", place);
    expect(await rows(index)).toEqual(await rows(crawled.warcGz));
  });

  it.skipIf(outbackJar === undefined || java === undefined || cdxIndexer === undefined)(
    "is what OutbackCDX has",
    async () => {
      const place = mkdtempSync(join(folder, "outback-"));
      const port = await freePort();
      const address = `http://127.0.0.1:${port}/`;
      const args = ["-jar", outbackJar ?? "", "-d", place, "-p", String(port), "-b", "127.0.0.1"];
      const server = await startServer(java ?? "", args, place, address);
      onTestFinished(() => server.stop());
      const body = await output(cdxIndexer ?? "", ["-s", crawled.warcGz], folder);
      expect((await fetch(`${address}coll`, { method: "POST", body })).status).toBe(200);
      const index = await harvested(port, "/coll", place);
      // OutbackCDX keeps one capture of a URI and second.
      expect(await rows(index)).toEqual(await rows(crawled.warcGz, ["--distinct"]));
    },
  );

  /** Asks a CDX server of this machine by a name that only a proxy knows. */
  async function harvested(port: number, path: string, place: string): Promise<string> {
    const proxy = await forwardProxy({ "cdx.test:80": port }, "me:secret");
    const env = { HTTP_PROXY: `http://me:secret@${proxy.address}` };
    const index = join(place, "harvest.cdx.gz");
    const words = ["--url", crawled.site, "--match", "prefix", "--interval", "0", "-o", index];
    const { code, stderr } = await runCli(["harvest", `http://cdx.test${path}`, ...words], { env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(proxy.requests).toHaveLength(2);
    return index;
  }
});
