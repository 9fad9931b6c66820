import { describe, expect, it } from "vitest";
import { aggregating, plainArchive } from "../../support/aggregating.ts";
import { RateLimit } from "../../../src/http/rate-limit.ts";
import { rawGet } from "../../support/raw-http.ts";
import { serving } from "../../support/serving.ts";

const URI = "http://example.org/a";
const FORWARDED =
  "X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a.org\r\n";

describe("a publisher below a path", () => {
  it.each(["", "/maps/are/here"])("answers with the path and without it: %j", async (kept) => {
    const { url } = await serving(undefined, {
      prefix: "/maps/are/here/",
      isPrefixOptional: true,
      isThirdParty: true,
    });
    for (const path of ["/", "/lookup?url=a", "/maps", "/maps/map", "/health", "/openapi.json"]) {
      const answer = await rawGet(url, kept + path);
      expect([path, answer.slice(9, 12)]).toEqual([path, "200"]);
      expect(answer).toContain('</maps/are/here/maps/map>; rel="mementomap"');
    }
    expect(await rawGet(url, `${kept}/`)).toContain('action="/maps/are/here/"');
    expect(await rawGet(url, `${kept}/openapi.json`)).toContain('"/maps/are/here/lookup"');
    expect(await rawGet(url, `${kept}/maps/map?page=1`)).toContain(
      '</maps/are/here/maps/map?page=1>; rel="first"',
    );
  });

  it("within another server does not take the paths of that", async () => {
    const { url } = await serving(undefined, { prefix: "/x" });
    expect((await fetch(`${url}/health`)).status).toBe(404);
    expect((await fetch(`${url}/x/health`)).status).toBe(200);
  });

  it("goes by what trusted proxies say, and by nothing that others do", async () => {
    const headers = `${FORWARDED}X-Forwarded-Prefix: /p\r\n`;
    const trusting = await serving(undefined, { trustedProxies: ["loopback"] });
    const page = await rawGet(trusting.url, "/", headers);
    expect(await rawGet(trusting.url, "/about", headers)).toContain("https://a.org/p/lookup");
    expect(page).toContain('action="/p/"');
    const plain = await serving();
    const other = await rawGet(plain.url, "/about", headers);
    expect(other).toContain("http://localhost/lookup");
    expect(other).not.toContain("a.org");
  });
});

describe("an aggregator below a path", () => {
  it("answers with the path and without it, and its links have it", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url } = await aggregating([one], { service: { base: "/x/y" } });
    for (const path of ["/x/y", ""]) {
      const answer = await rawGet(url, `${path}/timemap/link/${URI}`);
      expect(answer).toContain(`<http://localhost/x/y/timegate/${URI}>; rel="timegate"`);
    }
  });

  it("goes by what trusted proxies say, and counts by client", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url } = await aggregating([one], {
      service: {
        trustedProxies: ["loopback"],
        rateLimit: new RateLimit({ perSecond: 0.001, burst: 1 }),
      },
    });
    const ask = (headers: string): Promise<string> => rawGet(url, `/timemap/link/${URI}`, headers);
    const answer = await ask(`${FORWARDED}X-Forwarded-Prefix: /p/\r\n`);
    expect(answer).toContain(`<https://a.org/p/timegate/${URI}>; rel="timegate"`);
    expect(await ask(FORWARDED)).toMatch(/^HTTP\/1\.1 429 /);
    expect(await ask("X-Forwarded-For: 198.51.100.1, 198.51.100.2\r\n")).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    // Its own word about itself does not make a client another.
    expect(await ask("X-Forwarded-For: 203.0.113.7, 198.51.100.1\r\n")).toMatch(/^HTTP\/1\.1 429 /);
  });
});
