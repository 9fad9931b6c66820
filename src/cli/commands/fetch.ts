import type { CommandIo } from "../common/messages.ts";
import type { Outcome } from "../common/command.ts";
import { formatAmount, formatBytes, formatDuration } from "../../format.ts";
import { join } from "node:path";
import { discoverMap } from "../../publish/fetch/discover.ts";
import { openRemoteMap } from "../../publish/fetch/remote-map.ts";
import { isMementoMapError, quote, withoutCredentials } from "../../errors.ts";
import { answerJson, answerLine } from "../../lookup/map-lookup.ts";
import { fetchMap, type FetchResult } from "../../publish/fetch/fetch-map.ts";
import { NodeClient } from "../../http/node-client.ts";
import { copyToOutput, openOutput } from "../../files/output-file.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { withTempDir } from "../../files/scratch.ts";
import { type OptionTable, usage } from "../common/command-line.ts";
import { type Command, type CommandValues, defineCommand } from "../common/command.ts";
import { MAX_SHRINK_OPTION, option } from "../common/options.ts";
import { ExitCode, type Io, writeOut } from "../common/io.ts";

const OPTIONS = {
  output: { short: "o", value: "MAP", help: "The file for the map. Default: standard output." },
  for: option.address("The archive whose map to fetch, if another site publishes it."),
  direct: { help: "The URL is that of the map itself: skip discovery." },
  packed: { help: "Request the packed form of the map, or text if there is none." },
  find: { help: "Only print the URL of the map." },
  lookup: {
    value: "URI",
    multiple: true,
    help: "Look this up in the published map; may be repeated.",
  },
  at: option.datetime("With --lookup: look up this time."),
  force: {
    help: "Download the map even if it has not changed, and replace any older file with it.",
  },
  "allow-private": { help: "Also follow links and redirects to private addresses." },
  "max-size": option.size("16g", "Refuse a map that is larger."),
  "max-shrink": MAX_SHRINK_OPTION,
} as const satisfies OptionTable;

export const command: Command = defineCommand({
  name: "fetch",
  usage: "ARCHIVE-URL [-o MAP]",
  description: `
Looks for the archive's map at /.well-known/mementomap, then for a link to it
(rel="mementomap") in the headers and in the HTML of the given URL. A link whose
anchor is another archive is ignored; use --for to request that one.

The map is downloaded, assembled if it has pages, and checked before it replaces
MAP. On any error the old map is kept, also if the new one has lost more than
half of its mementos (--max-shrink). With -o, the next run asks whether the map
has changed, and resumes an interrupted download. Of two forms, text is fetched
unless --packed is given.

With --lookup nothing is downloaded: the URIs are looked up in the published map
with a few range requests, and answered as by mementomap lookup.

Exit status: 0 if there is a map (and any URI is present), 1 if the archive
publishes none (or no URI is present), 2 if it was refused or not reached.`,
  options: OPTIONS,
  examples: {
    "keep the map of an archive up to date":
      "mementomap fetch https://archive.example/ -o archive.ukvs",
    "keep a packed map of it":
      "mementomap fetch https://archive.example/ --packed -o archive.packed",
    "look up a URI without downloading the map":
      "mementomap fetch https://archive.example/ --lookup https://example.org/a",
    "discover it only": "mementomap fetch --find --json https://archive.example/",
  },

  files({ positionals, values: { output } }) {
    const [address, ...more] = positionals;
    if (address === undefined) throw usage("fetch", "fetch needs the URL of an archive");
    if (more.length > 0) throw usage("fetch", "fetch takes one archive");
    return { reads: {}, writes: [{ path: output, kind: "any map" }] };
  },
  async run({ positionals: [address], values }, io) {
    const asked = { ...values, address };
    try {
      if (values.find) return await withClient(asked, io, (client) => showPlace(client, asked, io));
      if (values.lookup.length > 0) {
        return await withClient(asked, io, (client) => lookUpRemotely(client, asked, io));
      }
      return await download(asked, io);
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_NOT_FOUND") throw error;
      io.stderr.write(`mementomap: ${error.describe()}\n`);
      return { status: ExitCode.negative };
    }
  },
});

type Asked = CommandValues<typeof OPTIONS> & { readonly address: string };

async function download(asked: Asked, io: CommandIo): Promise<Outcome> {
  const { output = "-", address } = asked;
  const { interrupt } = io;
  const progress = io.progress("fetching");
  const fetchTo = (target: string): Promise<FetchResult> =>
    fetchMap(address, target, {
      archive: asked.for,
      isDirect: asked.direct,
      packed: asked.packed,
      allowsPrivate: asked["allow-private"],
      proxies: ProxySettings.of(io.env),
      maxBytes: asked["max-size"],
      isForced: asked.force,
      maxShrink: asked["max-shrink"],
      signal: interrupt.signal,
      interrupt,
      onBytes: (bytes) => progress.add(bytes),
    }).finally(() => progress.end());
  const result =
    output === "-"
      ? await withTempDir({ interrupt }, async (folder) => {
          const fetched = await fetchTo(join(folder, "map"));
          await copyToOutput(join(folder, "map"), await openOutput("-", io));
          return fetched;
        })
      : await fetchTo(output);
  for (const warning of result.warnings) io.warn(withoutCredentials(warning));
  const json = JSON.parse(withoutCredentials(JSON.stringify(result))) as object;
  return { summary: { json, text: withoutCredentials(sentence(result)) } };
}

function sentence(result: FetchResult): string {
  const { status, url, method, bytes, pages, freshForMs } = result;
  const fresh = freshForMs > 0 ? `, fresh for ${formatDuration(freshForMs)}` : "";
  if (status === "unchanged") return `unchanged: ${url}${fresh}`;
  const parts = pages > 1 ? ` on ${formatAmount(pages, "page")}` : "";
  return `fetched ${formatBytes(bytes)}${parts} from ${url} (${method})${fresh}`;
}

async function withClient(
  { address, "allow-private": allowsPrivate }: Asked,
  { env }: Io,
  use: (client: NodeClient) => Promise<Outcome>,
): Promise<Outcome> {
  if (!URL.canParse(address)) throw usage("fetch", `${quote(address)} is not a web address`);
  const proxies = ProxySettings.of(env);
  const trustedOrigins = [new URL(address).origin];
  const client = new NodeClient({ trustedOrigins, allowsPrivate, proxies });
  return use(client).finally(() => client.close());
}

async function showPlace(client: NodeClient, asked: Asked, io: Io): Promise<Outcome> {
  const { for: archive, address, json } = asked;
  const found = await discoverMap(client, address, { archive, signal: io.interrupt.signal });
  const line = json ? JSON.stringify(found) : `${found.url}\t${found.method}`;
  await writeOut(io.stdout, `${withoutCredentials(line)}\n`);
  return {};
}

async function lookUpRemotely(client: NodeClient, asked: Asked, io: Io): Promise<Outcome> {
  const { signal } = io.interrupt;
  const { address, for: archive, at, packed } = asked;
  const { url } = asked.direct
    ? { url: address }
    : await discoverMap(client, address, { archive, signal });
  const { lookup, source } = await openRemoteMap(client, url, { packed, signal });
  let isAnyPresent = false;
  for (const uri of asked.lookup) {
    const answer = await lookup.lookup(uri, { at, signal });
    isAnyPresent ||= answer.present;
    const line = asked.json ? answerJson(uri, answer) : answerLine(uri, answer);
    await writeOut(io.stdout, `${line}\n`);
  }
  const { size, traffic } = source;
  const { requests, bytes } = traffic;
  return {
    status: isAnyPresent ? ExitCode.ok : ExitCode.negative,
    summary: {
      json: { requests, bytes, size },
      text: `${formatAmount(requests, "request")} for the map, ${formatBytes(bytes)} of ${formatBytes(size)}`,
    },
  };
}
