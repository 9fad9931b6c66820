import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { certificateAuthority } from "../support/certificates.ts";
import { scratchDir } from "../support/scratch.ts";
import { archive } from "../support/sessions.ts";
import { tlsArchive, tlsServer } from "../support/tls-archive.ts";

const URI = "http://example.org/a";
const DAY_MS = 86_400_000;

interface About {
  readonly archives: readonly {
    readonly id: string;
    readonly hits: number;
    readonly lastFailure: string | null;
    readonly map: { readonly status: string; readonly error: string | null } | null;
  }[];
}

/** A server that answers a TLS handshake with a line of text. */
async function noTls(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("220 mail.example ESMTP\r\n");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(process.platform === "win32")("archives behind TLS", () => {
  it("are asked over connections that are checked; those that fail the check are left out", async () => {
    const known = certificateAuthority("Known");
    const unknown = certificateAuthority("Unknown");
    const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
    const good = await tlsArchive("good", known.issue(["localhost"]));
    const map = `${good.url}/map.ukvs`;
    const failing = [
      await tlsArchive("expired", known.issue(["localhost"], { from: ago(9), until: ago(2) })),
      await tlsArchive("early", known.issue(["localhost"], { from: ago(-1), until: ago(-2) })),
      await tlsArchive("other-host", known.issue(["other.example", "10.0.0.1"])),
      await tlsArchive("unknown", unknown.issue(["localhost"])),
      { archive: archive("no-tls", await noTls()), requests: [] },
    ];
    const withMap = { archive: { ...good.archive, mementomap: map } };
    const plain = await plainArchive("plain", ["20080101000000"]);
    const authorities = join(scratchDir(), "authorities.pem");
    writeFileSync(authorities, known.cert);
    const env = { NODE_EXTRA_CA_CERTS: authorities };
    const list = writeList([withMap, ...failing, plain]);
    const service = await aggregateProcess(["-a", list], env);

    const answer = await fetch(`${service.url}/timemap/link/${URI}`);
    expect(answer.headers.get("x-memento-count")).toBe("2");
    expect(answer.headers.get("x-mementomap-missing")).toBe(
      "expired;tls, early;tls, other-host;tls, unknown;tls, no-tls;tls",
    );
    const about = (await (await fetch(`${service.url}/about.json`)).json()) as About;
    expect(Object.fromEntries(about.archives.map((each) => [each.id, each.lastFailure]))).toEqual({
      good: null,
      plain: null,
      expired: "the server's certificate has expired",
      early: "the server's certificate is not valid yet",
      "other-host": "the server's certificate is for another host",
      unknown: expect.stringMatching(
        /^the server's certificate is not signed by a trusted authority/,
      ),
      "no-tls": expect.stringMatching(/^TLS handshake failed \(/),
    });
    expect(failing.flatMap(({ requests }) => requests)).toEqual([]);

    // The map and the bytes of mementos come over another client.
    await expect
      .poll(async () => {
        const { archives } = (await (await fetch(`${service.url}/about.json`)).json()) as About;
        return archives.find(({ id }) => id === "good")?.map;
      })
      .toMatchObject({ status: "ready", error: null });
    const memento = await fetch(`${service.url}/memento/proxy/2005/${URI}`);
    expect(await memento.text()).toBe(`captured: /web/20050101000000id_/${URI}`);
  });

  it("are left out, with the reason, where they redirect to http", async () => {
    const known = certificateAuthority("Known");
    const plain = await plainArchive("plain", ["20080101000000"]);
    const downgrading = await tlsServer(known.issue(["localhost"]), (request, response) => {
      const rest = (request.url ?? "").replace(/^\/time(?:map\/link|gate)\//, "");
      response.writeHead(302, { Location: `${plain.archive.timemap}${rest}` }).end();
    });
    const authorities = join(scratchDir(), "authorities.pem");
    writeFileSync(authorities, known.cert);
    const list = writeList([plain, { archive: archive("downgrading", downgrading.url) }]);
    const service = await aggregateProcess(["-a", list], { NODE_EXTRA_CA_CERTS: authorities });
    const said = async (path: string): Promise<(string | null)[]> => {
      const { headers } = await fetch(service.url + path, { redirect: "manual" });
      return [headers.get("x-memento-count"), headers.get("x-mementomap-missing")];
    };
    const asked = plain.requests.length;
    expect(await said(`/timemap/link/${URI}`)).toEqual(["1", "downgrading;redirect"]);
    expect(downgrading.requests).toHaveLength(1);
    expect(plain.requests.length - asked).toBe(1);
    const [, missing] = await said(`/timegate/${URI}`);
    expect(missing).toBe("downgrading;redirect");
    // The fresh TimeMap of the cache answers for the TimeGate.
    expect(plain.requests.length - asked).toBe(1);
  });

  it("are not asked where their authority is not known, and the map says why", async () => {
    const good = await tlsArchive("good", certificateAuthority("Known").issue(["localhost"]));
    const withMap = { archive: { ...good.archive, mementomap: `${good.url}/map.ukvs` } };
    const service = await aggregateProcess(["-a", writeList([withMap])]);
    const answer = await fetch(`${service.url}/timemap/link/${URI}`);
    expect([answer.status, answer.headers.get("x-mementomap-missing")]).toEqual([502, "good;tls"]);
    expect(good.requests).toEqual([]);
    await expect
      .poll(() => service.said())
      .toMatch(/"map update failed".*not signed by a trusted authority/);
  });
});
