import { connect } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess, exampleProcess, writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { followLinks } from "../support/follow-links.ts";
import { rawExchange, rawGet } from "../support/raw-http.ts";
import { scratchDir } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { PROXIES } from "./proxies.ts";

const URIS = [
  "http://example.org//a/../b%2Fc?x=http://d//e%7E",
  "https://example.org/%2e%2e/a/./b//c/?",
  "http://example.org/a;b=c/%2F%2f?q=%20+&r=/../",
  "example.org/caf%C3%A9/%E2%98%83?a=b?c",
];

/** What a client of another address gets, which sends what only proxies should. */
function pretending(url: string, target: string): Promise<string> {
  const { port } = new URL(url);
  const headers =
    "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Prefix: /evil\r\nForwarded: for=192.0.2.7;host=evil.example\r\n";
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress: "127.0.0.2" });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.once("error", reject).once("close", () => resolve(text));
    socket.write(
      `GET ${target} HTTP/1.1\r\nHost: aggregator.example.org\r\nConnection: close\r\n${headers}\r\n`,
    );
  });
}

describe.each(PROXIES)("an aggregator behind $name", ({ name, path, start, ...proxy }) => {
  const isMissing = path === undefined;
  const missing = `${name} is missing: Debian package ${proxy.package}`;

  it.skipIf(isMissing)(`is asked for what clients sent (skipped where ${missing})`, async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url } = await exampleProcess([one]);
    const front = await start(new URL(url).port);
    for (const uri of URIS) {
      const answer = await rawGet(front, `/mementos/timemap/link/${uri}`);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      const asked = uri.startsWith("http") ? uri : `http://${uri}`;
      expect(answer).toContain(`<http://localhost/mementos/timegate/${asked}>; rel="timegate"`);
    }
    expect(one.requests.map(({ target }) => target)).toEqual(
      URIS.map((uri) => `/timemap/link/${uri.startsWith("http") ? uri : `http://${uri}`}`),
    );
    const headers = { Accept: "text/html" };
    const about = await (await fetch(`${front}/mementos/about`, { headers })).text();
    expect(about).toContain(`curl ${front}/mementos/timemap/link/`);
    expect((await fetch(`${front}/mementos/openapi.json`)).status).toBe(200);
    await followLinks(`${front}/mementos/`);
  });

  it.skipIf(isMissing || name !== "nginx")("answers no other host name", async () => {
    const { url } = await exampleProcess([await plainArchive("one", ["20050101000000"])]);
    const front = await start(new URL(url).port);
    const request = "GET /mementos/about HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    expect(await rawExchange(front, request)).toBe("");
  });

  it.skipIf(isMissing)(`takes the word of the proxy only (skipped where ${missing})`, async () => {
    const archives = writeList([await plainArchive("one", ["20050101000000"])]);
    const log = join(scratchDir(), "access.log");
    const argv = ["--archives", archives, "--base", "/mementos", "--access-log", log];
    const { url } = await aggregateProcess([...argv, "--trust-proxy", "127.0.0.1"]);
    const front = await start(new URL(url).port);
    const target = "/mementos/timemap/link/http://example.org/";
    const answer = await pretending(front, target);
    expect(answer).toContain(
      "<http://aggregator.example.org/mementos/timegate/http://example.org/>",
    );
    expect(answer).not.toContain("evil");
    // A client that is no proxy: nothing of what it says is taken.
    const direct = await pretending(url, target);
    expect(direct).toContain("<http://aggregator.example.org/mementos/timegate/");
    expect(direct).not.toContain("evil");
    await until(() => readFileSync(log, "utf8").split("\n").length > 2);
    for (const line of readFileSync(log, "utf8").trimEnd().split("\n")) {
      expect(line).toMatch(/^127\.0\.0\.2 - - \[.*\] "GET \/\S* HTTP\/1\.1" 200 /);
    }
  });
});
