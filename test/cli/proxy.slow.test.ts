import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { certificateAuthority } from "../support/certificates.ts";
import { forwardProxy, portOf } from "../support/forward-proxy.ts";
import { scratchDir } from "../support/scratch.ts";
import { archive } from "../support/sessions.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { tlsArchive } from "../support/tls-archive.ts";

const URI = "http://example.org/a";

describe.skipIf(process.platform === "win32")("commands behind a proxy", () => {
  it.each(["http", "https"])("ask through it: one of %s", async (scheme) => {
    const authority = certificateAuthority("Known");
    const secure = await tlsArchive("secure", authority.issue(["secure.test"]));
    const open = await plainArchive("open", ["20080101000000"]);
    const proxy = await forwardProxy(
      { "secure.test:443": portOf(secure.url), "open.test:80": portOf(open.url) },
      "me:secret",
      scheme === "https" ? authority.issue(["127.0.0.1"]) : undefined,
    );
    const folder = scratchDir();
    const authorities = join(folder, "authorities.pem");
    writeFileSync(authorities, authority.cert);
    const env = {
      NODE_EXTRA_CA_CERTS: authorities,
      ALL_PROXY: `${scheme}://me:secret@${proxy.address}`,
      NO_PROXY: "direct.test",
    };
    const direct = await plainArchive("direct", ["20100101000000"]);
    const archives = [
      { archive: { ...archive("secure", "https://secure.test"), mementomap: "auto" } },
      { archive: archive("open", "http://open.test") },
      { archive: archive("unreachable", "https://nowhere.test") },
      { archive: archive("direct.test", "http://direct.test:9") },
      direct, // on this machine
    ];
    const service = await aggregateProcess(["-a", writeList(archives)], env);
    const answer = await fetch(`${service.url}/timemap/link/${URI}`);
    expect(answer.headers.get("x-memento-count")).toBe("3");
    expect(answer.headers.get("x-mementomap-missing")).toBe("unreachable;connect, direct.test;dns");
    const memento = await fetch(`${service.url}/memento/proxy/2005/${URI}`);
    expect(await memento.text()).toBe(`captured: /web/20050101000000id_/${URI}`);
    expect(proxy.requests).toContain(`GET http://open.test/timemap/link/${URI}`);
    expect(proxy.requests).toContain("CONNECT secure.test:443");
    expect(proxy.requests.join("\n")).not.toContain("direct");

    const map = join(folder, "map.ukvs");
    const line = ["fetch", "https://secure.test/map.ukvs", "--direct", "-o", map];
    expect(await spawnCli(line, undefined, env).done).toMatchObject({ code: 0 });
    expect(readFileSync(map, "utf8")).toBe("org,example)/* 3\n");
  });

  it("refuse to start with what is not a proxy", async () => {
    const { done } = spawnCli(["aggregate", "-a", writeList([]), URI], undefined, {
      HTTPS_PROXY: "socks5://me:secret@proxy.test:1080",
    });
    const { code, stderr } = await done;
    expect(code).toBe(2);
    expect(stderr).toMatch(/HTTPS_PROXY is not the URL of a proxy/);
    expect(stderr).not.toContain("secret");
  });
});
