import { once } from "node:events";
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aggregating, plainArchive } from "../support/aggregating.ts";
import { rawExchange } from "../support/raw-http.ts";
import { serving } from "../support/serving.ts";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

function get(target: string | Buffer, headers: string = ""): Buffer {
  const bytes = typeof target === "string" ? Buffer.from(target) : target;
  return Buffer.concat([latin1("GET "), bytes, latin1(` HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)]);
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);

async function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

describe("bytes beyond ASCII in a request target", () => {
  it("are percent-encoded, whatever they are, when a publisher is asked", async () => {
    const { url } = await serving();
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 12, min: 0x80 });
    const plain = fc.stringMatching(/^[a-z0-9/?&=.]{0,8}$/);
    await fc.assert(
      fc.asyncProperty(plain, bytes, plain, async (before, raw, after) => {
        const uri = Buffer.concat([latin1(`http://a.org/${before}`), raw, latin1(after)]);
        const answer = await rawExchange(url, get(Buffer.concat([latin1("/lookup?url="), uri])));
        expect(statusOf(answer)).toBe(200);
        const encoded = Array.from(raw, (byte) => `%${byte.toString(16).toUpperCase()}`).join("");
        const { input } = JSON.parse(bodyOf(answer)) as { input: string };
        expect(input).toBe(`http://a.org/${before}${encoded}${after}`);
      }),
      { numRuns: 40 },
    );
  });

  it("reach archives percent-encoded, as MemGator sends them", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url } = await aggregating([one]);
    const answer = await rawExchange(url, get("/timemap/link/http://a.org/ü"));
    expect(statusOf(answer)).toBe(200);
    expect(answer).toContain("Connection: close");
    expect(one.requests.map(({ target }) => target)).toEqual(["/timemap/link/http://a.org/%C3%BC"]);
  });

  it("may come in a head of several packets, and from clients that close their side", async () => {
    const { url } = await serving();
    const socket = await opened(url);
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
    // Between packets the server has to have read: it answers another connection in between.
    socket.write(latin1("GET /lookup?url=http://a.org/\xfc HTTP/1.1\r\n"));
    await fetch(`${url}/health`);
    socket.write(latin1("Host: a\r\nX: y"));
    await fetch(`${url}/health`);
    socket.end(latin1("\r\n\r\n"));
    await once(socket, "close");
    expect(bodyOf(answer)).toContain("http://a.org/%FC");
  });

  it("may come on a connection that was used before", async () => {
    const { url } = await serving();
    const socket = await opened(url);
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
    socket.write(get("/health"));
    await once(socket, "data");
    socket.write(get(latin1("/lookup?url=http://a.org/\xe9")));
    await once(socket, "close");
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(answer).toContain("http://a.org/%E9");
  });

  it.each([
    ["with a body", latin1("GET /\xe9 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")],
    [
      "with a body in chunks",
      latin1("GET /\xe9 HTTP/1.1\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n"),
    ],
    ["in the method", latin1("G\xe9T / HTTP/1.1\r\n\r\n")],
    ["of a POST", latin1("POST /lookup?map=\xe9 HTTP/1.1\r\nHost: a\r\n\r\n")],
    ["in what is not HTTP", latin1("\xe9\xe9\xe9\r\n\r\n")],
  ])("are refused with a problem document %s", async (_name, request) => {
    const { url } = await serving();
    const answer = await rawExchange(url, request);
    expect(statusOf(answer)).toBe(400);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ status: 400, title: "Bad Request" });
  });

  it("do not let more headers in than others have", async () => {
    const { url } = await serving(undefined, { listen: { limits: { maxHeaderBytes: 4096 } } });
    const answer = await rawExchange(url, get(latin1("/\xe9"), `X: ${"x".repeat(8000)}\r\n`));
    expect(statusOf(answer)).toBeGreaterThanOrEqual(400);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});
