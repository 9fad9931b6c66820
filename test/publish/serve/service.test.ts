import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { JsonLog } from "../../../src/http/log.ts";
import { readExposition } from "../../support/exposition.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";
import { until } from "../../support/until.ts";

describe("the service pages", () => {
  it("say which maps are served", async () => {
    const { url } = await serving();
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      status: "ok",
      maps: [{ id: "map", records: 6, bytes: EXAMPLE_MAP.length, pages: 1, inMemory: true }],
    });
  });

  it("say that a new version is refused, and why", async () => {
    const { url, path, publisher } = await serving();
    writeFileSync(path, `${EXAMPLE_MAP}com,a)/ 1\n`);
    await publisher.reload();
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      status: "degraded",
      maps: [{ id: "map", records: 6, refused: expect.stringContaining("MM_NOT_SORTED") }],
    });
    writeFileSync(path, `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`);
    await publisher.reload();
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok" });
  });

  it("count requests and lookups for Prometheus", async () => {
    const { url } = await serving();
    await (await fetch(`${url}/lookup?url=http://x.com/`)).text();
    await (await fetch(`${url}/lookup`, { method: "POST", body: "a\nb\n" })).text();
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('mementomap_requests_total{route="lookup",status="200"} 1\n');
    expect(text).toContain("mementomap_lookups_total 3\n");
    expect(text).toContain('mementomap_records{map="map"} 6\n');
    const families = readExposition(text);
    expect(families.get("mementomap_request_seconds")?.type).toBe("histogram");
    expect(families.get("mementomap_map_age_seconds")?.samples).toHaveLength(1);
    expect(families.get("mementomap_build_info")?.samples[0]?.labels).toContain("version=");
  });

  it("describe the interface, and every path is there", async () => {
    const { url } = await serving();
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, unknown>;
    };
    expect(document.openapi).toBe("3.1.0");
    for (const path of Object.keys(document.paths)) {
      const target = path.replace("{id}", "map").replace(/\/lookup$/, "/lookup?url=a");
      // Nothing can be compared with the only map.
      const status = path === "/compare" ? 400 : 200;
      expect([path, (await fetch(url + target)).status]).toEqual([path, status]);
    }
  });

  it("link to the map, whatever is asked for", async () => {
    const { url } = await serving(EXAMPLE_MAP, { base: "https://archive.example.org/" });
    for (const target of ["/", "/health", "/nothing", "/lookup", "/maps/none"]) {
      const { headers } = await fetch(url + target);
      expect(headers.get("link")).toBe(
        '<https://archive.example.org/.well-known/mementomap>; rel="mementomap"',
      );
    }
  });

  it("log each request as JSON, with its target as sent", async () => {
    let text = "";
    const log = new JsonLog((lines) => (text += lines), { now: () => new Date(0) });
    const { url } = await serving(EXAMPLE_MAP, { log });
    await (await fetch(`${url}/lookup?url=http://e.com//a/..%2F`)).text();
    await (await fetch(`${url}/nothing`)).text();
    log.flush();
    const entries = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string });
    expect(entries.filter(({ msg }) => msg === "request")).toMatchObject([
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "info",
        method: "GET",
        target: "/lookup?url=http://e.com//a/..%2F",
        status: 200,
        remote: "127.0.0.1",
      },
      { target: "/nothing", status: 404 },
    ]);
  });
});

describe("a server that is told to stop", () => {
  it("finishes what is under way and takes nothing new", async () => {
    const served = await serving();
    let answered = "";
    const done = new Promise<void>((resolve, reject) => {
      const batch = request(`${served.url}/lookup`, { method: "POST" }, (response) => {
        response.on("data", (chunk: Buffer) => {
          answered += chunk.toString();
          if (!answered.includes("x.com")) {
            void served.server.stop();
            // As soon as nobody else is let in.
            const isClosed = (): Promise<boolean> =>
              fetch(`${served.url}/health`).then(
                () => false,
                () => true,
              );
            until(isClosed).then(() => batch.end("http://x.com/\n"), reject);
          }
        });
        response.on("end", resolve);
      });
      batch.on("error", reject);
      batch.write("http://arxiv.org/\n");
    });
    await done;
    expect(answered.trimEnd().split("\n")).toHaveLength(2);
    await expect(fetch(`${served.url}/health`)).rejects.toThrow("fetch failed");
  });

  it("cuts what takes longer than the grace period", async () => {
    const served = await serving(EXAMPLE_MAP, { listen: { limits: { graceMs: 100 } } });
    const cut = new Promise<string>((resolve) => {
      const batch = request(`${served.url}/lookup`, { method: "POST" });
      batch.on("response", (response) => {
        response.on("data", () => undefined);
        response.on("error", (error) => resolve(error.message));
        void served.server.stop();
      });
      batch.on("error", () => undefined); // the response tells
      batch.write("http://arxiv.org/\n");
    });
    expect(await cut).toBe("aborted");
  });
});
