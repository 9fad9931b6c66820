import { isIP } from "node:net";
import { TrustedProxies } from "../../src/http/forwarded.ts";
import type { HttpRequest } from "../../src/http/reply.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const PROXIES = new TrustedProxies(["loopback", "private"]);

export const target: TargetDefinition = {
  holds:
    "what proxies say of a client is an address, and a host and a path that can stand in a link",
  seeds: () => [
    "192.0.2.1, 10.0.0.1",
    "[2001:db8::1]:4711, unknown",
    'for=192.0.2.43;proto=https;host="example.org:8443", for="[2001:db8::1]"',
    'for="_x\\"y", ,for=10.0.0.1;by=z',
    "/mementos/a/b",
    "example.org:8080",
  ],
  words: ["for=", "host=", "proto=", "https", '"', "\\", ", ", ";", "[::1]", "127.0.0.1", "/", ":"],
  run(input) {
    const text = latin1(input);
    for (const headers of [
      { forwarded: text },
      { "x-forwarded-for": text, "x-forwarded-host": text, "x-forwarded-proto": text },
      { host: text, "x-forwarded-for": "192.0.2.1", "x-forwarded-prefix": text },
    ]) {
      // All that is looked at.
      const request = { remoteAddress: "127.0.0.1", protocol: "http", headers };
      const { address, host, prefix } = PROXIES.view(request as unknown as HttpRequest);
      must(isIP(address) !== 0, "an address", address);
      must(host === undefined || URL.canParse(`http://${host}/`), "a host", host);
      must(prefix === "" || /^\/[^\s"<>]+$/.test(prefix), "a path", prefix);
    }
  },
};
