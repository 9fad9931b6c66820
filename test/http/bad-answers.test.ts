import type { Socket } from "node:net";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MementoMapError } from "../../src/errors.ts";
import { getting, httpAnswer, rawArchive } from "../support/raw-archive.ts";

const BODY = '<http://example.com/>; rel="original",\n';

function quickBrotli(body: string | Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } });
}

/** Sends the same bytes as long as somebody takes them. */
function flood(socket: Socket, block: Buffer): void {
  const send = (): void => {
    while (!socket.destroyed && socket.write(block));
    if (!socket.destroyed) socket.once("drain", send);
  };
  send();
}

type Say = (socket: Socket) => void;

/** Says something and waits, or ends the connection. */
const says =
  (text: string): Say =>
  (socket) =>
    void socket.write(text, "latin1");
const ends =
  (text: string): Say =>
  (socket) =>
    void socket.end(text);
const OK = "HTTP/1.1 200 OK\r\n";
const HALF = `${OK}Content-Length: 100\r\n\r\n<http`;
const CUT_GZIP = gzipSync(BODY.repeat(1000)).subarray(0, 100).toString("latin1");

/** Says a byte every 20 ms. */
const drips = (start: string, text: string): Say => {
  return (socket) => {
    socket.write(start);
    let at = 0;
    const timer = setInterval(() => {
      if (socket.destroyed) clearInterval(timer);
      else socket.write(text[at++] ?? "x");
    }, 20);
  };
};

const floods = (start: string, block: Buffer): Say => {
  return (socket) => {
    socket.write(start);
    flood(socket, block);
  };
};

describe("an archive that answers badly", () => {
  it.each<[string, Say, RegExp]>([
    ["hangs before its head", () => undefined, /no response within 0.6 s/],
    ["hangs in the middle of its head", says(`${OK}Content-`), /no response within 0.6 s/],
    ["hangs in the middle of its body", says(HALF), /no complete response within 1.5 s/],
    ["closes at once", (socket) => socket.destroy(), /closed before the response was complete/],
    [
      "resets at once",
      (socket) => socket.resetAndDestroy(),
      /closed before the response was complete/,
    ],
    [
      "resets in the middle of its body",
      (socket) => socket.write(HALF, () => socket.resetAndDestroy()),
      /closed before the response was complete/,
    ],
    [
      "sends less than it says",
      ends(httpAnswer(200, BODY, { "Content-Length": "1000" })),
      /closed before the response was complete|where its head says/,
    ],
    [
      "ends in the middle of a chunk",
      ends(`${OK}Transfer-Encoding: chunked\r\n\r\n100\r\nabc`),
      /cut|where its head says|closed/,
    ],
    [
      "sends chunks of no length",
      ends(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc`),
      /HTTP|chunk/i,
    ],
    ["does not speak HTTP", ends("220 smtp.example.org ESMTP\r\n"), /HTTP/],
    ["speaks no HTTP of this world", ends("HTTP/1.1 abc OK\r\n\r\n"), /HTTP/],
    [
      "sends headers without end",
      floods(OK, Buffer.from(`X-A: ${"x".repeat(8000)}\r\n`)),
      /response headers are too large/,
    ],
    [
      "sends one header without end",
      floods(`${OK}X-A: `, Buffer.alloc(8000, "x")),
      /response headers are too large/,
    ],
    ["sends a body byte by byte", drips(`${OK}\r\n`, ""), /no complete response within 1.5 s/],
    [
      "sends its head byte by byte",
      drips("", `${OK}X-A: 1\r\n`.repeat(100)),
      /no response within 0.6 s/,
    ],
    [
      "compresses in a way nobody asked for",
      says(httpAnswer(200, BODY, { "Content-Encoding": "zstd" })),
      /coding/,
    ],
    [
      "says that it compresses, and does not",
      says(httpAnswer(200, BODY, { "Content-Encoding": "gzip" })),
      /cannot be decompressed/,
    ],
    [
      "cuts what it compresses",
      says(httpAnswer(200, CUT_GZIP, { "Content-Encoding": "gzip" })),
      /cannot be decompressed/,
    ],
    [
      "switches protocols",
      ends("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
      /./,
    ],
  ])("%s", async (_name, answer, message) => {
    const { origin } = await rawArchive(answer);
    const get = getting({ trusted: [origin], headersTimeoutMs: 600, totalTimeoutMs: 1500 });
    await expect(get({ url: origin })).rejects.toMatchObject({
      code: "MM_HTTP",
      message: expect.stringMatching(message) as string,
    });
  });

  it("sends a body without end", async () => {
    const { origin } = await rawArchive(floods(`${OK}\r\n`, Buffer.alloc(65_536, BODY)));
    const got = getting({ trusted: [origin] })({ url: origin });
    await expect(got).rejects.toMatchObject({
      code: "MM_LIMIT",
      message: "the body is longer than 1000000 bytes",
    });
  });

  it("sends more than it says: what it said counts, and the next answer is not mixed up", async () => {
    const { origin } = await rawArchive((socket, number) => {
      socket.write(`${httpAnswer(200, `${number}`.repeat(5))}HTTP/1.1 200 X\r\n\r\nforged`);
    });
    const get = getting({ trusted: [origin] });
    for (const body of ["00000", "11111", "22222"]) {
      expect(await get({ url: origin })).toMatchObject({ status: 200, body });
    }
  });

  it("sends a gigabyte: memory stays flat and the rest is not fetched", async () => {
    let sent = 0;
    const { origin } = await rawArchive((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
      const block = Buffer.alloc(2 ** 20, BODY);
      const send = (): void => {
        while (!socket.destroyed && sent < 2 ** 30 && socket.write(block)) sent += block.length;
        if (!socket.destroyed) socket.once("drain", send);
      };
      send();
    });
    const before = process.memoryUsage.rss();
    let taken = 0;
    let peak = 0;
    const got = getting({ trusted: [origin] })(
      { url: origin, maxBytes: 256 * 2 ** 20 },
      () => (chunk) => {
        taken += chunk.length;
        peak = Math.max(peak, process.memoryUsage.rss());
      },
    );
    await expect(got).rejects.toMatchObject({ code: "MM_LIMIT" });
    expect(taken).toBeGreaterThan(255 * 2 ** 20);
    expect(taken).toBeLessThanOrEqual(256 * 2 ** 20);
    expect(sent).toBeLessThan(300 * 2 ** 20);
    expect(peak - before).toBeLessThan(128 * 2 ** 20);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", quickBrotli],
    ["deflate", deflateSync],
  ] as const)("sends a bomb of %s: it is cut, and memory stays flat", async (coding, compress) => {
    const bomb = compress(Buffer.alloc(256 * 2 ** 20));
    const { origin } = await rawArchive((socket) => {
      const fields = `Content-Encoding: ${coding}\r\nContent-Length: ${bomb.length}`;
      socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`);
      socket.write(bomb);
    });
    const before = process.memoryUsage.rss();
    const got = getting({ trusted: [origin] })({ url: origin, maxBytes: 16 * 2 ** 20 });
    await expect(got).rejects.toMatchObject({ code: "MM_LIMIT" });
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20);
  });

  it("does not listen, or has no host", async () => {
    const get = getting({
      allowsPrivate: true,
      lookup: (host, _options, done) => {
        done(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), "");
      },
    });
    for (const [origin, message] of [
      ["http://127.0.0.1:1", "connection refused"],
      ["http://nowhere.example", "no such host"],
    ] as const) {
      await expect(get({ url: origin })).rejects.toMatchObject({ code: "MM_HTTP", message });
    }
  });
});

describe("bodies", () => {
  const long = Array.from({ length: 40_000 }, (_, at) => `${at * 7919}:${BODY}`).join("");

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["br", quickBrotli],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["identity", (text: string) => Buffer.from(text)],
  ] as const)("in %s come decompressed, short and long", async (coding, compress) => {
    for (const body of ["", BODY, long]) {
      const packed = body === "" ? Buffer.alloc(0) : compress(body);
      const { origin } = await rawArchive((socket) => {
        const fields = `Content-Encoding: ${coding}\r\nContent-Length: ${packed.length}`;
        socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`);
        for (let at = 0; at < packed.length; at += 50_000) {
          socket.write(packed.subarray(at, at + 50_000));
        }
      });
      const got = await getting({ trusted: [origin] })({ url: origin, maxBytes: 1e8 });
      expect(got.body === body).toBe(true);
    }
  });

  it("that end with the connection are whole", async () => {
    const { origin } = await rawArchive((socket) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${BODY}`));
    expect(await getting({ trusted: [origin] })({ url: origin })).toMatchObject({ body: BODY });
  });

  it("that are not wanted let the connection be used again if they are short", async () => {
    /** The connections made when each request came. */
    const made: number[] = [];
    const { origin, connections } = await rawArchive((socket, number) => {
      made.push(connections());
      socket.write(httpAnswer(404, "x".repeat(number === 2 ? 10_000_000 : 1000)));
    });
    const get = getting({ trusted: [origin] });
    for (let i = 0; i < 4; i++) {
      expect(await get({ url: origin }, () => undefined)).toMatchObject({ status: 404, body: "" });
    }
    expect(made).toEqual([1, 1, 1, 2]);
  });

  it("what the taker throws ends the reading", async () => {
    const { origin } = await rawArchive((socket) => void socket.write(httpAnswer(200, BODY)));
    const thrown = new MementoMapError("MM_LIMIT", "too many mementos");
    const got = getting({ trusted: [origin] })({ url: origin }, () => () => {
      throw thrown;
    });
    await expect(got).rejects.toBe(thrown);
  });
});
