import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import express from "express";
import { fastify } from "fastify";
import { describe, expect, it, onTestFinished } from "vitest";
import { mementoMapMiddleware, mementoMapPlugin } from "../../../src/publish/serve/middleware.ts";
import { createPublisher, type Publisher } from "../../../src/publish/serve/publisher.ts";
import { rawGet } from "../../support/raw-http.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP } from "../../support/serving.ts";

async function openPublisher(): Promise<Publisher> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, EXAMPLE_MAP);
  const publisher = await createPublisher(path, { prefix: "/mementomap", reloadEveryMs: 0 });
  onTestFinished(() => publisher.close());
  return publisher;
}

function started(server: Server): Promise<string> {
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

const servers = {
  async express(publisher: Publisher): Promise<string> {
    const app = express();
    app.use(mementoMapMiddleware(publisher));
    app.use(express.text({ type: "*/*" }));
    app.get("/own", (_request, response) => void response.set("X-Own", "1").send("own"));
    return started(createServer(app));
  },
  async fastify(publisher: Publisher): Promise<string> {
    const app = fastify();
    await app.register(mementoMapPlugin(publisher));
    app.get("/own", (_request, reply) => reply.header("X-Own", "1").send("own"));
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
  async "node:http"(publisher: Publisher): Promise<string> {
    const server = createServer((request, response) => {
      if (publisher.handle(request, response)) return;
      publisher.announce(request, response);
      response.writeHead(request.url === "/own" ? 200 : 404, { "X-Own": "1" }).end("own");
    });
    return started(server);
  },
};

describe.each(Object.entries(servers))("a map within a server of %s", (_name, start) => {
  it("is published beside what the server has of its own", async () => {
    const url = await start(await openPublisher());
    expect(await (await fetch(`${url}/.well-known/mementomap`)).text()).toBe(EXAMPLE_MAP);
    const own = await fetch(`${url}/own`);
    expect([own.status, await own.text(), own.headers.get("x-own")]).toEqual([200, "own", "1"]);
    expect(own.headers.get("link")).toBe('</.well-known/mementomap>; rel="mementomap"');
    expect(own.headers.get("access-control-allow-origin")).toBeNull();
    const missing = await fetch(`${url}/lookup?url=http://arxiv.org/`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get("link")).toContain('rel="mementomap"');
  });

  it("answers lookups, batches, ranges and the page", async () => {
    const url = await start(await openPublisher());
    const one = await fetch(`${url}/mementomap/lookup?url=http://arxiv.org/`);
    expect(await one.json()).toMatchObject({ present: true, key: "org,arxiv)/" });
    const body = "http://arxiv.org/\nhttp://example.net/\n";
    const many = await fetch(`${url}/mementomap/lookup`, { method: "POST", body });
    expect((await many.text()).split("\n")).toHaveLength(3);
    const part = await fetch(`${url}/.well-known/mementomap`, { headers: { range: "bytes=0-7" } });
    expect([part.status, await part.text()]).toEqual([206, "!context"]);
    const page = await fetch(`${url}/mementomap/?url=arxiv.org`);
    expect(await page.text()).toContain("1 archive holds it");
    expect((await fetch(`${url}/mementomap`)).status).toBe(200);
  });

  it("gets URIs as they were sent", async () => {
    const url = await start(await openPublisher());
    const uri = "http://e.com//a/../b?x=%2F%zz&y";
    const answer = await rawGet(url, `/mementomap/lookup?url=${uri}`);
    expect(answer).toContain(JSON.stringify(uri));
  });
});
