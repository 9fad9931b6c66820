import type { LookupFunction } from "node:net";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { splitAddress } from "../../src/http/connections.ts";
import { getting, httpAnswer, rawArchive } from "../support/raw-archive.ts";

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
    const { origin, heads } = await rawArchive((socket) => void socket.write(httpAnswer(404)));
    const get = getting({ trusted: [origin] });
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
        await get({ url: `${origin}/timemap/${original}` });
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
    "http://user@a/",
  ])("to %j is refused with MM_BAD_URI", async (url) => {
    await expect(getting()({ url })).rejects.toMatchObject({ code: "MM_BAD_URI" });
  });

  it("says what it is told to, and the caller's word goes first", async () => {
    const { origin, heads } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
    const get = getting({ trusted: [origin], headers: { "user-agent": "mine/2", x: "y" } });
    await get({ url: origin, headers: { "user-agent": "other/1" } });
    expect(heads[0]).toContain("user-agent: other/1\r\n");
    expect(heads[0]).not.toContain("mine");
    expect(heads[0]).toContain("x: y");
  });

  it.each([{ "accept-datetime": "a\r\nX: y" }, { expect: "x" }, { "a b": "c" }])(
    "with a header that cannot be sent is not sent: %j",
    async (headers) => {
      const { origin, heads } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
      const got = getting({ trusted: [origin] })({ url: origin, headers });
      await expect(got).rejects.toMatchObject({ code: "MM_HTTP", reason: "bad-request" });
      expect(heads).toEqual([]);
    },
  );
});

describe("redirects", () => {
  it("are followed to the end, byte for byte, or left to the caller", async () => {
    const { origin, heads } = await rawArchive((socket, number) => {
      const where = ["/a/../b//c", `http://LOCALHOST.invalid/`, "d?x", undefined][number];
      const next = number === 1 ? `${origin}/a/../%zz"#part` : where;
      socket.write(
        next === undefined
          ? httpAnswer(200, "end")
          : httpAnswer(301 + number, "x", { Location: next }),
      );
    });
    const get = getting({ trusted: [origin] });
    const answer = await get({ url: `${origin}/timemap/http://example.com/` });
    expect(heads.map((head) => head.split(" ")[1])).toEqual([
      "/timemap/http://example.com/",
      "/a/../b//c",
      "/a/../%zz%22",
      "/d?x",
    ]);
    expect(answer).toMatchObject({ status: 200, body: "end", url: `${origin}/d?x` });
    const left = await get({ url: origin, followsRedirects: false });
    expect([left.status, left.headers.get("location")]).toEqual([200, undefined]);
  });

  it.each<[string, (number: number) => string, RegExp]>([
    ["in a circle", (number) => (number % 2 === 0 ? "/a" : "/b"), /redirect loop/],
    ["without end", (number) => `/${number}`, /more than 5 redirects/],
    ["to themselves", () => "/timemap/http://example.com/", /redirect loop/],
    ["to a file", () => "file:///etc/passwd", /not a web address/],
    ["to another protocol", () => "gopher://127.0.0.1:70/", /not a web address/],
    ["to 127.0.0.1", () => "http://127.0.0.1:1/", /private address 127\.0\.0\.1/],
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
    const { origin } = await rawArchive((socket, number) => {
      socket.write(httpAnswer(302, "moved", { Location: location(number) }));
    });
    const lookup: LookupFunction = (_host, options, done) => {
      if (options.all === true) done(null, [{ address: "10.1.2.3", family: 4 }]);
      else done(null, "10.1.2.3", 4);
    };
    const get = getting({ lookup, trusted: [origin] });
    await expect(get({ url: `${origin}/timemap/http://example.com/` })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:MM_REFUSED|MM_BAD_URI)$/) as string,
      message: expect.stringMatching(message) as string,
    });
  });

  it("may lead to private addresses that are trusted, and anywhere if that is allowed", async () => {
    const target = await rawArchive((socket) => void socket.write(httpAnswer(200, "inside")));
    const { origin } = await rawArchive((socket) => {
      socket.write(httpAnswer(302, "", { Location: `${target.origin}/x` }));
    });
    const refused = getting({ trusted: [origin] })({ url: origin });
    await expect(refused).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(target.heads).toEqual([]);
    const trusting = getting({ trusted: [origin, target.origin] });
    expect(await trusting({ url: origin })).toMatchObject({ body: "inside" });
    const open = getting({ allowsPrivate: true });
    expect(await open({ url: origin })).toMatchObject({ body: "inside" });
  });

  it("a name that becomes private the second time gains nothing", async () => {
    const inside = await rawArchive((socket) => void socket.write(httpAnswer(200, "secret")));
    const port = Number(new URL(inside.origin).port);
    const { origin } = await rawArchive((socket) => {
      socket.write(httpAnswer(302, "", { Location: `http://rebinding.example:${port}/` }));
    });
    let turn = 0;
    const lookup: LookupFunction = (_host, options, done) => {
      turn += 1;
      const address = turn === 1 ? "203.0.114.1" : "127.0.0.1";
      if (options.all === true) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
    const times = { connectTimeoutMs: 100, totalTimeoutMs: 1500 };
    const get = getting({ trusted: [origin], lookup, ...times });
    await expect(get({ url: origin })).rejects.toMatchObject({ code: "MM_HTTP" });
    await expect(get({ url: origin })).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(inside.heads).toEqual([]);
  });

  it("a trusted origin whose name was public stays bound to public addresses, in all clients", async () => {
    const inside = await rawArchive((socket) => void socket.write(httpAnswer(200, "secret")));
    const origin = `http://archive.example:${new URL(inside.origin).port}`;
    let turn = 0;
    const lookup: LookupFunction = (_host, options, done) => {
      turn += 1;
      const address = turn === 1 ? "203.0.114.1" : "127.0.0.1";
      if (options.all === true) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
    const times = { connectTimeoutMs: 100, totalTimeoutMs: 1500 };
    const get = getting({ trusted: [origin], lookup, ...times });
    await expect(get({ url: origin })).rejects.toMatchObject({ code: "MM_HTTP" });
    await expect(get({ url: origin })).rejects.toMatchObject({ code: "MM_REFUSED" });
    const another = getting({ trusted: [origin], lookup, ...times });
    await expect(another({ url: origin })).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(inside.heads).toEqual([]);
  });

  it("an address that the caller names is checked as well", async () => {
    const inside = await rawArchive((socket) => void socket.write(httpAnswer(200, "secret")));
    await expect(getting()({ url: `${inside.origin}/admin` })).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    expect(inside.heads).toEqual([]);
  });
});

it("connections are made anew after a while, however busy they are", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { origin, connections } = await rawArchive((socket, number) => {
    if (number > 0) socket.write(httpAnswer(200));
  });
  const get = getting({ trusted: [origin], totalTimeoutMs: 3_600_000 });
  const held = get({ url: origin, followsRedirects: false }).catch(() => "closed");
  await expect.poll(connections).toBe(1);
  vi.advanceTimersByTime(601_000);
  await get({ url: origin });
  await get({ url: origin });
  expect(connections()).toBe(2);
  void held;
});

describe("addresses", () => {
  it.each([
    ["http://a/b", "http://a", "/b"],
    ["https://a:8/../x", "https://a:8", "/../x"],
    ["http://a", "http://a", "/"],
    ["http://a?b?c/d", "http://a", "/?b?c/d"],
    ["HTTP://A/b", "http://a", "/b"],
  ])("%s is split", (url, origin, path) => {
    expect(splitAddress(url)).toEqual({ origin, path });
  });
});
