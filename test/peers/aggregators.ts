import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { warcGz } from "../support/warc-fixture.ts";
import { rawExchange } from "../support/raw-http.ts";
import { freePort, output, startServer } from "./programs.ts";

const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** What runs until it is stopped. */
export interface Stoppable {
  readonly stop: () => void;
}

/** A member of a list of archives, as MemGator reads it. */
export interface ListedArchive {
  readonly id: string;
  readonly name: string;
  readonly timemap: string;
  readonly timegate: string;
}

/** A page as it was at some time. */
export interface Capture {
  readonly uri: string;
  /** As WARC files write it. */
  readonly date: string;
  readonly body: string;
}

/** Starts pywb with a WARC file of captures. */
export async function startPywb(
  programs: { readonly wbManager: string; readonly wayback: string },
  folder: string,
  id: string,
  captures: readonly Capture[],
): Promise<ListedArchive & Stoppable> {
  mkdirSync(folder, { recursive: true });
  const warc = join(folder, `${id}.warc.gz`);
  const http = "HTTP/1.1 200 OK\nContent-Type: text/html";
  writeFileSync(
    warc,
    warcGz(captures.map(({ uri, date, body }) => ({ type: "response", uri, date, body, http }))),
  );
  await output(programs.wbManager, ["init", "web"], folder);
  await output(programs.wbManager, ["add", "web", warc], folder);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const args = ["-p", String(port), "-b", "127.0.0.1", "-t", "4"];
  const server = await startServer(programs.wayback, args, folder, `${base}/`);
  return {
    id,
    name: `The archive ${id}`,
    timemap: `${base}/web/timemap/link/`,
    timegate: `${base}/web/`,
    stop: () => {
      server.stop();
    },
  };
}

/** An aggregator that serves, and how to run it once from the command line. */
export interface Aggregator extends Stoppable {
  readonly url: string;
  cli(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** Starts the real MemGator. */
export async function startMemGator(
  program: string,
  list: string,
  options: readonly string[] = [],
): Promise<Aggregator> {
  const port = await freePort();
  const args = ["-a", list, "-H", "127.0.0.1", "-p", String(port), ...options, "server"];
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer(program, args, ".", `${url}/about`);
  return {
    url,
    cli: (more) => runOnce(program, ["-a", list, "-H", "127.0.0.1", "-p", String(port), ...more]),
    stop: () => {
      server.stop();
    },
  };
}

/** Starts our aggregator, as built; it asks everyone unless options say otherwise. */
export async function startOurs(
  list: string,
  options: readonly string[] = ["--no-routing"],
): Promise<Aggregator> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const common = ["--archives", list, "--base", url];
  const args = [BIN, "aggregate", "--serve", ...common, "--port", String(port), ...options];
  const server = await startServer(process.execPath, args, ".", `${url}/about`);
  return {
    url,
    cli: (more) => runOnce(process.execPath, [BIN, "aggregate", ...common, ...more]),
    stop: () => {
      server.stop();
    },
  };
}

/** Starts our aggregator with MemGator's words: `memgator [options] server`, on its port. */
export async function startByReadme(list: string): Promise<Stoppable> {
  const args = [BIN, "aggregate", "-a", list, "--no-routing", "-m", "server"];
  const server = await startServer(process.execPath, args, ".", "http://127.0.0.1:1208/about");
  return {
    stop: () => {
      server.stop();
    },
  };
}

/** Runs a line of shell in which `memgator` is our aggregator. */
export function runLine(
  line: string,
  list: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const words = [process.execPath, BIN, "aggregate", "--archives", list].map((word) => `'${word}'`);
  return runOnce("bash", ["-c", `memgator() { ${words.join(" ")} "$@"; }\n${line}`]);
}

/** Whether nobody listens on a port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => {
      resolve(false);
    });
    server.listen(port, "127.0.0.1", () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

function runOnce(
  program: string,
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(program, [...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

/** What a server answered; names of headers in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends a request whose target is taken byte for byte. */
export async function ask(
  { url }: Aggregator,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  method: string = "GET",
): Promise<Answer> {
  const lines = Object.entries({ host: new URL(url).host, connection: "close", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const text = await rawExchange(url, `${method} ${target} HTTP/1.1\r\n${head}\r\n`);
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...fields] = text.slice(0, end).split("\r\n");
  const found = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(":");
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    const before = found.get(name);
    found.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const body = text.slice(end + 4);
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: found,
    body: found.get("transfer-encoding") === "chunked" ? unchunked(body) : body,
  };
}

function unchunked(text: string): string {
  let body = "";
  for (let at = 0; ;) {
    const end = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, end), 16);
    if (!(length > 0)) return body;
    body += text.slice(end + 2, end + 2 + length);
    at = end + 2 + length + 2;
  }
}

/** Runs a script of Python and gives what it wrote. */
export async function runPython(python: string, script: string): Promise<string> {
  const child = spawn(python, ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`python ended with ${code}: ${stderr}`);
  return stdout;
}
