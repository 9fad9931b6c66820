import { join } from "node:path";
import { discoverMap } from "../../publish/fetch/discover.ts";
import { openRemoteMap } from "../../publish/fetch/remote-map.ts";
import { formatAmount, isMementoMapError, quote } from "../../errors.ts";
import { answerJson, answerLine } from "../../map/lookup/map-lookup.ts";
import { fetchMap, type FetchResult } from "../../publish/fetch/fetch-map.ts";
import { NodeClient } from "../../http/node-client.ts";
import { openInput } from "../../files/input-file.ts";
import { guardOutputs } from "../../map/output/output-guard.ts";
import { openOutput } from "../../files/output-file.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { withTempDir } from "../../files/scratch.ts";
import { type OptionTable, usage } from "../common/command-line.ts";
import { type Command, type CommandValues, defineCommand } from "../common/command.ts";
import { MAX_SHRINK_OPTION, option } from "../common/options.ts";
import { formatDuration, formatSize, Progress } from "../common/messages.ts";
import { ExitCode, type Io, writeOut } from "../common/io.ts";

const OPTIONS = {
  output: { short: "o", value: "MAP", help: "The file for the map; standard output otherwise." },
  archive: {
    value: "URL",
    help: "The archive whose map is wanted, where another site publishes it.",
  },
  direct: { help: "The address is that of the map: look for nothing." },
  packed: { help: "Ask for the packed form of the map; text is taken where there is none." },
  find: { help: "Only say where the map is." },
  lookup: {
    value: "URI",
    multiple: true,
    help: "Look this up in the map where it is; may be repeated.",
  },
  at: option.datetime("Ask for a time, with --lookup."),
  force: {
    help: "Download the map even if it has not changed, and replace any older file with it.",
  },
  "allow-private": { help: "Follow links and redirects to private addresses too." },
  "max-size": option.size("16g", "Refuse a map that is larger."),
  "max-shrink": MAX_SHRINK_OPTION,
} as const satisfies OptionTable;

export const fetch: Command = defineCommand({
  name: "fetch",
  summary: "Find the map of an archive and download it",
  usage: "ARCHIVE-URL [-o MAP]",
  description: `
Looks for the archive's map at /.well-known/mementomap, then for a link to it
(rel="mementomap") in the headers and in the HTML of the address given. A link
whose anchor is another archive does not count; --archive asks for that one.

The map is downloaded, put together if it comes in pages, and checked; only then
it takes the place of MAP. Whatever goes wrong, the old map stays, also when the
new one has lost more than half of its mementos (--max-shrink). With -o the
archive is asked next time whether the map has changed, and a download that was
cut goes on. Where the archive publishes a packed map, that is fetched; where it
has both forms, text unless --packed is given. Of a packed map in MAP only the
deltas are fetched that have come since (docs/packed.md, section 10).

With --lookup nothing is downloaded: the URIs are looked up in the map where it
is, by a few requests for parts of it, and answered as mementomap lookup does.
Where the address gives one page of the map, links lead to the right one. Of a
packed map the head is read, and the parts that the URIs need.

Exit status: 0 when there is a map (and any URI is present), 1 when the archive
publishes none (or no URI is present), 2 when it was refused or not reached.
`,
  options: OPTIONS,
  examples: {
    "keep the map of an archive up to date":
      "mementomap fetch https://archive.example/ -o archive.ukvs",
    "keep a packed map of it":
      "mementomap fetch https://archive.example/ --packed -o archive.packed",
    "look up a URI without downloading the map":
      "mementomap fetch https://archive.example/ --lookup https://example.org/a",
    "only find it": "mementomap fetch --find --json https://archive.example/",
  },

  async run({ positionals, values }, io) {
    const [address, ...more] = positionals;
    if (address === undefined) throw usage("fetch", "fetch needs the address of an archive");
    if (more.length > 0) throw usage("fetch", "fetch takes one archive");
    const asked = { ...values, address };
    try {
      if (values.find) return await showPlace(asked, io);
      if (values.lookup.length > 0) return await lookUpRemotely(asked, io);
      await bring(asked, io);
      return ExitCode.ok;
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_NOT_FOUND") throw error;
      io.stderr.write(`mementomap: ${error.describe()}\n`);
      return ExitCode.negative;
    }
  },
});

type Asked = CommandValues<typeof OPTIONS> & { readonly address: string };

async function bring(asked: Asked, io: Io): Promise<void> {
  const progress = new Progress(io, { label: "fetching", quiet: asked.quiet });
  const bringTo = (target: string): Promise<FetchResult> =>
    fetchMap(asked.address, target, {
      archive: asked.archive,
      isDirect: asked.direct,
      packed: asked.packed,
      allowsPrivate: asked["allow-private"],
      proxies: ProxySettings.of(io.env),
      maxBytes: asked["max-size"],
      isForced: asked.force,
      maxShrink: asked["max-shrink"],
      signal: io.interrupt.signal,
      interrupt: io.interrupt,
      onBytes: (bytes) => progress.add(bytes),
    }).finally(() => progress.end());
  const { output } = asked;
  await guardOutputs([{ path: output, kind: "any map" }], { inputs: [], force: asked.force });
  const result =
    output === undefined || output === "-"
      ? await withTempDir({ interrupt: io.interrupt }, async (folder) => {
          const fetched = await bringTo(join(folder, "map"));
          await copyOut(join(folder, "map"), io);
          return fetched;
        })
      : await bringTo(output);
  for (const warning of result.warnings) io.stderr.write(`mementomap: warning: ${warning}\n`);
  if (asked.quiet) return;
  io.stderr.write(asked.json ? `${JSON.stringify(result)}\n` : `${sentence(result)}\n`);
}

async function copyOut(path: string, io: Io): Promise<void> {
  const input = await openInput(path, io, { signal: io.interrupt.signal });
  const output = await openOutput("-", io);
  for await (const chunk of input.chunks) await output.write(chunk);
}

function sentence(result: FetchResult): string {
  const { status, url, method, bytes, added, pages, freshForMs } = result;
  const fresh = freshForMs > 0 ? `, fresh for ${formatDuration(freshForMs)}` : "";
  if (status === "unchanged") return `unchanged: ${url}${fresh}`;
  if (added !== undefined) return `fetched ${formatSize(added)} that are new from ${url}${fresh}`;
  const parts = pages > 1 ? ` on ${formatAmount(pages, "page")}` : "";
  return `fetched ${formatSize(bytes)}${parts} from ${url} (${method})${fresh}`;
}

async function showPlace(asked: Asked, io: Io): Promise<ExitCode> {
  const client = clientFor(asked, io);
  try {
    const { archive, address, json } = asked;
    const found = await discoverMap(client, address, { archive, signal: io.interrupt.signal });
    const line = json ? JSON.stringify(found) : `${found.url}\t${found.method}`;
    await writeOut(io.stdout, `${line}\n`);
    return ExitCode.ok;
  } finally {
    client.close();
  }
}

async function lookUpRemotely(asked: Asked, io: Io): Promise<ExitCode> {
  const { signal } = io.interrupt;
  const client = clientFor(asked, io);
  try {
    const { address, archive } = asked;
    const url = asked.direct
      ? address
      : (await discoverMap(client, address, { archive, signal })).url;
    const search = await openRemoteMap(client, url, { packed: asked.packed, signal });
    let isAnyPresent = false;
    for (const uri of asked.lookup) {
      const answer = await search.lookup(uri, { at: asked.at, signal });
      isAnyPresent ||= answer.present;
      const line = asked.json ? answerJson(uri, answer) : answerLine(uri, answer);
      await writeOut(io.stdout, `${line}\n`);
    }
    if (!asked.quiet) {
      const { requests, bytes, size } = search.traffic;
      io.stderr.write(
        `${formatAmount(requests, "request")}, ${formatSize(bytes)} of ${formatSize(size)}\n`,
      );
    }
    return isAnyPresent ? ExitCode.ok : ExitCode.negative;
  } finally {
    client.close();
  }
}

function clientFor({ address, "allow-private": allowsPrivate }: Asked, { env }: Io): NodeClient {
  if (!URL.canParse(address)) throw usage("fetch", `${quote(address)} is not a web address`);
  const proxies = ProxySettings.of(env);
  return new NodeClient({ trustedOrigins: [new URL(address).origin], allowsPrivate, proxies });
}
