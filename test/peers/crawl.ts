import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { output } from "./programs.ts";

const PAGES = 30;

/** A small site: pages with queries, redirects, images, answers that are errors. */
function siteAnswer(path: string): { status: number; type: string; body: string; to?: string } {
  const page = /^\/a\/p(\d+)\.html/.exec(path)?.[1];
  if (path === "/") return { status: 200, type: "text/html", body: '<a href="/a/p0.html">go</a>' };
  if (page !== undefined && Number(page) < PAGES) {
    const n = Number(page);
    const links = [
      `/a/p${n + 1}.html?x=${n}`,
      `/missing/${n % 3}`,
      `/moved/${n}`,
      `/%7Euser/é/${n}/`,
    ];
    const body = `${links.map((link) => `<a href="${link}">x</a>`).join("")}<img src="/i/${n % 4}.png">`;
    return { status: 200, type: "text/html; charset=utf-8", body };
  }
  if (path.startsWith("/i/")) return { status: 200, type: "image/png", body: "\u0000png\n\n" };
  if (path.startsWith("/moved/")) return { status: 302, type: "text/plain", body: "", to: "/" };
  if (path.startsWith("/%7Euser") || path.startsWith("/~user")) {
    return { status: 200, type: "text/plain", body: "hello" };
  }
  return { status: 404, type: "text/html", body: "not here" };
}

export interface Crawl {
  readonly folder: string;
  /** The address of the site, with a slash at its end. */
  readonly site: string;
  /** Compressed, and with Wget's own index beside it. */
  readonly warcGz: string;
  readonly warc: string;
  readonly cdx: string;
}

/** Crawls a site on loopback with GNU Wget, twice: into compressed WARC with CDX, and plain WARC. */
export async function crawl(wget: string, folder: string): Promise<Crawl> {
  const server = createServer((request, response) => {
    const { status, type, body, to } = siteAnswer(request.url ?? "/");
    response.writeHead(status, {
      "content-type": type,
      ...(to === undefined ? {} : { location: to }),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const recursive = ["-q", "-r", "-l", "40", "--page-requisites"];
  mkdirSync(folder, { recursive: true });
  // Wget exits with 8 because some pages are missing, which they are meant to be.
  const run = (args: string[]): Promise<unknown> =>
    output("sh", ["-c", '"$@"; test $? -eq 8', "sh", wget, ...recursive, ...args, site], folder);
  await run(["--warc-file=crawl", "--warc-cdx", "-P", "out"]);
  await run(["--warc-file=plain", "--no-warc-compression", "-P", "out2"]);
  server.close();
  return {
    folder,
    site,
    warcGz: join(folder, "crawl.warc.gz"),
    warc: join(folder, "plain.warc"),
    cdx: join(folder, "crawl.cdx"),
  };
}
