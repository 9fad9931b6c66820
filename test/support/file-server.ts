import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { serveOnLoopback } from "./http-server.ts";

/** Files on a local server that supports ranges; the files may be changed. */
export interface FileServer {
  readonly url: string;
  readonly files: Map<string, Uint8Array>;
}

/** Serves files by their paths, with strong ETags and no other validators, until the test ends. */
export async function fileServer(
  files: Iterable<readonly [string, Uint8Array]> = [],
): Promise<FileServer> {
  const served = new Map(files);
  const url = await serveOnLoopback(({ pathname }, response, request) => {
    const bytes = served.get(pathname);
    if (bytes === undefined) {
      response.writeHead(404);
      response.end();
      return;
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const start = Number(range?.[1] ?? 0);
    const end = Math.min(bytes.length, Number(range?.[2] ?? bytes.length - 1) + 1);
    response.writeHead(range === null ? 200 : 206, {
      ETag: '"1"',
      "Content-Length": end - start,
      ...(range === null ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${bytes.length}` }),
    });
    response.end(bytes.subarray(start, end));
  });
  return { url, files: served };
}

/** The files below a folder, by their paths on a file server. */
export function folderFiles(folder: string): [string, Uint8Array][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [`/${relative(folder, path).replaceAll(sep, "/")}`, readFileSync(path)]);
}
