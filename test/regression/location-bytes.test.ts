import { describe, expect, it } from "vitest";
import { aggregating, localArchive } from "../support/aggregating.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";

const URI = "http://example.org/";

/** Bytes of a path as the header has them, one character each, and the path that they mean. */
const PATHS: readonly [name: string, sent: string, path: string][] = [
  ["a byte of Latin-1", "caf\u00e9", "caf%E9"],
  ["bytes of UTF-8", "caf\u00c3\u00a9", "caf%C3%A9"],
  ["what is escaped", "caf%e9", "caf%e9"],
];

describe.each(PATHS)("a Location with %s", (_name, sent, path) => {
  it("leads to that path", async () => {
    const archive = await localArchive("a", (request, response) => {
      const { url = "", headers } = request;
      if (url.startsWith("/timemap/"))
        response.writeHead(302, { Location: `/moved/${sent}` }).end();
      else
        response
          .writeHead(200)
          .end(linkTimeMap(URI, `http://${headers.host}/`, ["20150101000000"]));
    });
    const { url } = await aggregating([archive]);
    const answer = await fetch(`${url}/timemap/link/${URI}`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("2015")]);
    expect(archive.requests.map(({ target }) => target)).toContain(`/moved/${path}`);
  });

  it("is the memento that a TimeGate names", async () => {
    const archive = await localArchive("a", ({ headers }, response) => {
      const memento = `http://${headers.host}/web/20150101000000/${URI}${sent}`;
      response.writeHead(302, { Location: memento }).end();
    });
    const { url } = await aggregating([archive]);
    const answer = await fetch(`${url}/timegate/${URI}`, { redirect: "manual" });
    expect(answer.headers.get("location")).toBe(`${archive.url}/web/20150101000000/${URI}${path}`);
  });
});
