import { describe, expect, it } from "vitest";
import { ProxySettings } from "../../src/http/proxy.ts";

function proxyOf(env: Record<string, string>, address: string): string | undefined {
  const proxy = ProxySettings.of(env)?.proxyFor(new URL(address));
  return proxy === undefined ? undefined : `${proxy.hostname}:${proxy.port}`;
}

describe("ProxySettings", () => {
  it.each([
    ["nothing", {}, "http://a.test/", undefined],
    ["an empty value", { HTTP_PROXY: "" }, "http://a.test/", undefined],
    ["http", { HTTP_PROXY: "http://p.test:3128" }, "http://a.test/", "p.test:3128"],
    ["http for https", { HTTP_PROXY: "http://p.test:3128" }, "https://a.test/", undefined],
    ["https", { HTTPS_PROXY: "http://p.test:3128/" }, "https://a.test/", "p.test:3128"],
    ["all", { ALL_PROXY: "p.test:3128" }, "https://a.test/", "p.test:3128"],
    ["one besides all", { all_proxy: "p", http_proxy: "q" }, "http://a.test/", "q:80"],
    ["both cases", { HTTP_PROXY: "p", http_proxy: "q" }, "http://a.test/", "q:80"],
    ["no port", { HTTP_PROXY: "http://p.test" }, "http://a.test/", "p.test:80"],
    ["TLS and no port", { HTTP_PROXY: "https://p.test" }, "http://a.test/", "p.test:443"],
    ["IPv6", { HTTP_PROXY: "http://[2001:db8::1]:8" }, "http://a.test/", "2001:db8::1:8"],
    ["this machine", { ALL_PROXY: "p" }, "http://localhost:1208/", undefined],
    ["this machine by address", { ALL_PROXY: "p" }, "http://127.0.0.9/", undefined],
    ["this machine by IPv6", { ALL_PROXY: "p" }, "http://[::1]/", undefined],
    ["a private address", { ALL_PROXY: "p" }, "http://10.0.0.9/", "p:80"],
  ])("%s", (_what, env, address, expected) => {
    expect(proxyOf(env, address)).toBe(expected);
  });

  it.each([
    ["*", "http://a.test/", false],
    ["a.test", "http://a.test/", false],
    ["a.test", "http://A.TEST/", false],
    ["A.test", "http://b.a.test/", false],
    ["a.test", "http://ba.test/", true],
    [".a.test", "http://a.test/", true],
    [".a.test", "http://b.a.test/", false],
    ["*.a.test", "http://b.a.test/", false],
    ["x.test, a.test", "http://a.test/", false],
    ["x.test a.test", "http://a.test/", false],
    ["a.test:8080", "http://a.test:8080/", false],
    ["a.test:8080", "http://a.test/", true],
    ["a.test:80", "http://a.test/", false],
    ["a.test:443", "https://a.test/", false],
    ["10.1.2.3", "http://10.1.2.3/", false],
    ["10.1.2.3:80", "http://10.1.2.3:81/", true],
    ["10.0.0.0/8", "http://10.1.2.3/", false],
    ["10.0.0.0/8", "http://11.1.2.3/", true],
    ["10.0.0.0/8", "http://ten.test/", true],
    ["fd00::/8", "http://[fd00::1]/", false],
    ["fd00::1", "http://[fd00::1]/", false],
    ["[fd00::1]:80", "http://[fd00::1]/", false],
    ["fd00::1", "http://[fd00::2]/", true],
  ])("NO_PROXY=%s and %s: through it %s", (list, address, isThrough) => {
    const env = { ALL_PROXY: "p.test", NO_PROXY: list };
    expect(proxyOf(env, address)).toBe(isThrough ? "p.test:80" : undefined);
  });

  it.each([
    ["me:p%40ss", "me:p@ss"],
    ["me:100%", "me:100%"],
    ["m%C3%BC:%zz%FF", "m\u00C3\u00BC:%zz\u00FF"],
  ])("takes users and passwords such as %s, and names neither", (written, sent) => {
    const env = { HTTP_PROXY: `http://${written}@p.test:3128` };
    const proxy = ProxySettings.of(env)?.proxyFor(new URL("http://a.test/"));
    expect(proxy).toMatchObject({
      name: "http://p.test:3128",
      authorization: `Basic ${btoa(sent)}`,
    });
  });

  it.each([
    { HTTP_PROXY: "socks5://me:secret@p.test:1080" },
    { https_proxy: "http://" },
    { ALL_PROXY: "p", NO_PROXY: "10.0.0.0/33" },
  ])("refuses %j, without telling passwords", (env) => {
    let message = "";
    try {
      ProxySettings.of(env);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/proxy/i);
    expect(message).not.toContain("secret");
  });
});
