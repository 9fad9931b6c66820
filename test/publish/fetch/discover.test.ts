import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { discoverMap } from "../../../src/publish/fetch/discover.ts";
import { FetchClient } from "../../../src/http/http-client.ts";
import { HttpSource } from "../../../src/publish/fetch/http-source.ts";
import { MapSearch } from "../../../src/lookup/map-search.ts";
import { NodeClient } from "../../../src/http/node-client.ts";
import { scriptedServer } from "../../support/scripted-server.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const clients = {
  node: () => new NodeClient({ allowsPrivate: true }),
  browser: () => new FetchClient(),
};

type Paths = Record<string, (request: IncomingMessage, response: ServerResponse) => void>;

/** A site with these paths; 404 elsewhere. */
function site(paths: Paths): ReturnType<typeof scriptedServer> {
  return scriptedServer((request, response) => {
    const answer = paths[request.url ?? ""];
    if (answer === undefined) response.writeHead(404).end("Not found");
    else answer(request, response);
  });
}

const map = (_request: IncomingMessage, response: ServerResponse): void =>
  void response.end(EXAMPLE_MAP);
const html =
  (text: string, headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { "Content-Type": "text/html", ...headers }).end(text);
  };

describe.each(Object.entries(clients))("discovery with the %s client", (_name, makeClient) => {
  it("takes the well-known URI first, and asks no further", async () => {
    const { url, requests } = await site({
      "/.well-known/mementomap": map,
      "/": html("", { Link: '</other>; rel="mementomap"' }),
    });
    expect(await discoverMap(makeClient(), `${url}/`)).toMatchObject({
      url: `${url}/.well-known/mementomap`,
      method: "well-known",
    });
    expect(requests.map(({ target }) => target)).toEqual(["/.well-known/mementomap"]);
  });

  it("takes the Link header next, and the element of the page last", async () => {
    const both = await site({
      "/": html('<link rel=mementomap href="/by-html">', { Link: '</by-link>; rel="mementomap"' }),
      "/by-link": map,
      "/by-html": map,
    });
    expect(await discoverMap(makeClient(), both.url)).toMatchObject({
      url: `${both.url}/by-link`,
      method: "link-header",
    });
    const one = await site({
      "/": html('<base href="/deep/"><link rel=mementomap href="by-html">'),
      "/deep/by-html": map,
    });
    expect(await discoverMap(makeClient(), one.url)).toMatchObject({
      url: `${one.url}/deep/by-html`,
      method: "html-link",
    });
  });

  it("passes over an error page at the well-known URI", async () => {
    const { url } = await site({
      "/.well-known/mementomap": html("<!doctype html><title>Sorry</title>"),
      "/": html("", { Link: '</by-link>; rel="mementomap"' }),
      "/by-link": map,
    });
    const { method, attempts } = await discoverMap(makeClient(), url);
    expect(method).toBe("link-header");
    expect(attempts[0]?.outcome).toBe("an HTML page, not a map");
  });

  it("respects the anchor: a map of another archive is not taken for this one's", async () => {
    const link = '</theirs>; rel="mementomap"; anchor="https://their.example/"';
    const { url } = await site({ "/": html("", { Link: link }), "/theirs": map });
    await expect(discoverMap(makeClient(), url)).rejects.toMatchObject({
      code: "MM_NOT_FOUND",
      message: expect.stringContaining("is about https://their.example/") as string,
    });
    expect(
      await discoverMap(makeClient(), url, { archive: "https://their.example" }),
    ).toMatchObject({
      url: `${url}/theirs`,
      archive: "https://their.example/",
    });
    await expect(
      discoverMap(makeClient(), url, { archive: "https://third.example" }),
    ).rejects.toMatchObject({ code: "MM_NOT_FOUND" });
  });

  it("says all that was tried when there is no map", async () => {
    const { url } = await site({ "/": html("<p>Hello") });
    await expect(discoverMap(makeClient(), url)).rejects.toMatchObject({
      code: "MM_NOT_FOUND",
      message:
        `no map of "${url}/" was found (well-known ${url}/.well-known/mementomap: status 404; ` +
        `link-header ${url}/: no such link; html-link ${url}/: no such element)`,
    });
  });
});

describe("a map on a server", () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `com,a${String(i).padStart(6, "0")})/ 1\n`);
  const big = EXAMPLE_MAP.replace("com,* 10000+\n", rows.join(""));

  it.each(Object.entries(clients))(
    "is looked up by ranges, with the %s client",
    async (_name, makeClient) => {
      const { url } = await serving(big);
      const source = await HttpSource.open(makeClient(), `${url}/.well-known/mementomap`);
      const search = await MapSearch.open(source, { blockBytes: 32_768 });
      expect(await search.lookup("http://a012345.com/")).toMatchObject({
        present: true,
        distance: 0,
      });
      expect(await search.lookup("http://arxiv.org/pdf/x")).toMatchObject({
        present: false,
        distance: 2,
      });
      expect(source.size).toBe(big.length);
      expect(source.traffic.bytes).toBeLessThan(big.length / 2);
    },
  );

  it("is not read on when it changed", async () => {
    let etag = '"1"';
    const { url } = await scriptedServer((request, response) => {
      const [, from = "", to = ""] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
      const part = Buffer.from(big).subarray(Number(from), Number(to) + 1);
      const range = `bytes ${from}-${Number(from) + part.length - 1}/${big.length}`;
      response.writeHead(206, { ETag: etag, "Content-Range": range }).end(part);
    });
    const source = await HttpSource.open(clients.node(), url);
    etag = '"2"';
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: "MM_IO" });
  });

  it("is refused where the server knows no ranges or no tags", async () => {
    const whole = await scriptedServer((_request, response) => void response.end(EXAMPLE_MAP));
    await expect(HttpSource.open(clients.node(), whole.url)).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    const weak = await scriptedServer((_request, response) => {
      const headers = { ETag: 'W/"1"', "Content-Range": "bytes 0-9/10" };
      response.writeHead(206, headers).end("0123456789");
    });
    await expect(HttpSource.open(clients.node(), weak.url)).rejects.toMatchObject({
      code: "MM_REFUSED",
      message: expect.stringContaining("strong ETag") as string,
    });
  });
});
