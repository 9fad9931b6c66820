import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { bodyStart } from "../../src/http/http-client.ts";
import { NodeClient } from "../../src/http/node-client.ts";

it("keeps connections for the next request, and not for ever", async () => {
  const server = createServer((request, response) => {
    // Longer than an unused connection is kept: this one is in use.
    const pauseMs = request.url === "/slow" ? 400 : 0;
    setTimeout(() => {
      response.write("be");
      setTimeout(() => response.end("gun"), pauseMs);
    }, pauseMs);
  });
  server.keepAliveTimeout = 0; // for ever
  let connections = 0;
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new NodeClient({ trustedOrigins: [url], keptOpenMs: 100 });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const ask = async (path: string): Promise<string> => {
    const body = await bodyStart(await client.request(url + path), 100);
    return new TextDecoder().decode(body);
  };
  for (const path of ["/", "/slow", "/"]) expect(await ask(path)).toBe("begun");
  expect(connections).toBe(1);
  const open = (): Promise<number> =>
    new Promise((resolve) => {
      server.getConnections((_error, count) => resolve(count));
    });
  expect(await open()).toBe(1);
  await expect.poll(open).toBe(0);
  expect(await ask("/")).toBe("begun");
});
