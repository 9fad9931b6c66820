import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certificateAuthority } from "../support/certificates.ts";
import { forwardProxy, portOf } from "../support/forward-proxy.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { tlsServer } from "../support/tls-archive.ts";

const LINE = "com,a)/ 20140101000000 http://a.com/ text/html 200 X 1\n";
const RESULTS = JSON.stringify({
  response_items: [{ originalURL: "http://a.com/", tstamp: "20140101000000", title: "" }],
});

describe.skipIf(process.platform === "win32")("mementomap harvest behind a proxy", () => {
  it.each(["http", "https"])("asks through it: one of %s", async (scheme) => {
    const authority = certificateAuthority("Known");
    const server = await tlsServer(authority.issue(["cdx.test"]), (request, response) => {
      response.end(request.url?.startsWith("/search") === true ? RESULTS : LINE);
    });
    const proxy = await forwardProxy(
      { "cdx.test:443": portOf(server.url) },
      "me:secret",
      scheme === "https" ? authority.issue(["127.0.0.1"]) : undefined,
    );
    const folder = scratchDir();
    const authorities = join(folder, "authorities.pem");
    writeFileSync(authorities, authority.cert);
    const env = {
      NODE_EXTRA_CA_CERTS: authorities,
      HTTPS_PROXY: `${scheme}://me:secret@${proxy.address}`,
    };
    const harvest = (path: string, ...words: string[]) =>
      spawnCli(["harvest", `https://cdx.test${path}`, "--interval", "0", ...words], folder, env)
        .done;
    expect(await harvest("/cdx", "--url", "a.com", "-o", "a.cdx")).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "a.cdx"), "utf8")).toBe(LINE);
    expect(await harvest("/search", "--search", "mar", "-o", "b.cdxj")).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "b.cdxj"), "utf8")).toContain("\ncom,a)/ 20140101000000 {");
    expect(new Set(proxy.requests)).toEqual(new Set(["CONNECT cdx.test:443"]));
    expect(server.requests).toHaveLength(3);
  });

  it("does not start with what is not a proxy", async () => {
    const folder = scratchDir();
    const words = ["harvest", "http://cdx.test/", "--url", "a.com", "-o", join(folder, "a.cdx")];
    const env = { HTTP_PROXY: "socks5://me:secret@proxy.test" };
    const { code, stderr } = await runCli(words, { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/HTTP_PROXY is not the URL of a proxy/);
    expect(stderr).not.toContain("secret");
    expect(readdirSync(folder)).toEqual([]);
  });
});
