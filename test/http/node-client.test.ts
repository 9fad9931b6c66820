import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyStart } from "../../src/http/http-client.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import { drip, httpAnswer, rawArchive } from "../support/raw-archive.ts";

/** A client that is closed when the test ends. */
function client(): NodeClient {
  const made = new NodeClient({ allowsPrivate: true });
  onTestFinished(() => made.close());
  return made;
}

it("keeps connections for the next request", async () => {
  const { origin, connections } = await rawArchive((socket) => socket.write(httpAnswer(200, "x")));
  const one = client();
  for (let i = 0; i < 3; i++) {
    expect(await bodyStart(await one.request(origin), 100)).toHaveLength(1);
    // A connection is ready for the next request one turn of the event loop later.
    await new Promise(setImmediate);
  }
  expect(connections()).toBe(1);
});

it("holds little more than a body, however short the pieces are that it comes in", async () => {
  let sent = (): number => 0;
  const { origin } = await rawArchive((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    const before = socket.bytesWritten;
    sent = () => socket.bytesWritten - before;
    drip(socket, "a".repeat(1000));
  });
  const response = await client().request(origin);
  await expect.poll(() => sent()).toBe(1000);
  let [chunks, bytes] = [0, 0];
  for await (const chunk of response.body) {
    chunks += 1;
    bytes += chunk.length;
  }
  expect(bytes).toBe(1000);
  expect(chunks).toBeLessThan(30);
});

describe("an address", () => {
  it.each([
    ["/web/2015id_/http://a.example/b/../c//d", "/web/2015id_/http://a.example/b/../c//d"],
    ["/./%7e?url=http://a.example/../%zz", "/./%7e?url=http://a.example/../%zz"],
    ["/a#part", "/a"],
    ["", "/"],
    ["?q", "/?q"],
    ["/a b/\u00fc", "/a%20b/%C3%BC"],
  ])("with %j is asked for %j, byte for byte", async (written, target) => {
    const { origin, heads } = await rawArchive((socket) => socket.write(httpAnswer(200, "x")));
    const response = await client().request(origin + written);
    await response.discard();
    expect(heads.map((head) => head.split(" ")[1])).toEqual([target]);
    expect(response.url).toBe(origin + target);
  });

  it("with a user name is asked for with it, and can be asked for again", async () => {
    const { origin, heads } = await rawArchive((socket) => socket.write(httpAnswer(200, "x")));
    const url = `${origin.replace("//", "//me:s%40cret@")}/a/../b`;
    const response = await client().request(url);
    await response.discard();
    expect(response.url).toBe(url);
    expect(heads[0]).toContain(`Authorization: Basic ${btoa("me:s@cret")}`);
  });
});

describe("an answer", () => {
  it("that is cut gives what came of it, and then fails", async () => {
    const long = "x".repeat(300_000);
    const { origin } = await rawArchive((socket) => {
      socket.end(httpAnswer(200, long, { "Content-Length": "300001" }));
    });
    const { body } = await client().request(origin);
    let bytes = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of body) bytes += chunk.length;
    };
    await expect(read()).rejects.toMatchObject({
      code: "MM_HTTP",
      message: "the connection was closed before the response was complete",
      position: { source: `${origin}/` },
    });
    expect(bytes).toBe(300_000);
  });

  it("that has no body may have the length of another", async () => {
    const { origin } = await rawArchive((socket) => {
      socket.write(httpAnswer(304, "", { "Content-Length": "20" }));
    });
    const response = await client().request(origin);
    expect(response.headers.get("content-length")).toBe("20");
    expect(await bodyStart(response, 10)).toHaveLength(0);
  });

  it("that names itself twice is taken by its first name", async () => {
    const { origin, heads } = await rawArchive((socket, number) => {
      const twice = (name: string): string => `${name}: "${name}1"\r\n${name}: "${name}2"`;
      socket.write(
        number === 0
          ? httpAnswer(302, "", { Location: "/1\r\nLocation: /2" })
          : `HTTP/1.1 200 X\r\n${twice("ETag")}\r\n${twice("Link")}\r\nContent-Length: 0\r\n\r\n`,
      );
    });
    const response = await client().request(origin);
    const { headers } = response;
    await response.discard();
    expect(heads.map((head) => head.split(" ")[1])).toEqual(["/", "/1"]);
    expect(headers.get("etag")).toBe('"ETag1"');
    expect(headers.get("link")).toBe('"Link1", "Link2"');
  });

  it("that changes the protocol fails", async () => {
    const { origin } = await rawArchive((socket) => {
      socket.write("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
    });
    await expect(client().request(origin)).rejects.toMatchObject({ code: "MM_HTTP" });
  });
});

it("ends connections that are being made when it is closed", async () => {
  const server = createSocketServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const made = new NodeClient({ allowsPrivate: true });
  // It says nothing, so that the handshake of TLS does not end.
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => {
      socket.on("error", () => undefined).once("close", resolve);
      socket.resume();
      made.close();
    });
  });
  const { port } = server.address() as AddressInfo;
  await expect(made.request(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({
    code: "MM_HTTP",
    reason: "closed",
  });
  await closed;
  await new Promise((resolve) => server.close(resolve));
});
