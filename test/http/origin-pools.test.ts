import { createServer } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { OriginPools } from "../../src/http/origin-pools.ts";

/** Starts a server at an address of this machine; gives its port. */
async function serverAt(address: string, port: number): Promise<number> {
  const server = createServer((_request, response) => response.end(address));
  await new Promise<void>((resolve) => {
    server.listen(port, address, resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

describe.skipIf(process.platform !== "linux")("connections to an archive that moves", () => {
  it("go to its new address after a while, however busy the old ones are", async () => {
    const port = await serverAt("127.0.0.1", 0);
    await serverAt("127.0.0.2", port);
    let address = "127.0.0.1";
    let now = 0;
    const lookup: LookupFunction = (_host, _options, callback) => {
      callback(null, [{ address, family: 4 }]);
    };
    const pools = new OriginPools({
      connectTimeoutMs: 1000,
      connections: 1,
      allowsPrivate: () => true,
      lookup,
      now: () => now,
    });
    onTestFinished(() => pools.close());
    const origin = `http://archive.test:${port}`;
    const ask = async (): Promise<string> => {
      const { body } = await pools
        .poolOf(origin, origin)
        .pool.request({ path: "/", method: "GET" });
      return body.text();
    };
    expect(await ask()).toBe("127.0.0.1");
    address = "127.0.0.2";
    now = 599_000;
    expect(await ask()).toBe("127.0.0.1");
    now = 601_000;
    expect(await ask()).toBe("127.0.0.2");
    expect(await ask()).toBe("127.0.0.2");
  });
});
