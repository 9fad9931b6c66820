import { fileURLToPath } from "node:url";
import { MementoMapError } from "../errors.ts";
import { FileSource, openInput } from "../files/input-file.ts";
import { decompressed } from "../files/decompress.ts";
import { NodeClient } from "../http/node-client.ts";
import { ProxySettings } from "../http/proxy.ts";
import type { Platform } from "./source.ts";

const STREAMS = { stdin: process.stdin };

/** Node: files, zlib, and an HTTP client that uses the proxies of the environment. */
export const NODE: Platform = {
  client({ origin }) {
    const proxies = ProxySettings.of(process.env);
    const client = new NodeClient({ trustedOrigins: [origin], proxies });
    return { client, close: () => client.close() };
  },
  filePath(url) {
    try {
      return fileURLToPath(url);
    } catch (error) {
      const { message } = error as Error;
      throw new MementoMapError("MM_USAGE", message, {
        position: { source: url.href },
        cause: error,
      });
    }
  },
  openFile: (path) => FileSource.openPlain(path),
  async *readFile(path, signal) {
    const { chunks } = await openInput(path, STREAMS, { signal });
    yield* chunks;
  },
  decompress: (chunks, name) => decompressed(chunks, { source: name }),
};
