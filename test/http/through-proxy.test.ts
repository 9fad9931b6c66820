import type { LookupFunction } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { NodeClient } from "../../src/http/node-client.ts";
import { ProxySettings } from "../../src/http/proxy.ts";
import { bodyStart } from "../../src/http/http-client.ts";
import { forwardProxy, portOf } from "../support/forward-proxy.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { createUpstream } from "../../src/aggregate/ask/create-upstream.ts";
import { archive } from "../support/sessions.ts";
import { getting } from "../support/raw-archive.ts";

/** Names that this machine knows. */
const KNOWN: Readonly<Record<string, string>> = {
  "intranet.test": "10.0.0.5",
  "public.test": "93.184.215.14",
};

const lookup: LookupFunction = (host, _options, callback) => {
  const address = KNOWN[host];
  if (address === undefined) {
    callback(Object.assign(new Error("no name"), { code: "ENOTFOUND" }), "");
  } else {
    callback(null, [{ address, family: 4 }]);
  }
};

/** Asks for an address as an aggregator does, and as `fetch` does; the answers or what was wrong. */
async function asked(
  url: string,
  proxies: ProxySettings | undefined,
  options: { readonly isTrusted: boolean },
): Promise<string[]> {
  const { origin } = new URL(url);
  const get = getting({ proxies, lookup, trusted: options.isTrusted ? [origin] : [] });
  const client = new NodeClient({
    proxies,
    trustedOrigins: options.isTrusted ? [origin] : [],
    lookup,
  });
  onTestFinished(() => client.close());
  const byUpstream = async (): Promise<string> => {
    const { status, body } = await get({ url });
    return `${status} ${body}`;
  };
  const byClient = async (): Promise<string> => {
    const response = await client.request(url);
    const body = await bodyStart(response, 1000);
    return `${response.status} ${new TextDecoder().decode(body)}`;
  };
  const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  return Promise.all([byUpstream().catch(said), byClient().catch(said)]);
}

describe("requests through a proxy", () => {
  it("send it the whole address, byte for byte, and the host its own name", async () => {
    const server = await scriptedServer((request, response) => {
      response.end(`${request.headers.host} ${request.url}`);
    });
    const proxy = await forwardProxy({ "a.test:80": portOf(server.url) }, "me:secret");
    const proxies = ProxySettings.of({ HTTP_PROXY: `http://me:secret@${proxy.address}` });
    const path = "/timemap/link/http://b.test//x?y=%2F";
    expect(await asked(`http://a.test${path}`, proxies, { isTrusted: true })).toEqual([
      `200 a.test ${path}`,
      `200 a.test ${path}`,
    ]);
    expect(proxy.requests).toEqual([`GET http://a.test${path}`, `GET http://a.test${path}`]);
    expect(server.requests.flatMap(({ headers }) => headers["proxy-authorization"] ?? [])).toEqual(
      [],
    );
  });

  it("send it the host as URLs have it, however a redirect spells that", async () => {
    const server = await scriptedServer((request, response) => {
      if (request.url === "/") response.setHeader("Location", "http://B\u00c3\u00bccher.test:80/x");
      response.writeHead(request.url === "/" ? 302 : 200).end("here");
    });
    const port = portOf(server.url);
    const proxy = await forwardProxy({ "a.test:80": port, "xn--bcher-kva.test:80": port });
    const proxies = ProxySettings.of({ HTTP_PROXY: proxy.address });
    expect(await asked("http://a.test/", proxies, { isTrusted: true })).toEqual([
      "200 here",
      "200 here",
    ]);
    expect(new Set(proxy.requests)).toEqual(
      new Set(["GET http://a.test/", "GET http://xn--bcher-kva.test/x"]),
    );
  });

  it("do not lead to what this machine knows to be private, unless the user named it", async () => {
    const server = await scriptedServer((_request, response) => response.end("inside"));
    const port = portOf(server.url);
    const proxy = await forwardProxy({ "intranet.test:80": port, "10.0.0.5:80": port });
    const proxies = ProxySettings.of({ HTTP_PROXY: proxy.address });
    const refusal = expect.stringMatching(/private address 10\.0\.0\.5/);
    for (const url of ["http://intranet.test/", "http://10.0.0.5/"]) {
      expect(await asked(url, proxies, { isTrusted: false })).toEqual([refusal, refusal]);
    }
    expect(proxy.requests).toEqual([]);
    expect(await asked("http://intranet.test/", proxies, { isTrusted: true })).toEqual([
      "200 inside",
      "200 inside",
    ]);
  });

  it("leave names to the proxy that this machine does not know, or knows to be public", async () => {
    const server = await scriptedServer((_request, response) => response.end("outside"));
    const port = portOf(server.url);
    const proxy = await forwardProxy({ "unknown.test:80": port, "public.test:80": port });
    const proxies = ProxySettings.of({ HTTP_PROXY: proxy.address });
    for (const url of ["http://unknown.test/", "http://public.test/"]) {
      expect(await asked(url, proxies, { isTrusted: false })).toEqual([
        "200 outside",
        "200 outside",
      ]);
    }
  });

  it("say what is wrong with the proxy, and not of the archive", async () => {
    const proxy = await forwardProxy({}, "me:secret");
    const away = ProxySettings.of({ ALL_PROXY: "http://127.0.0.1:1" });
    const nameless = ProxySettings.of({ ALL_PROXY: proxy.address });
    for (const url of ["http://a.test/", "https://a.test/"]) {
      const unreachable = "the proxy http://127.0.0.1:1 cannot be reached (ECONNREFUSED)";
      expect(await asked(url, away, { isTrusted: true })).toEqual([unreachable, unreachable]);
      const refused = expect.stringMatching(/^the proxy .* requires authentication/);
      expect(await asked(url, nameless, { isTrusted: true })).toEqual([refused, refused]);
    }
    const known = ProxySettings.of({ ALL_PROXY: `http://me:secret@${proxy.address}` });
    const lost = expect.stringMatching(/^the proxy .* cannot reach the host \(status 502\)/);
    expect(await asked("https://a.test/", known, { isTrusted: true })).toEqual([lost, lost]);
    expect(await asked("http://a.test/", known, { isTrusted: true })).toEqual(["502 ", "502 "]);
  });

  it("do not make an archive dormant for the proxy's sake", async () => {
    const proxies = ProxySettings.of({ ALL_PROXY: "http://127.0.0.1:1" });
    const upstream = createUpstream({ proxies, lookup, tolerance: 1, cache: "off" });
    onTestFinished(() => upstream.close());
    const a = archive("a", "http://a.test");
    for (let i = 0; i < 3; i++) {
      expect(await upstream.ask(a, "http://b.test/")).toMatchObject({ failure: "local" });
    }
    expect(upstream.stateOf(a)).toMatchObject({ health: "awake", consecutiveFailures: 0 });
    expect(upstream.traffic.get("a")?.failures).toMatchObject({ local: 3, connect: 0 });
  });
});
