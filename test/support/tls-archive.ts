import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import type { Certificate } from "./certificates.ts";
import { linkTimeMap } from "./scripted-upstream.ts";
import { archive } from "./sessions.ts";

export interface TlsServer {
  /** The base URL, with the host name `localhost`. */
  readonly url: string;
  readonly requests: string[];
}

/** A local TLS server, until the test ends. */
export async function tlsServer(
  certificate: Certificate,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<TlsServer> {
  const requests: string[] = [];
  const server = createServer({ ...certificate }, (request, response) => {
    requests.push(request.url ?? "");
    answer(request, response);
  });
  // Clients that do not trust it abort the handshake, as tests expect.
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, requests };
}

/** An archive behind TLS with one memento for any URI. */
export async function tlsArchive(
  id: string,
  certificate: Certificate,
): Promise<TlsServer & { readonly archive: Archive }> {
  const server = await tlsServer(certificate, (request, response) => {
    const { url = "", headers } = request;
    if (url === "/map.ukvs") {
      response.end("org,example)/* 3\n");
    } else if (url.startsWith("/web/")) {
      response.end(`captured: ${url}`);
    } else {
      const original = url.replace("/timemap/link/", "").replace("/timegate/", "");
      const link = linkTimeMap(original, `https://${headers.host}/web/`, ["20050101000000"]);
      if (url.startsWith("/timemap/")) response.end(link);
      else response.writeHead(302, { Link: link.replaceAll("\n", " "), Location: "/" }).end();
    }
  });
  return { ...server, archive: archive(id, server.url) };
}
