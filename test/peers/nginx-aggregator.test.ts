import { describe, expect, it } from "vitest";
import { aggregating, plainArchive } from "../support/aggregating.ts";
import { rawGet } from "../support/raw-http.ts";
import { serving } from "../support/serving.ts";
import { startNginx, startNginxWith } from "./nginx.ts";
import { program } from "./programs.ts";

describe.skipIf(program("nginx") === undefined)("an aggregator behind nginx", () => {
  it("that merges slashes and takes the path off, asks archives for the right host", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url } = await aggregating([one], {
      service: { base: "/x", trustedProxies: ["loopback"] },
    });
    const nginx = await startNginxWith(
      "server { listen 8080; location /x/ { proxy_pass http://127.0.0.1:1208/; proxy_set_header Host $http_host; } }",
      { ":1208": `:${new URL(url).port}` },
    );
    for (const uri of ["http://example.org/a?b=http://c//d", "https://example.org/a"]) {
      const answer = await rawGet(nginx, `/x/timemap/link/${uri}`);
      expect(answer).toContain(`<${uri}>; rel="original"`);
      expect(answer).toContain(`<http://localhost/x/timegate/${uri}>; rel="timegate"`);
    }
    expect(one.requests.map(({ target }) => target)).toEqual([
      "/timemap/link/http://example.org/a?b=http://c//d",
      "/timemap/link/https://example.org/a",
    ]);
  });
});

describe.skipIf(program("nginx") === undefined)("a publisher behind nginx, beside pywb", () => {
  it("has a form, links and examples that work below its path", async () => {
    const served = await serving(undefined, {
      prefix: "/mementomap",
      isPrefixOptional: true,
      trustedProxies: ["loopback"],
      pageRecords: 2,
    });
    const { port } = new URL(served.url);
    const nginx = await startNginx("pywb", { ":8081": `:${port}`, ":8082": `:${port}` });
    const page = await (await fetch(`${nginx}/mementomap/`)).text();
    const [, action = ""] = /<form[^>]* action="([^"]*)"/.exec(page) ?? [];
    expect(action).toBe("/mementomap/");
    const found = await (await fetch(`${nginx}${action}?url=http://arxiv.org/`)).text();
    expect(found).toMatch(/class="finding [^"]*tone-held"/);
    const about = await (await fetch(`${nginx}/mementomap/about`)).text();
    const [, openApi = ""] = /href="([^"]*openapi\.json)"/.exec(about) ?? [];
    expect(openApi).toBe("/mementomap/openapi.json");
    expect((await fetch(nginx + openApi)).status).toBe(200);
    const [, lookup = ""] = /(http:\/\/127[^<\s]*?\/lookup)/.exec(about) ?? [];
    expect((await fetch(`${lookup}?url=http://arxiv.org/`)).status).toBe(200);
    const [, map = ""] =
      /<([^>]*)>; rel="mementomap"/.exec(
        (await fetch(`${nginx}/mementomap/health`)).headers.get("link") ?? "",
      ) ?? [];
    expect((await fetch(nginx + map)).status).toBe(200);
    const next = (await fetch(`${nginx}/mementomap/maps/map?page=1`)).headers.get("link") ?? "";
    const [, second = ""] = /<([^>]*)>; rel="next"/.exec(next) ?? [];
    expect(second).toBe("/mementomap/maps/map?page=2");
    expect((await fetch(nginx + second)).status).toBe(200);
  });
});
