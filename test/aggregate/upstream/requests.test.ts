import type { LookupFunction } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packageVersion } from "../../../src/files/package-file.ts";
import { splitAddress } from "../../../src/http/origin-pools.ts";
import {
  archiveAt,
  askWhole,
  httpAnswer,
  numbered,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "./raw-archive.ts";
import { until } from "../../support/until.ts";

const byte = fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code));

/** As Node's own functions encode it. */
function encodedBytes(text: string): string {
  return Array.from(text, (character) => {
    if (/[!#$%&'()*+,\-./\d:;=?@A-Z[\]_a-z~]/.test(character)) return character;
    const hex = Buffer.from(character, "latin1").toString("hex").toUpperCase();
    return `%${hex}`;
  }).join("");
}

describe("a request", () => {
  it("is sent as it is, with what no URI has percent-encoded byte by byte", async () => {
    const { archive, heads } = await rawArchive((socket) => void socket.write(httpAnswer(404)));
    const upstream = testUpstream();
    const originals = fc.oneof(
      fc.constantFrom(
        "http://example.com/a/../b/./c",
        "http://example.com//x//",
        "http://example.com/%zz%2F%",
        'http://example.com/"<>{}|\\^`',
        "http://example.com/?a=b?c=d&&",
        "HTTP://EXAMPLE.com:80/\u00c3\u00bc",
        "http://user:pass@example.com/",
      ),
      fc.array(byte, { maxLength: 60 }).map((codes) => codes.join("")),
    );
    await fc.assert(
      fc.asyncProperty(originals, async (original) => {
        await askWhole(upstream, timemapRequest(archive, { url: archive.timemap + original }));
        expect(heads.at(-1)?.split("\r\n")[0]).toBe(
          `GET /timemap/${encodedBytes(original)} HTTP/1.1`,
        );
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    "",
    "ftp://a/",
    "http://",
    "https:///x",
    "//a/b",
    "http://a/b c",
    "http://a/\r\nX: y",
    "http://a/\u0100",
  ])("to %j is refused with MM_BAD_URI", async (url) => {
    const { archive } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
    const asked = testUpstream().ask(timemapRequest(archive, { url }));
    await expect(asked).rejects.toMatchObject({ code: "MM_BAD_URI" });
  });

  it("says who asks, and takes the caller's word where there is one", async () => {
    const { archive, heads } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
    const upstream = testUpstream({ contact: "https://example.org/aggregator" });
    await askWhole(upstream, timemapRequest(archive));
    const version = packageVersion();
    expect(heads[0]).toContain(
      `user-agent: mementomap/${version} (+https://example.org/aggregator)`,
    );
    const headers = { "user-agent": "other/1", "accept-datetime": "Thu, 31 May 2007 20:35:00 GMT" };
    await askWhole(upstream, timemapRequest(archive, { headers }));
    expect(heads[1]).toContain("user-agent: other/1");
    expect(heads[1]).not.toContain("mementomap");
    expect(heads[1]).toContain("accept-datetime: Thu, 31 May 2007 20:35:00 GMT");
    await askWhole(testUpstream({ agent: "mine/2" }), timemapRequest(archive));
    expect(heads[2]).toContain("user-agent: mine/2\r\n");
  });

  it("with a header that cannot be sent is not a failure of the archive", async () => {
    const { archive, heads } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
    const upstream = testUpstream({ tolerance: 1 });
    for (const headers of [{ "accept-datetime": "a\r\nX: y" }, { expect: "x" }, { "a b": "c" }]) {
      const asked = upstream.ask(timemapRequest(archive, { headers }));
      await expect(asked).rejects.toMatchObject({ code: "MM_HTTP" });
    }
    expect(upstream.stateOf(archive)).toMatchObject({ health: "awake", consecutiveFailures: 0 });
    expect(heads).toEqual([]);
  });

  it("can be HEAD", async () => {
    const { archive, heads } = await rawArchive(
      (socket) =>
        void socket.write(
          "HTTP/1.1 200 X\r\nContent-Length: 100\r\nLink: <a>\r\nLink: <b>\r\n\r\n",
        ),
    );
    const answer = await testUpstream().ask(timemapRequest(archive, { method: "HEAD" }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("link")).toBe("<a>, <b>");
    expect(answer.headers.get("content-length")).toBe("100");
    expect(answer.headers.get("etag")).toBeUndefined();
    await answer.read(() => expect.unreachable());
    expect(heads[0]).toMatch(/^HEAD /);
  });
});

describe("redirects", () => {
  it("are followed to the end, byte for byte, or left to the caller", async () => {
    const { archive, origin, heads } = await rawArchive((socket, number) => {
      const where = ["/a/../b//c", `http://LOCALHOST.invalid/`, "d?x", undefined][number];
      const next = number === 1 ? `${origin}/a/../%zz"#part` : where;
      socket.write(
        next === undefined
          ? httpAnswer(200, "end")
          : httpAnswer(301 + number, "x", { Location: next }),
      );
    });
    const upstream = testUpstream();
    const answer = await askWhole(upstream, timemapRequest(archive));
    expect(heads.map((head) => head.split(" ")[1])).toEqual([
      "/timemap/http://example.com/",
      "/a/../b//c",
      "/a/../%zz%22",
      "/d?x",
    ]);
    expect(answer).toMatchObject({ status: 200, body: "end", url: `${origin}/d?x` });
    const { archive: other } = await rawArchive(
      (socket) => {
        socket.write(httpAnswer(302, "", { Location: "/x" }));
      },
      { id: "other" },
    );
    const left = await upstream.ask(timemapRequest(other, { followsRedirects: false }));
    expect(left.status).toBe(302);
    expect(left.headers.get("location")).toBe("/x");
    left.discard();
  });

  it.each<[string, (number: number) => string, RegExp]>([
    ["in a circle", (number) => (number % 2 === 0 ? "/a" : "/b"), /in a circle/],
    ["without end", (number) => `/${number}`, /more than 5 times/],
    ["to themselves", () => "/timemap/http://example.com/", /in a circle/],
    ["to a file", () => "file:///etc/passwd", /not a web address/],
    ["to another protocol", () => "gopher://127.0.0.1:70/", /not a web address/],
    ["to 127.0.0.1", () => "http://127.0.0.1:1/", /127\.0\.0\.1, which is a private/],
    ["to 10.0.0.1", () => "http://10.0.0.1/", /private/],
    ["to 192.168.0.1 by https", () => "https://192.168.0.1/", /private/],
    ["to a cloud's secrets", () => "http://169.254.169.254/latest/meta-data/", /private/],
    ["to [::1]", () => "http://[::1]:1/", /private/],
    ["to [::ffff:127.0.0.1]", () => "http://[::ffff:127.0.0.1]:1/", /private/],
    ["to [::127.0.0.1]", () => "http://[::127.0.0.1]:1/", /private/],
    ["to a decimal address", () => "http://2130706433:1/", /private/],
    ["to a hexadecimal address", () => "http://0x7f.1:1/", /private/],
    ["to an octal address", () => "http://0177.0.0.1:1/", /private/],
    ["to 0", () => "http://0:1/", /private/],
    [
      "to an address in wide digits",
      () => "http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1:1/",
      /private/,
    ],
    ["to a name that resolves to a private address", () => "http://inside.example/", /10\.1\.2\.3/],
    ["by https to a name that resolves so", () => "https://inside.example/", /10\.1\.2\.3/],
    ["with // to a private address", () => "//127.0.0.1:1/", /private/],
    ["with a user name", () => "http://a@127.0.0.1:1/", /with a user name/],
    ["with a backslash", () => "http://example.org\\@127.0.0.1:1/", /with a user name/],
    ["to nothing", () => "http://", /./],
  ])("%s are refused", async (_name, location, message) => {
    const { archive } = await rawArchive((socket, number) => {
      socket.write(httpAnswer(302, "moved", { Location: location(number) }));
    });
    const lookup: LookupFunction = (_host, options, done) => {
      if (options.all === true) done(null, [{ address: "10.1.2.3", family: 4 }]);
      else done(null, "10.1.2.3", 4);
    };
    const upstream = testUpstream({ lookup, retries: 2 });
    const asked = upstream.ask(timemapRequest(archive));
    await expect(asked).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:MM_REFUSED|MM_BAD_URI)$/) as string,
      message: expect.stringMatching(message) as string,
    });
    expect(upstream.stateOf(archive)).toMatchObject({
      consecutiveFailures: 0,
      requestsUnderWay: 0,
    });
  });

  it("may lead to an archive of the list, and anywhere if that is allowed", async () => {
    const target = await rawArchive((socket) => void socket.write(httpAnswer(200, "inside")), {
      id: "inside",
    });
    const { archive } = await rawArchive((socket) => {
      socket.write(httpAnswer(302, "", { Location: `${target.origin}/x` }));
    });
    const upstream = testUpstream();
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    expect(target.heads).toEqual([]);
    await askWhole(upstream, timemapRequest(target.archive));
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ body: "inside" });
    const open = testUpstream({ allowsPrivate: true });
    expect(await askWhole(open, timemapRequest(archive))).toMatchObject({ body: "inside" });
  });

  it("a name that becomes private the second time gains nothing", async () => {
    const { origin, heads } = await rawArchive((socket) => {
      socket.end(httpAnswer(200, "first", { Connection: "close" }));
    });
    const port = Number(new URL(origin).port);
    const { archive } = await rawArchive(
      (socket) => {
        socket.write(httpAnswer(302, "", { Location: `http://rebinding.example:${port}/` }));
      },
      { id: "redirecting" },
    );
    let turn = 0;
    const lookup: LookupFunction = (_host, options, done) => {
      turn += 1;
      const address = turn === 1 ? "203.0.114.1" : "127.0.0.1";
      if (options.all === true) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
    const upstream = testUpstream({ lookup, connectTimeoutMs: 100, totalTimeoutMs: 1500 });
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({ code: "MM_HTTP" });
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    expect(heads).toEqual([]);
  });

  it("an address that the caller names is checked as well", async () => {
    const inside = await rawArchive((socket) => void socket.write(httpAnswer(200, "secret")));
    const archive = archiveAt("http://public.example", { id: "public" });
    const asked = testUpstream().ask(timemapRequest(archive, { url: `${inside.origin}/admin` }));
    await expect(asked).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(inside.heads).toEqual([]);
  });
});

describe("addresses", () => {
  it.each([
    ["http://a/b", "http://a", "/b"],
    ["https://a:8/../x", "https://a:8", "/../x"],
    ["http://a", "http://a", "/"],
    ["http://a?b?c/d", "http://a", "/?b?c/d"],
    ["HTTP://A/b", "HTTP://A", "/b"],
  ])("%s is split", (url, origin, path) => {
    expect(splitAddress(url)).toEqual({ origin, path });
  });
});

describe("closing", () => {
  it("ends what is under way and what waits, and lets nothing be sent any more", async () => {
    const { archive, heads } = await rawArchive(() => undefined, { concurrency: 2 });
    const upstream = testUpstream({ retries: 2 });
    const asked = numbered(archive.timemap, 6).map((url) =>
      upstream.ask(timemapRequest(archive, { url })),
    );
    await until(() => heads.length === 2);
    const outcomes = Promise.allSettled(asked);
    await upstream.close();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { message: "the upstream is closed" },
      });
    }
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    expect(heads).toHaveLength(2);
    expect(upstream.stateOf(archive)).toMatchObject({
      requestsUnderWay: 0,
      requestsWaiting: 0,
      health: "awake",
    });
  });
});
