import { RateLimit } from "../../http/rate-limit.ts";
import { createPublisher } from "../../publish/serve/publisher.ts";
import { quote } from "../../errors.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { MAX_SHRINK_OPTION, option } from "../common/options.ts";
import {
  CONFIG_OPTION,
  HOST_OPTION,
  MONITORING_OPTIONS,
  PROXY_OPTIONS,
} from "../common/server-shell.ts";
import { guardServiceFiles, openServiceLog, reloader, runService } from "../common/server-shell.ts";

export const command: Command = defineCommand({
  name: "serve",
  usage: "[ID=]MAP...",
  description: `
Serves the first map at /.well-known/mementomap and every map at /maps/ID, where
ID defaults to the file name: whole, by ranges, as gzip or zstd, or page by page
(?page=N). /lookup?url=URI answers for one URI, a POST of lines to /lookup for
many. / is a web interface; /health, /metrics and /openapi.json are also
available.

A packed map is served unchanged. With --packed, a text map also has a packed
form at the same URL, for clients that request
application/vnd.mementomap.packed. If it was packed from that text, the two are
replaced together.

When a map file is replaced, the server loads the new map in the background, and
switches to it if it is valid; no request is lost. SIGHUP checks the files
immediately. Every option can also be set by its name in a JSON file (--config),
or in the environment, such as MEMENTOMAP_PAGE_RECORDS for --page-records; the
command line takes precedence over the environment, and the environment over the
file. On Ctrl-C or SIGTERM, the server finishes requests in progress and exits
with status 0.

Events are logged to standard error, one JSON object per line; --access-log logs
requests. The URL is written to standard output when the server is ready.`,
  options: {
    port: option.port("8080", "The port; 0 selects any free port."),
    host: HOST_OPTION,
    base: option.address("The site's public URL, for links. Default: relative links."),
    replay: option.address(
      "The URL prefix for replay in the archive; the web interface links to it.",
    ),
    "third-party": { help: "All maps belong to archives other than this site's." },
    "max-age": option.duration("1h", "How long clients may use a map without revalidation."),
    "page-records": option.count("50000", "The maximum number of records per page."),
    memory: option.size(
      "64m",
      "Keep this much of each map in memory; the rest is read from the file.",
    ),
    "cache-dir": { value: "DIR", help: "Cache compressed copies here across restarts." },
    reload: option.duration("2s", "How often to check for a new version; 0 for never."),
    "max-shrink": MAX_SHRINK_OPTION,
    packed: {
      value: "[ID=]FILE",
      multiple: true,
      help: "The same map, packed, for clients that request it with Accept; may be repeated.",
    },
    ...MONITORING_OPTIONS,
    rate: option.decimal("0", "Requests per second and client address; 0 for no limit."),
    ...PROXY_OPTIONS,
    config: CONFIG_OPTION,
  },
  examples: {
    "one archive, on port 8080": "mementomap serve map.ukvs",
    "public, behind a proxy on this machine, below a path":
      "mementomap serve map.ukvs --prefix /mementos --trust-proxy loopback",
    "as text and packed": "mementomap serve map.ukvs --packed map.packed",
    "maps of other archives": "mementomap serve --third-party pt=a.ukvs is=b.ukvs --port 8081",
  },
  isConfigurable: true,
  handlesSignals: true,

  async run({ positionals, values }, io) {
    if (positionals.length === 0) throw usage("serve", "serve needs a map");
    if (positionals.includes("-")) throw usage("serve", "a map to serve must be a file");
    const maps = withPacked(positionals.map(publishedMap), values.packed);
    const { port, host, json: isJson } = values;
    const { "access-log": accessLog, "metrics-port": metrics } = values;
    const files = maps.flatMap(({ path, packed }) => [path, packed]);
    await guardServiceFiles({ logs: [accessLog] }, files);
    const logs = openServiceLog(io, { accessLog });
    const { log } = logs;
    const publisher = await createPublisher(maps, {
      base: values.base,
      replay: values.replay,
      isThirdParty: values["third-party"],
      maxAgeSeconds: Math.floor(values["max-age"] / 1000),
      pageRecords: values["page-records"],
      maxIndexBytes: values.memory,
      cacheFolder: values["cache-dir"],
      reloadEveryMs: values.reload,
      maxShrink: values["max-shrink"],
      rateLimit: values.rate === 0 ? undefined : new RateLimit({ perSecond: values.rate }),
      prefix: values.prefix,
      isPrefixOptional: true,
      trustedProxies: values["trust-proxy"],
      servesMetrics: metrics === undefined,
      log,
    });
    publisher.metrics.readProcess();
    const offHangUp = io.onHangUp?.(reloader(log, () => publisher.reload()));
    try {
      await runService(publisher, io, { port, host, metrics, isJson, log });
    } finally {
      offHangUp?.();
      await publisher.close();
      logs.flush();
    }
    return {};
  },
});

/** `id=path`, or a path alone; a path that contains a `=` can be written `./a=b`. */
function publishedMap(text: string): FileToPublish {
  const [, id, path] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  return path === undefined ? { path: text } : { id, path };
}

interface FileToPublish {
  readonly id?: string | undefined;
  readonly path: string;
  readonly packed?: string | undefined;
}

/** Assigns packed forms to maps by name; without a name, to the first. */
function withPacked(maps: readonly FileToPublish[], packed: readonly string[]): FileToPublish[] {
  const all = [...maps];
  for (const text of packed) {
    const { id, path } = publishedMap(text);
    const index = id === undefined ? 0 : all.findIndex((map) => map.id === id);
    if (index === -1) throw usage("serve", `--packed: no map is named ${quote(id ?? "")}`);
    if (all[index].packed !== undefined) {
      throw usage("serve", "--packed: a map has one packed form; name others ID=FILE");
    }
    all[index] = { ...all[index], packed: path };
  }
  return all;
}
