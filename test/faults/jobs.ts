import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { run } from "./process.ts";

/** What all jobs read; made once, in a folder of its own. */
export interface Inputs {
  readonly folder: string;
  /** An index, and one of the same size and shape that has other captures. */
  readonly index: string;
  readonly otherIndex: string;
  /** Their maps. */
  readonly map: string;
  readonly otherMap: string;
  /** Lookups that were not held. */
  readonly misses: string;
  /** An index of a few lines, and its map. */
  readonly small: { readonly index: string; readonly map: string };
  close(): void;
}

/** Something that the command line does and that has a result on the disk. */
export interface Job {
  readonly name: string;
  /** The result, in a folder where nothing else is. */
  readonly target: string;
  /** Scratch files go here; nothing else is in it. */
  readonly tmp: string;
  readonly argv: readonly string[];
  /** What there is before: a copy of it is put under the name of the result; nothing, if undefined. */
  readonly old?: string | undefined;
  /** Names beside the result that are to stay. */
  readonly keeps?: readonly string[] | undefined;
  /** Whether what is there must be removed before the next run. */
  readonly isNew?: boolean | undefined;
  /** A hook for what happens while the job runs. */
  readonly onHalf?: ((act: (() => Promise<void>) | undefined) => void) | undefined;
}

export async function makeInputs(lines: number): Promise<Inputs> {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-faults-"));
  const path = (name: string): string => join(folder, name);
  const inputs = {
    folder,
    index: path("index.cdxj"),
    otherIndex: path("other.cdxj"),
    map: path("map.ukvs"),
    otherMap: path("other.ukvs"),
    misses: path("misses.txt"),
    small: { index: path("small.cdxj"), map: path("small.ukvs") },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
  const sample = ["sample", "-q", "--lines", String(lines)];
  for (const argv of [
    [...sample, "-o", inputs.index],
    [...sample, "--seed", "2", "-o", inputs.otherIndex],
    [...sample, "--uris", "2000", "-o", inputs.misses],
    ["generate", "-q", inputs.index, "-o", inputs.map],
    ["sample", "-q", "--lines", "50", "-o", inputs.small.index],
    ["generate", "-q", inputs.small.index, "-o", inputs.small.map],
    ["generate", "-q", inputs.otherIndex, "-o", inputs.otherMap],
  ]) {
    const { code, stderr } = await run(argv);
    if (code !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
  }
  return inputs;
}

/** Jobs that read and write files. */
export function fileJobs(inputs: Inputs): Job[] {
  const { index, otherIndex, map, otherMap } = inputs;
  const job = (
    name: string,
    file: string,
    argv: (target: string, tmp: string) => readonly string[],
    more: Partial<Job> = { old: otherMap },
  ): Job => {
    const { target, tmp } = places(inputs, name, file);
    return { name, target, tmp, argv: argv(target, tmp), ...more };
  };
  const spilling = ["--memory", "1m", "--by", "datetime:day"];
  return [
    job("generate, one thread, spilling", "map.ukvs", (target, tmp) => [
      "generate",
      "-q",
      "--threads",
      "1",
      ...spilling,
      "--tmp",
      tmp,
      index,
      otherIndex,
      "-o",
      target,
    ]),
    job("generate, three threads, spilling", "map.ukvs", (target, tmp) => [
      "generate",
      "-q",
      "--threads",
      "3",
      ...spilling,
      "--tmp",
      tmp,
      index,
      otherIndex,
      "-o",
      target,
    ]),
    job(
      "generate, compressed",
      "map.ukvs.gz",
      (target) => ["generate", "-q", index, "-o", target],
      {
        old: undefined,
      },
    ),
    job("compact by weights", "map.ukvs", (target, tmp) => [
      "compact",
      "-q",
      "--tmp",
      tmp,
      map,
      "-o",
      target,
    ]),
    job("compact to a number of rows", "map.ukvs", (target, tmp) => [
      "compact",
      "-q",
      "--relative-cost",
      "20%",
      "--tmp",
      tmp,
      map,
      "-o",
      target,
    ]),
    job("compact to a size, with misses", "map.ukvs", (target, tmp) => [
      "compact",
      "-q",
      "--max-bytes",
      "60k",
      "--misses",
      inputs.misses,
      "--tmp",
      tmp,
      map,
      "-o",
      target,
    ]),
    job("merge", "map.ukvs", (target) => ["merge", "-q", map, otherMap, "-o", target]),
    job(
      "split into pages",
      "pages",
      (target) => ["split", "-q", "--pages", "7", map, "-o", target],
      {
        isNew: true,
      },
    ),
    job("page", "site", (target) => ["page", "-q", map, "-o", target], { isNew: true }),
    job(
      "analyze",
      "report.html",
      (target, tmp) => ["analyze", "-q", "--memory", "1m", "--tmp", tmp, index, "--html", target],
      {},
    ),
  ];
}

/** A server of this machine, which `close` ends, and jobs that talk to it. */
export interface Network {
  readonly address: string;
  readonly jobs: readonly Job[];
  /** Downloads that went on where they had stopped. */
  resumed(): number;
  close(): void;
}

/** {@link Network} */
export async function networkJobs(inputs: Inputs): Promise<Network> {
  const map = readFileSync(inputs.map);
  const lines = readFileSync(inputs.index, "utf8").trimEnd().split("\n").slice(1, 3001);
  let resumed = 0;
  let half: (() => Promise<void>) | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/map") {
      if (request.headers.range !== undefined) resumed++;
      sendMap(map, request, response, async () => half?.());
    } else if (url.pathname === "/search") {
      response.end(searchResults(url.searchParams.get("q") ?? ""));
    } else {
      response.end(cdxAnswer(lines, url));
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const harvest = ["harvest", "-q", "--interval", "0", "--page-lines", "300", "--retries", "0"];
  const cdx = [...harvest, `${address}/cdx`, "--url", "a.com", "--match", "domain", "-o"];
  const search = [...harvest, `${address}/search`, "--search", "mar", "--searches", "20", "-o"];
  const at = (name: string, file: string, argv: readonly string[], more: Partial<Job>): Job => {
    const { target, tmp } = places(inputs, name, file);
    return { name, target, tmp, argv: [...argv, target], ...more };
  };
  return {
    address,
    jobs: [
      at("fetch", "map.ukvs", ["fetch", "-q", "--direct", `${address}/map`, "-o"], {
        old: inputs.otherMap,
        keeps: [".map.ukvs.fetch.json"],
        onHalf: (act) => {
          half = act;
        },
      }),
      at("harvest", "index.cdx", cdx, { old: inputs.otherIndex }),
      at("harvest, compressed", "index.cdx.gz", cdx, {}),
      at("harvest by search", "index.cdxj", search, { old: inputs.otherIndex }),
    ],
    resumed: () => resumed,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Puts things where they were before the job ever ran. */
export function reset({ target, tmp, old }: Job): void {
  const folder = join(target, "..");
  for (const each of [folder, tmp]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each, { recursive: true });
  }
  if (old !== undefined) cpSync(old, target);
}

/** What is under a name: a digest of a file, or of all in a folder; or nothing. */
export function digestOf(path: string): string {
  if (!existsSync(path)) return "nothing";
  const hash = createHash("sha256");
  const isFolder = statSync(path).isDirectory();
  const names = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }).sort() : [""];
  for (const name of names) {
    const each = join(path, name);
    hash.update(`${name}\n`);
    if (statSync(each).isFile()) hash.update(readFileSync(each));
  }
  return hash.digest("hex");
}

/** All that is beside the result and in the scratch folder, besides what is to be there. */
export function litterOf({ target, tmp, keeps = [] }: Job): string[] {
  const expected = new Set([basename(target), ...keeps]);
  const beside = readdirSync(join(target, "..")).filter((name) => !expected.has(name));
  return [...beside, ...readdirSync(tmp).map((name) => `tmp/${name}`)];
}

function places(inputs: Inputs, name: string, file: string): { target: string; tmp: string } {
  const folder = join(inputs.folder, name.replaceAll(/\W+/g, "-"));
  return { target: join(folder, "out", file), tmp: join(folder, "tmp") };
}

const ETAG = '"one"';

/** A map in two halves; the second is sent when something has been heard of the first. */
function sendMap(
  map: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
  onHalf: () => Promise<void>,
): void {
  if (request.headers["if-none-match"] === ETAG) {
    response.writeHead(304, { ETag: ETAG }).end();
    return;
  }
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const body = map.subarray(from);
  const range = { "Content-Range": `bytes ${from}-${map.length - 1}/${map.length}` };
  response.writeHead(from > 0 ? 206 : 200, {
    ETag: ETAG,
    "Content-Type": "text/plain",
    "Content-Length": body.length,
    ...(from > 0 ? range : {}),
  });
  response.write(body.subarray(0, body.length >> 1), () => {
    void onHalf().then(() => response.end(body.subarray(body.length >> 1)));
  });
}

/** A server in the manner of the Internet Archive's, with resume keys. */
function cdxAnswer(lines: readonly string[], url: URL): string {
  if (url.searchParams.has("showNumPages")) return "1\n";
  const key = url.searchParams.get("resumeKey") ?? "";
  const from = Number(/^com,a\)\/ (\d+)!$/.exec(key)?.[1] ?? 0);
  const end = from + Number(url.searchParams.get("limit"));
  const more = end < lines.length ? `\ncom%2Ca%29%2F+${end}%21\n` : "";
  return (
    lines
      .slice(from, end)
      .map((line) => `${line}\n`)
      .join("") + more
  );
}

function searchResults(word: string): string {
  const items = ["", "a", "b"].map((end) => ({
    title: `${word}${end}`.slice(0, 20),
    snippet: `${word.slice(1)}c`,
    originalURL: `http://${word.slice(0, 2)}.pt/${end}`,
    tstamp: "20080101000000",
    mimeType: "text/html",
  }));
  return JSON.stringify({ response_items: items });
}
