import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchMap } from "../../src/publish/fetch/fetch-map.ts";
import { listen } from "../../src/http/listen.ts";
import { createPublisher } from "../../src/publish/serve/publisher.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { crawl } from "./crawl.ts";
import { startNginx } from "./nginx.ts";
import { freePort, output, program, startServer } from "./programs.ts";

const nginx = program("nginx");
const wget = program("wget");
const wayback = program("wayback");
const wbManager = program("wb-manager");

describe.skipIf([nginx, wget, wayback, wbManager].includes(undefined))("pywb", () => {
  it("has its map beside it, as the guide says", async () => {
    const folder = scratchDir();
    const { warcGz, site } = await crawl(wget ?? "", folder);
    await output(wbManager ?? "", ["init", "web"], folder);
    await output(wbManager ?? "", ["add", "web", warcGz], folder);
    const index = join(folder, "collections/web/indexes/index.cdxj");
    const map = join(folder, "map.ukvs");
    const made = [
      "generate",
      index,
      "--id",
      "http://127.0.0.1/",
      "-o",
      map,
      "-q",
      "--threads",
      "1",
    ];
    expect(await runCli(made)).toMatchObject({ code: 0 });
    const publisher = await createPublisher(map, { prefix: "/mementomap", reloadEveryMs: 0 });
    const server = await listen(publisher, { port: 0 });
    onTestFinished(async () => {
      await server.stop();
      await publisher.close();
    });
    const port = await freePort();
    const pywb = await startServer(
      wayback ?? "",
      ["-p", String(port), "-b", "127.0.0.1", "-t", "2"],
      folder,
      `http://127.0.0.1:${port}/`,
    );
    onTestFinished(() => pywb.stop());
    const url = await startNginx("pywb", {
      ":8081": `:${new URL(server.url).port}`,
      ":8082": `:${port}`,
    });

    const replayed = await fetch(`${url}/web/mp_/${site}a/p1.html`);
    expect(replayed.status).toBe(200);
    // pywb's links for Memento are still there, and ours is one more.
    expect(replayed.headers.get("link")).toContain('rel="timegate"');
    expect(replayed.headers.get("link")).toContain('</.well-known/mementomap>; rel="mementomap"');
    const target = join(folder, "fetched.ukvs");
    expect(await fetchMap(url, target)).toMatchObject({ status: "fetched", method: "well-known" });
    const asked = [`${site}a/p1.html`, "http://example.net/"];
    const answers = await runCli(["lookup", target, ...asked]);
    expect(answers.stdout.split("\n").map((line) => line.split("\t")[1])).toEqual([
      "present",
      "absent",
      undefined,
    ]);
    const byHttp = await fetch(`${url}/mementomap/lookup?url=${site}a/p1.html`);
    expect(await byHttp.json()).toMatchObject({ present: true });
    expect((await runCli(["validate", "--url", url, "-q"])).code).toBe(0);
  });
});
