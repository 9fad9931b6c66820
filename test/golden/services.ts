import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { digest, random, uris } from "./inputs.ts";

export interface Service {
  /** With a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a command that prints its URL when it is ready. */
export async function startService(
  build: string,
  folder: string,
  args: readonly string[],
): Promise<Service> {
  const child = spawn(process.execPath, [join(build, "dist/cli/bin.js"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let stderr = "";
  child.stderr.on(
    "data",
    (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(-2000)),
  );
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    void ended.then(() => reject(new Error(stderr)));
  });
  const found = /https?:\/\/[\w.:[\]-]+/.exec(line)?.[0] ?? "";
  return {
    url: `${found}/`,
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const MAP = "/maps/c-05";
const ANY = { "Accept-Encoding": "identity" };

/** Requests to the publisher: path, method, headers. For HTML, only status and type are recorded. */
const REQUESTS: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ["/.well-known/mementomap", "GET", ANY],
  ["/.well-known/mementomap", "HEAD", ANY],
  [MAP, "GET", ANY],
  [MAP, "HEAD", ANY],
  [MAP, "GET", { Range: "bytes=0-99" }],
  [MAP, "GET", { Range: "bytes=-100" }],
  [MAP, "GET", { Range: "bytes=100-" }],
  [MAP, "GET", { Range: "bytes=5-3" }],
  [MAP, "GET", { Range: "bytes=99999999-" }],
  [MAP, "GET", { Range: "bytes=0-1,5-9" }],
  [MAP, "GET", { Range: "lines=0-1" }],
  [MAP, "GET", { "If-None-Match": "*" }],
  [MAP, "GET", { "If-Match": '"other"' }],
  [MAP, "GET", { "Accept-Encoding": "gzip" }],
  [MAP, "GET", { Accept: "image/png" }],
  [`${MAP}?page=1`, "GET", ANY],
  [`${MAP}?page=99`, "GET", ANY],
  [`${MAP}?page=x`, "GET", ANY],
  ["/maps/nothing", "GET", ANY],
  ["/maps", "GET", ANY],
  [MAP, "POST", ANY],
  [MAP, "DELETE", ANY],
  [MAP, "OPTIONS", ANY],
  ["/lookup", "GET", ANY],
  ["/lookup", "PUT", ANY],
  ["/lookup?url=http://site0.com/", "GET", ANY],
  ["/lookup?url=http://site0.com/&map=c-05", "GET", ANY],
  ["/lookup?url=http%3A%2F%2Fsite0.com%2Fnews%3Fid%3D1", "GET", ANY],
  ["/lookup?surt=com,site0)/", "GET", ANY],
  ["/lookup?url=http://", "GET", ANY],
  ["/lookup?url=http://site0.com/&at=nonsense", "GET", ANY],
  ["/lookup?url=", "GET", ANY],
  ["/lookup?url=http://site0.com/&surt=com,a)/", "GET", ANY],
  ["/lookup?url=http://site0.com/", "GET", { Accept: "text/plain" }],
  ["/lookup?url=http://site0.com/", "HEAD", ANY],
  ["/health", "GET", ANY],
  ["/nothing", "GET", ANY],
  ["//", "GET", ANY],
  ["/", "GET", { Accept: "text/html" }],
  ["/metrics", "GET", ANY],
  ["/openapi.json", "GET", ANY],
  ["/../package.json", "GET", ANY],
];
const HEADERS = [
  "content-type",
  "content-length",
  "content-range",
  "accept-ranges",
  "allow",
  "vary",
  "link",
  "cache-control",
  "location",
  "retry-after",
  "memento-datetime",
];
const OF_DATA =
  /^(text\/plain|application\/(mementomap|json|ukvs|link-format|cdxj\+ors|problem\+json))/;

async function ask(
  url: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> },
  mask: (text: string) => string,
): Promise<string> {
  const response = await fetch(url, {
    redirect: "manual",
    ...init,
    headers: { "Accept-Encoding": "identity", ...init.headers },
  });
  const body = mask(await response.text());
  const type = response.headers.get("content-type") ?? "";
  const headers = HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    const counted =
      name === "content-length" && (!OF_DATA.test(type) || /openapi|metrics/.test(url));
    return value === null || counted
      ? []
      : [`${name}=${mask(value).replace(/max-age=\d+/, "max-age")}`];
  });
  const said =
    OF_DATA.test(type) && response.ok && !/openapi|health|metrics/.test(url) ? digest(body) : "";
  return `${response.status} ${headers.join(" | ").slice(0, 400)} ${said}`.trimEnd();
}

/** Responses of the publisher, and of an aggregator of five archives. */
export async function services(build: string, folder: string): Promise<[string, string][]> {
  const records: [string, string][] = [];
  const serving = await startService(build, folder, [
    "serve",
    "c-05.ukvs",
    "timed.ukvs",
    "--port",
    "0",
    "--json",
  ]);
  for (const [path, method, headers] of REQUESTS) {
    const mask = (text: string): string => text.replaceAll(serving.url.slice(0, -1), "http://here");
    records.push([
      `serve ${method} ${path} ${Object.entries(headers).flat().join(": ")}`,
      await ask(`${serving.url}${path.slice(1)}`, { method, headers }, mask),
    ]);
  }
  await serving.close();

  const asked = uris(7, 500);
  const archives = ["all", "half", "few", "broken", "none"].map((name, i) => fakeArchive(name, i));
  const list = await Promise.all(
    archives.map(async ({ name, server }) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      return {
        id: name,
        name,
        timemap: `${url}timemap/link/`,
        timegate: `${url}timegate/`,
        ...(name === "half" ? { mementomap: join(folder, "half.ukvs") } : {}),
      };
    }),
  );
  writeFileSync(join(folder, "half.ukvs"), readFileSync(join(folder, "c-05.ukvs")));
  writeFileSync(join(folder, "archives.json"), JSON.stringify(list));
  const aggregator = await startService(build, folder, [
    "aggregate",
    "--serve",
    "--port",
    "0",
    "--archives",
    "archives.json",
  ]);
  const mask = (text: string): string => {
    let masked = text.replaceAll(aggregator.url.slice(0, -1), "http://here");
    for (const { name, timemap } of list)
      masked = masked.replaceAll(new URL(timemap).origin, `http://${name}`);
    return masked;
  };
  for (const [i, uri] of asked.entries()) {
    const format = ["link", "json", "cdxj"][i % 3] ?? "";
    records.push([
      `aggregate timemap ${format} ${i}`,
      await ask(`${aggregator.url}timemap/${format}/${uri}`, {}, mask),
    ]);
    const headers = i % 2 === 0 ? {} : { "Accept-Datetime": "Thu, 31 May 2012 20:35:00 GMT" };
    if (i % 5 === 0)
      records.push([
        `aggregate timegate ${i}`,
        await ask(`${aggregator.url}timegate/${uri}`, { headers }, mask),
      ]);
    if (i % 5 === 1)
      records.push([
        `aggregate memento ${i}`,
        await ask(`${aggregator.url}memento/2012/${uri}`, {}, mask),
      ]);
  }
  for (const path of [
    "timemap/link/",
    "timemap/xml/http://a.com/",
    "timemap/link/nonsense",
    "memento/x/http://a.com/",
    "nothing",
  ]) {
    records.push([`aggregate GET ${path}`, await ask(`${aggregator.url}${path}`, {}, mask)]);
  }
  await aggregator.close();
  for (const { server } of archives) {
    server.close();
    server.closeAllConnections();
  }
  return records;
}

/** An archive that holds all, half, few or no URIs, selected by digest, or fails. */
function fakeArchive(name: string, index: number): { name: string; server: Server } {
  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    const [, original = ""] = /^\/(?:timemap\/link|timegate)\/(.*)$/.exec(url) ?? [];
    const pick = random(Number.parseInt(digest(`${name}${original}`), 16) | 0);
    const held = [true, pick(2) === 0, pick(20) === 0, true, false][index] ?? false;
    if (name === "broken") response.writeHead(500).end();
    else if (!held) response.writeHead(404).end();
    else {
      const base = `http://${headers.host ?? ""}/web/`;
      const links = Array.from(
        { length: 1 + pick(9) },
        () =>
          new Date(Date.UTC(1997 + pick(25), pick(12), 1 + pick(28), pick(24), pick(60), pick(60))),
      )
        .sort((a, b) => Number(a) - Number(b))
        .map(
          (at) =>
            `<${base}${at.toISOString().replaceAll(/\D/g, "").slice(0, 14)}/${original}>; rel="memento"; datetime="${at.toUTCString()}"`,
        );
      response
        .writeHead(200, { "Content-Type": "application/link-format" })
        .end([`<${original}>; rel="original"`, ...links].join(",\n"));
    }
  });
  return { name, server };
}
