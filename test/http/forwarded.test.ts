import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../../src/http/reply.ts";
import { type ClientView, TrustedProxies } from "../../src/http/forwarded.ts";

function view(
  trusted: readonly string[],
  remoteAddress: string,
  headers: Readonly<Record<string, string | undefined>> = {},
): ClientView {
  // All that is looked at.
  const request = { remoteAddress, protocol: "http", headers } as unknown as HttpRequest;
  return new TrustedProxies(trusted).view(request);
}

describe("trusted proxies", () => {
  it.each<[string, string, string[], string, string]>([
    ["nobody", "192.0.2.9", [], "198.51.100.1", "192.0.2.9"],
    ["a stranger", "192.0.2.9", ["loopback"], "198.51.100.1", "192.0.2.9"],
    ["one proxy", "127.0.0.1", ["loopback"], "198.51.100.1", "198.51.100.1"],
    [
      "one proxy, and a client that lies",
      "127.0.0.1",
      ["loopback"],
      "10.9.9.9, 198.51.100.1",
      "198.51.100.1",
    ],
    [
      "two proxies",
      "127.0.0.1",
      ["loopback", "10.0.0.0/8"],
      "198.51.100.1, 10.0.0.7",
      "198.51.100.1",
    ],
    [
      "two proxies, one of them not trusted",
      "127.0.0.1",
      ["loopback"],
      "198.51.100.1, 10.0.0.7",
      "10.0.0.7",
    ],
    ["a port", "::ffff:127.0.0.1", ["loopback"], "198.51.100.1:4711", "198.51.100.1"],
    ["IPv6", "::1", ["loopback"], "[2001:db8::1]:4711", "2001:db8::1"],
    ["something hidden", "127.0.0.1", ["any"], "198.51.100.1, unknown", "127.0.0.1"],
    ["trust in all", "127.0.0.1", ["any"], "198.51.100.1, 10.0.0.7", "198.51.100.1"],
  ])("find the client behind %s", (_name, remote, trusted, forwarded, address) => {
    expect(view(trusted, remote, { "x-forwarded-for": forwarded }).address).toBe(address);
    const standard = forwarded
      .split(", ")
      .map((each) => `for="${each}"`)
      .join(", ");
    expect(view(trusted, remote, { forwarded: standard }).address).toBe(address);
  });

  it("take protocol, host and prefix of those only", () => {
    const headers = {
      host: "inner:8080",
      "x-forwarded-for": "198.51.100.1",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "outer.example:8443",
      "x-forwarded-prefix": "/mementos/",
    };
    expect(view(["loopback"], "127.0.0.1", headers)).toEqual({
      address: "198.51.100.1",
      protocol: "https",
      host: "outer.example:8443",
      prefix: "/mementos",
    });
    expect(view(["loopback"], "192.0.2.1", headers)).toEqual({
      address: "192.0.2.1",
      protocol: "http",
      host: "inner:8080",
      prefix: "",
    });
  });

  it("go by the hop of the client where every proxy adds its own", () => {
    const forwarded =
      'for=6.6.6.6;host=evil;proto=http, For="[2001:db8::1]";Host="a.org";PROTO=https, for=10.0.0.7;host=inner';
    expect(view(["private", "loopback"], "127.0.0.1", { forwarded })).toMatchObject({
      address: "2001:db8::1",
      protocol: "https",
      host: "a.org",
    });
    const lists = {
      "x-forwarded-for": "6.6.6.6, 198.51.100.1, 10.0.0.7",
      "x-forwarded-proto": "http, https, http",
      "x-forwarded-host": "evil, a.org, inner",
    };
    expect(view(["private", "loopback"], "127.0.0.1", lists)).toMatchObject({
      address: "198.51.100.1",
      protocol: "https",
      host: "a.org",
    });
  });

  it("give nothing that could not stand in a link, whatever headers say", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(text, text, text, text, (proto, host, prefix, forwarded) => {
        for (const headers of [
          { "x-forwarded-proto": proto, "x-forwarded-host": host, "x-forwarded-prefix": prefix },
          { forwarded, "x-forwarded-prefix": prefix },
          { "x-forwarded-for": forwarded, "x-forwarded-host": host },
        ]) {
          const found = view(["any"], "127.0.0.1", headers);
          expect(found.protocol).toMatch(/^https?$/);
          expect(found.host ?? "x").toMatch(/^[\w.:[\]-]+$/);
          expect(found.prefix).toMatch(/^(?:(?:\/[^\s/<>"?#\\]+)+)?$/);
        }
      }),
    );
  });

  it.each(["", "nginx", "10.0.0.0/33", "::1/129", "1.2.3.4/8/9", "10.0.0.0/x"])(
    "are not %j",
    (proxy) => {
      expect(() => new TrustedProxies([proxy])).toThrow(/not a proxy/);
    },
  );
});

describe("hostile headers of proxies", () => {
  it("hide no client behind many hops", () => {
    const hops = Array.from({ length: 150 }, () => "1.1.1.1").join(", ");
    const headers = { "x-forwarded-for": `${hops}, 198.51.100.7` };
    expect(view(["loopback"], "127.0.0.1", headers).address).toBe("198.51.100.7");
  });

  it.each(["[", "a:b:c", "x:99999999", "[::1"])("have no host of %j", (host) => {
    expect(view([], "192.0.2.1", { host }).host).toBeUndefined();
  });

  it("have no long prefix", () => {
    const headers = { "x-forwarded-prefix": `${"/".repeat(200_000)}x` };
    expect(view(["loopback"], "127.0.0.1", headers).prefix).toBe("");
  });
});
