import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Connection, type Hop, type Sending } from "../../src/http/connection.ts";
import { networkFailure } from "../../src/http/network-failure.ts";

/** The other end of a connection, which says what a test wants. */
class Server extends Duplex {
  heard = "";

  override _read(): void {
    // Only what a test pushes is read.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.heard += chunk.toString("latin1");
    done();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

interface Outcome {
  heads: [status: number, fields: string][];
  body: string;
  chunks: number;
  /** `whole`, or the reason why it is not; undefined while it is under way. */
  end: string | undefined;
  /** Whether the connection can be used again. */
  isFree: boolean;
}

/** Gives a connection what a server sends in pieces, and tells what becomes of a request. */
async function answered(
  pieces: readonly (Buffer | "end" | "cut")[],
  {
    method = "GET",
    pausesAfter = 0,
  }: { readonly method?: "GET" | "HEAD"; readonly pausesAfter?: number } = {},
): Promise<Outcome> {
  const outcome: Outcome = { heads: [], body: "", chunks: 0, end: undefined, isFree: false };
  const owner = {
    onFree: () => {
      outcome.isFree = true;
    },
    onGone: () => undefined,
  };
  const connection = new Connection(owner, 1000);
  let hop: Hop | undefined;
  const handler = {
    isUnwanted: false,
    onConnect: (under: Hop) => {
      hop = under;
    },
    onHead: (status: number, fields: { readonly text: string }) => {
      outcome.heads.push([status, fields.text]);
    },
    onData: (chunk: Uint8Array) => {
      outcome.body += Buffer.from(chunk).toString("latin1");
      outcome.chunks += 1;
      if (pausesAfter === 0 || outcome.chunks % pausesAfter > 0) return true;
      setImmediate(() => hop?.resume(handler));
      return false;
    },
    onComplete: () => {
      outcome.end = "whole";
    },
    onError: (error: Error) => {
      outcome.end = networkFailure(error, "").reason;
    },
  };
  const sending: Sending = { request: { method, head: `${method} / HTTP/1.1\r\n\r\n` }, handler };
  const server = new Server();
  connection.expect(sending);
  connection.open(server as unknown as Socket); // what a connection needs of a socket
  expect(server.heard).toBe(sending.request.head);
  for (const piece of pieces) {
    if (piece === "end") server.push(null);
    else if (piece === "cut")
      server.destroy(Object.assign(new Error("cut"), { code: "ECONNRESET" }));
    // A copy: what a socket gives belongs to the connection, which moves chunks together in it.
    else server.push(Buffer.from(piece));
    await new Promise(setImmediate);
  }
  for (let turn = 0; turn < 50 && outcome.end === undefined; turn++)
    await new Promise(setImmediate);
  server.destroy();
  return outcome;
}

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

/** Cuts bytes at some places. */
function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (whole.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...at]
    .map((start, i) => whole.subarray(start, at[i]))
    .filter((part) => part.length > 0);
}

/** A body as it is sent in chunks of these lengths. */
function chunked(body: string, lengths: readonly number[], trailers: string): string {
  let [sent, at] = ["", 0];
  for (const length of [...lengths, body.length]) {
    const chunk = body.slice(at, at + length);
    if (chunk === "") break;
    sent += `${chunk.length.toString(16)};x=y\r\n${chunk}\r\n`;
    at += chunk.length;
  }
  return `${sent}0\r\n${trailers}\r\n`;
}

const body = fc.string({ unit: fc.constantFrom("a", "\r", "\n", "0", "\u00ff"), maxLength: 60 });
const places = fc.array(fc.nat(), { maxLength: 8 });

describe("a connection", () => {
  it("gives the same answer however its bytes come", async () => {
    const response = fc.record({
      interim: fc.constantFrom("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
      body,
      end: fc.constantFrom("length", "chunked", "close"),
      lengths: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }),
      trailers: fc.constantFrom("", "Expires: never\r\n"),
      isClosed: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(response, places, fc.nat({ max: 3 }), async (given, cuts, pausesAfter) => {
        const closes = given.isClosed ? "Connection: close\r\n" : "";
        const framing = {
          length: `Content-Length: ${given.body.length}\r\n`,
          chunked: "Transfer-Encoding: chunked\r\n",
          close: "",
        }[given.end];
        const fields = `X-A: 1\r\n${framing}${closes}x-a:\t2 \r\n`;
        const sent =
          given.end === "chunked" ? chunked(given.body, given.lengths, given.trailers) : given.body;
        const whole = bytes(`${given.interim}HTTP/1.1 200 OK\r\n${fields}\r\n${sent}`);
        const pieces = [...cut(whole, cuts), ...(given.end === "close" ? (["end"] as const) : [])];
        const outcome = await answered(pieces, { pausesAfter });
        expect(outcome.heads.at(-1)).toEqual([200, fields]);
        expect(outcome.heads).toHaveLength(given.interim === "" ? 1 : 2);
        expect(outcome.body).toBe(given.body);
        expect(outcome.end).toBe("whole");
        expect(outcome.isFree).toBe(given.end !== "close" && !given.isClosed);
      }),
    );
  });

  it("hands many short chunks on as one", async () => {
    const whole = bytes(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked("abcdef".repeat(100), Array(600).fill(1), "")}`,
    );
    const { body, chunks, end, isFree } = await answered([whole]);
    expect([body, chunks, end, isFree]).toEqual(["abcdef".repeat(100), 1, "whole", true]);
  });

  it("reads a head that comes byte by byte in linear time", () => {
    const connection = new Connection(
      { onFree: () => undefined, onGone: () => undefined },
      300_000,
    );
    const statuses: number[] = [];
    const handler = {
      isUnwanted: false,
      onConnect: () => undefined,
      onHead: (status: number) => void statuses.push(status),
      onData: () => true,
      onComplete: () => undefined,
      onError: () => undefined,
    };
    connection.expect({ request: { method: "GET", head: "" }, handler });
    connection.open(new Server() as unknown as Socket); // what a connection needs of a socket
    const { onread } = connection;
    const input = onread.buffer as Uint8Array; // not a function that gives one
    const begun = performance.now();
    for (const byte of bytes(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(250_000)}\r\n\r\n`)) {
      input[0] = byte;
      onread.callback(1, input);
    }
    expect(statuses).toEqual([200]);
    // It took six seconds when each byte copied all before it.
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it("fails where an answer ends early, wherever that is", async () => {
    const whole = bytes(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked("abcdef", [2], "")}`,
    );
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.boolean(), async (length, isCut) => {
        const pieces = [whole.subarray(0, length), isCut ? "cut" : "end"] as const;
        expect((await answered(pieces)).end).toBe("reset");
      }),
      { numRuns: 60 },
    );
  });

  it.each<[string, string, string]>([
    ["is not HTTP", "SSH-2.0-OpenSSH\r\n", "bad-http"],
    ["is of another version", "HTTP/2 200\r\n\r\n", "bad-http"],
    ["has no status", "HTTP/1.1 OK\r\n\r\n", "bad-http"],
    ["has a status below 100", "HTTP/1.1 099 X\r\n\r\n", "bad-http"],
    ["has lines without CR", "HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n", "bad-http"],
    ["has a field without a name", "HTTP/1.1 200 OK\r\n: a\r\n\r\n", "bad-http"],
    ["has a blank before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", "bad-http"],
    ["has a control character in a value", "HTTP/1.1 200 OK\r\nX: a\u0000b\r\n\r\n", "bad-http"],
    [
      "has two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "bad-http",
    ],
    ["has a length that is a list", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na", "bad-http"],
    ["has a length below nothing", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "bad-http"],
    [
      "has a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "bad-http",
    ],
    [
      "is compressed for transfer",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "bad-http",
    ],
    [
      "has a chunk without a length",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "bad-http",
    ],
    [
      "has a chunk that is too long",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "bad-http",
    ],
    [
      "has an endless line before a chunk",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${"a".repeat(5000)}`,
      "bad-http",
    ],
    [
      "has endless trailers",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${`a: ${"b".repeat(1000)}\r\n`.repeat(100)}`,
      "header-limit",
    ],
    ["changes the protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "bad-http"],
    ["has a head without an end", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(1000)}`, "header-limit"],
    [
      "has a head that is too long",
      `HTTP/1.1 200 OK\r\nX: ${"a".repeat(1000)}\r\n\r\n`,
      "header-limit",
    ],
  ])("refuses what %s", async (_what, sent, reason) => {
    const { end, isFree } = await answered([bytes(sent)]);
    expect([end, isFree]).toEqual([reason, false]);
  });

  it.each<[string, string, { readonly method?: "HEAD" }, boolean]>([
    ["to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", { method: "HEAD" }, true],
    ["of status 204", "HTTP/1.1 204 None\r\nContent-Length: 10\r\n\r\n", {}, true],
    ["of status 304", "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", {}, true],
    ["of length 0", "HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", {}, true],
    ["of HTTP/1.0", "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n", {}, false],
    [
      "of HTTP/1.0 that is kept",
      "HTTP/1.0 404 X\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n",
      {},
      true,
    ],
    [
      "of HTTP/1.0 in chunks, which it does not have,",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n",
      {},
      false,
    ],
    [
      "that says twice that it comes in chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
      {},
      true,
    ],
    ["without a reason phrase", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", {}, true],
    ["with a folded field", "HTTP/1.1 404 X\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", {}, true],
    [
      "followed by another one",
      "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      {},
      false,
    ],
  ])("takes an answer %s for whole", async (_what, sent, options, isFree) => {
    const outcome = await answered([bytes(sent)], options);
    expect([outcome.body, outcome.end, outcome.isFree]).toEqual(["", "whole", isFree]);
  });
});
