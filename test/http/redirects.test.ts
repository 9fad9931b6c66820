import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyStart } from "../../src/http/http-client.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import { redirectTarget, RedirectTrail } from "../../src/http/redirects.ts";
import { httpAnswer, rawArchive } from "../support/raw-archive.ts";
import { scriptedServer } from "../support/scripted-server.ts";

describe("where a redirect leads", () => {
  it("is resolved as URL does it, where it is relative", () => {
    const names = fc.constantFrom("x", "../x", "./x?y", "?q", "x/../y");
    fc.assert(
      fc.property(names, (name) => {
        expect(redirectTarget("http://a.example/b/c", name)).toBe(
          new URL(name, "http://a.example/b/c").href,
        );
      }),
    );
  });

  it.each([
    ["http://a.example/b", "http://c.example/d", "http://c.example/d"],
    ["http://a.example/b", "https://c.example/d", "https://c.example/d"],
    ["https://a.example/b", "https://c.example/d", "https://c.example/d"],
    ["https://a.example/b", "//c.example/d", "https://c.example/d"],
    ["https://a.example/b", "/x/../%zz\u00fc#part", "https://a.example/x/../%zz%FC"],
    ["https://me:secret@a.example/b", "/c", "https://a.example/c"],
    ["https://me:secret@a.example/b", "c", "https://a.example/c"],
  ])("from %s with %j", (from, location, target) => {
    expect(redirectTarget(from, location)).toBe(target);
  });

  it.each([
    ["https://a.example/b", "http://a.example/b", /insecure redirect from https to/],
    ["https://a.example/b", "HTTP://a.example/b", /insecure redirect from https to/],
    ["http://a.example/b", "http://me:secret@c.example/", /c\.example" with a user name$/],
    ["http://a.example/b", "//me@c.example/", /with a user name/],
    ["http://a.example/b", "http://", /not a web address/],
    ["http://a.example/b", "javascript:alert(1)", /not a web address/],
    ["http://a.example/b", "http://[::1/", /not a web address/],
  ])("is refused from %s with %j", (from, location, message) => {
    expect(() => redirectTarget(from, location)).toThrow(
      expect.objectContaining({
        code: "MM_REFUSED",
        reason: "redirect",
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  it("is refused in a circle and after too many", () => {
    const trail = new RedirectTrail();
    expect(trail.follow("http://a/1", "2")).toBe("http://a/2");
    expect(() => trail.follow("http://a/2", "1")).toThrow("redirect loop");
    const long = new RedirectTrail();
    for (let i = 1; i <= 5; i++) long.follow(`http://a/${i}`, `${i + 1}`);
    expect(() => long.follow("http://a/6", "7")).toThrow("more than 5 redirects");
  });
});

describe("the client for maps and indexes", () => {
  function client(): NodeClient {
    const made = new NodeClient({ allowsPrivate: true });
    onTestFinished(() => made.close());
    return made;
  }

  it("sends bytes of a Location as they are, in any encoding", async () => {
    const { origin, heads } = await rawArchive((socket, number) => {
      socket.write(
        number === 0
          ? Buffer.from(httpAnswer(302, "", { Location: "/m\u00fcll" }), "latin1")
          : httpAnswer(200, "end", { Connection: "close" }),
      );
    });
    const response = await client().request(`${origin}/`);
    expect(new TextDecoder().decode(await bodyStart(response, 10))).toBe("end");
    expect(heads.map((head) => head.split(" ")[1])).toEqual(["/", "/m%FCll"]);
  });

  it("sends a user name to the origin it was given for, and to no other", async () => {
    const other = await scriptedServer((_request, response) => response.end("end"));
    const server = await scriptedServer((request, response) => {
      const location = request.url === "/1" ? `${server.url}/2` : `${other.url}/3`;
      response.writeHead(302, { location }).end();
    });
    const response = await client().request(`${server.url.replace("//", "//me:secret@")}/1`);
    await response.discard();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Basic bWU6c2VjcmV0",
      "Basic bWU6c2VjcmV0",
    ]);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});
