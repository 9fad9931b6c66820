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
  packed: { help: "Request the packed form of the map; fetch text if there is none." },
  find: { help: "Only print the URL of the map." },
  lookup: {
    value: "URI",
    multiple: true,
    help: "Look this up in the published map; may be repeated.",
  },
  at: option.datetime("With --lookup: the time to look up."),
  force: {
    help: "Download the map even if it has not changed, and replace any older file with it.",
  },
  "allow-private": { help: "Also follow links and redirects to private addresses." },
  "max-size": option.size("16g", "Reject a larger map."),
  "max-shrink": MAX_SHRINK_OPTION,
} as const satisfies OptionTable;

export const command: Command = defineCommand({
  name: "fetch",
  usage: "ARCHIVE-URL [-o MAP]",
  description: `
Looks for the archive's map at /.well-known/mementomap, then for a link to it
(rel="mementomap") in the headers and in the HTML of the given URL. Links whose
anchor is another archive are ignored; use --for to request that archive's map.

The map is downloaded, assembled if it has pages, and checked before it replaces
MAP. On any error, or if the new map has lost more than half of the mementos
(--max-shrink), the old map is kept. With -o, the next run downloads the map
only if it has changed, and resumes an interrupted download. If the map is
published in both forms, text is fetched unless --packed is given.

With --lookup, the map is not downloaded: a few range requests look up the URIs
in the published map, and the output is that of mementomap lookup.

Exit status: 0 if there is a map (and any URI is present), 1 if the archive
publishes none (or no URI is present), 2 if it was rejected or not reachable.`,
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
    const args = { ...values, address };
    try {
      if (values.find) return await withClient(args, io, (client) => showPlace(client, args, io));
      if (values.lookup.length > 0) {
        return await withClient(args, io, (client) => lookUpRemotely(client, args, io));
      }
      return await download(args, io);
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_NOT_FOUND") throw error;
      io.stderr.write(`mementomap: ${error.describe()}\n`);
      return { status: ExitCode.negative };
    }
  },
});

type FetchArgs = CommandValues<typeof OPTIONS> & { readonly address: string };

async function download(args: FetchArgs, io: CommandIo): Promise<Outcome> {
  const { output = "-", address } = args;
  const { interrupt } = io;
  const progress = io.progress("fetching");
  const fetchTo = (target: string): Promise<FetchResult> =>
    fetchMap(address, target, {
      archive: args.for,
      isDirect: args.direct,
      packed: args.packed,
      allowsPrivate: args["allow-private"],
      proxies: ProxySettings.of(io.env),
      maxBytes: args["max-size"],
      isForced: args.force,
      maxShrink: args["max-shrink"],
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
  { address, "allow-private": allowsPrivate }: FetchArgs,
  { env }: Io,
  use: (client: NodeClient) => Promise<Outcome>,
): Promise<Outcome> {
  if (!URL.canParse(address)) throw usage("fetch", `${quote(address)} is not a web address`);
  const proxies = ProxySettings.of(env);
  const trustedOrigins = [new URL(address).origin];
  const client = new NodeClient({ trustedOrigins, allowsPrivate, proxies });
  return use(client).finally(() => client.close());
}

async function showPlace(client: NodeClient, args: FetchArgs, io: Io): Promise<Outcome> {
  const { for: archive, address, json } = args;
  const found = await discoverMap(client, address, { archive, signal: io.interrupt.signal });
  const line = json ? JSON.stringify(found) : `${found.url}\t${found.method}`;
  await writeOut(io.stdout, `${withoutCredentials(line)}\n`);
  return {};
}

async function lookUpRemotely(client: NodeClient, args: FetchArgs, io: Io): Promise<Outcome> {
  const { signal } = io.interrupt;
  const { address, for: archive, at, packed } = args;
  const { url } = args.direct
    ? { url: address }
    : await discoverMap(client, address, { archive, signal });
  const { lookup, source } = await openRemoteMap(client, url, { packed, signal });
  let isAnyPresent = false;
  for (const uri of args.lookup) {
    const answer = await lookup.lookup(uri, { at, signal });
    isAnyPresent ||= answer.present;
    const line = args.json ? answerJson(uri, answer) : answerLine(uri, answer);
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
