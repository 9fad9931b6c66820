import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { combinedLine, openAccessLog } from "../../src/cli/common/server-shell.ts";
import { JsonLog } from "../../src/http/log.ts";
import { aggregating, localArchive, plainArchive } from "../support/aggregating.ts";
import { rawExchange, rawGet } from "../support/raw-http.ts";
import { scratchDir } from "../support/scratch.ts";

const ENTRY = {
  method: "GET",
  target: "/timemap/link/http://a.org/",
  status: 200,
  bytes: 512,
  ms: 1,
  remote: "192.0.2.1",
  httpVersion: "1.1",
  userAgent: 'A "b" \\',
  referer: undefined,
};

describe("the access log", () => {
  it("is in the Combined Log Format", () => {
    expect(combinedLine(ENTRY, new Date("2026-11-06T03:04:05Z"))).toBe(
      '192.0.2.1 - - [06/Nov/2026:03:04:05 +0000] "GET /timemap/link/http://a.org/ HTTP/1.1" 200 512 "-" "A \\"b\\" \\\\"',
    );
  });

  it("has the bytes that a client sent", () => {
    // Node reads each byte of a header as a character.
    const userAgent = Buffer.from("caf\u00E9").toString("latin1");
    expect(combinedLine({ ...ENTRY, userAgent }, new Date(0))).toMatch(/ "caf\\xc3\\xa9"$/);
  });

  it("has a line of nine fields for each request, whatever clients send", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(text, text, text, (target, userAgent, referer) => {
        const line = combinedLine({ ...ENTRY, target, userAgent, referer }, new Date(0));
        expect(line).toMatch(/^[\d.]+ - - \[[^\]]+\] (?:"(?:[ !#-[\]-~]|\\.)*" ?|\d+ ?){5}$/);
      }),
    );
  });

  it("goes on in a new file when the old one is moved away", async () => {
    const path = join(scratchDir(), "access.log");
    const accessLog = openAccessLog(path, process, (reason) => expect.unreachable(reason));
    const { url } = await aggregating([await plainArchive("one", [])], {
      service: { log: new JsonLog(() => undefined, { requests: false, accessLog }) },
    });
    const agents = async (agent: string): Promise<string> => {
      await (await fetch(`${url}/health`, { headers: { "User-Agent": agent } })).text();
      await (await fetch(`${url}/health`)).text(); // the one before has been noted
      accessLog.flush();
      return readFileSync(path, "utf8");
    };
    expect(await agents("first")).toContain('"first"');
    renameSync(path, `${path}.1`);
    const later = await agents("second");
    expect(later).toContain('"second"');
    expect(later).not.toContain('"first"');
  });
});

describe("an archive that writes the URI it is asked for into its headers", () => {
  it.each([
    ['http://a.org/>;rel="memento";datetime="Thu,01Jan2015",<http://evil.example/', 302],
    ["http://a.org/%0d%0aLocation:%20http://evil.example/", 400],
    ["http://a.org/%250d%250aLocation:%20http://evil.example/", 302],
    ["http%3A%2F%2Fa.org%2F%0D%0ALocation%3A%20http://evil.example/", 400],
    ['http://a.org/"{|}<>', 302],
  ])("does not lead clients of %s elsewhere: %i", async (uri, status) => {
    const one = await localArchive("one", (request, response) => {
      const original = (request.url ?? "").replace(/^\/\w+\/(?:link\/)?/, "");
      response.writeHead(302, {
        Link: `<${original}>; rel="original", <http://${request.headers.host}/web/20150101000000/${original}>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"`,
        Location: `/web/20150101000000/${original}`,
      });
      response.end();
    });
    const { url } = await aggregating([one]);
    const answer = await rawGet(url, `/timegate/${uri}`);
    const [head = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const locations = head.split("\r\n").filter((line) => /^location:/i.test(line));
    const own = `Location: ${one.url}/web/20150101000000/`;
    expect(locations.map((line) => line.startsWith(own))).toEqual(status === 302 ? [true] : []);
    expect(head).not.toMatch(/<http:\/\/evil/);
    const description = await rawExchange(
      url,
      `GET /memento/link/2015/${uri} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(description).not.toMatch(/<http:\/\/evil/);
  });
});
