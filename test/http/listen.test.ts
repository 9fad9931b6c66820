import { once } from "node:events";
import type { Server } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MementoMapError } from "../../src/errors.ts";
import { listen } from "../../src/http/listen.ts";
import { aggregating, plainArchive } from "../support/aggregating.ts";
import { rawExchange } from "../support/raw-http.ts";
import { serving } from "../support/serving.ts";

describe("a server that cannot take a connection", () => {
  it("tells of it each time, and goes on", async () => {
    const errors: MementoMapError[] = [];
    let server: Server | undefined;
    const listening = await listen(
      {
        handle: (request, response) => {
          // Not documented, and the only way to the server from here.
          ({ server } = request.socket as unknown as { server: Server });
          response.end("here");
          return true;
        },
        handleUnknown: () => undefined,
      },
      { port: 0, onError: (error) => errors.push(error) },
    );
    onTestFinished(() => listening.stop());
    const ask = async (): Promise<string> => (await fetch(listening.url)).text();
    expect(await ask()).toBe("here");
    for (let i = 0; i < 3; i++) {
      const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
      server?.emit("error", error);
    }
    expect(errors.map(({ code }) => code)).toEqual(["MM_IO", "MM_IO", "MM_IO"]);
    expect(await ask()).toBe("here");
  });
});

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

function get(target: string | Buffer, headers: string = ""): Buffer {
  const bytes = typeof target === "string" ? Buffer.from(target) : target;
  return Buffer.concat([latin1("GET "), bytes, latin1(` HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)]);
}

const CLOSE = "Connection: close\r\n";

const statusOf = (answer: string): number => Number(answer.slice(9, 12));
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);

it("several Host headers are refused, also of one name", async () => {
  const { url } = await serving();
  for (const host of ["b", "a"]) {
    const answer = await rawExchange(url, get("/health", `host: ${host}\r\n`));
    expect(statusOf(answer)).toBe(400);
  }
});

describe("bytes beyond ASCII in a request target", () => {
  it("are refused with advice, whatever they are, and no archive is asked", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url: publisher } = await serving();
    const { url: aggregator } = await aggregating([one]);
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 12, min: 0x80 });
    const plain = fc.stringMatching(/^[a-z0-9/?&=.]{0,8}$/);
    const asked = fc.constantFrom(
      [publisher, "/lookup?url="] as const,
      [aggregator, "/timemap/link/"] as const,
    );
    await fc.assert(
      fc.asyncProperty(asked, plain, bytes, plain, async ([url, path], before, raw, after) => {
        const target = [latin1(`${path}http://a.org/${before}`), raw, latin1(after)];
        const answer = await rawExchange(url, get(Buffer.concat(target)));
        expect(statusOf(answer)).toBe(400);
        expect(bodyOf(answer)).toContain("percent-encode it");
      }),
      { numRuns: 40 },
    );
    expect(one.requests).toEqual([]);
  });

  it("are looked up once they are percent-encoded", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const { url: publisher } = await serving();
    const { url: aggregator } = await aggregating([one]);
    const lookup = await rawExchange(publisher, get("/lookup?url=http://a.org/%FC", CLOSE));
    expect(JSON.parse(bodyOf(lookup))).toMatchObject({ input: "http://a.org/%FC" });
    const timeMap = await rawExchange(aggregator, get("/timemap/link/http://a.org/%C3%BC", CLOSE));
    expect(statusOf(timeMap)).toBe(200);
    expect(one.requests.map(({ target }) => target)).toEqual(["/timemap/link/http://a.org/%C3%BC"]);
  });

  it("are refused on a connection that was used before, which is closed", async () => {
    const { url } = await serving();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
    socket.write(get("/health"));
    await once(socket, "data");
    socket.write(get(latin1("/lookup?url=http://a.org/\xe9")));
    await once(socket, "close");
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
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
