import { formatAmount, formatCount } from "../../format.ts";
import { DEFAULT_BACK_OFF } from "../../http/retry.ts";
import { CDX_MATCHES, CDX_PAGINGS } from "../../harvest/cdx-request.ts";
import { harvestIndex } from "../../harvest/harvest-index.ts";
import type { PoliteOptions } from "../../harvest/polite-client.ts";
import { sampleSearch } from "../../harvest/sample-search.ts";
import { userAgent } from "../../files/package-file.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { choice, option } from "../common/options.ts";
import { ExitCode } from "../common/io.ts";

export const command: Command = defineCommand({
  name: "harvest",
  usage: "SERVER (--url URL | --search WORD) -o INDEX",
  description: `
Fetches captures from a CDX server (pywb, OutbackCDX, or one like the Internet
Archive's) into an index file for generate.

With --search, samples an archive through its full-text search instead (that of
Arquivo.pt), with random words from the results. The index is marked as a
sample, so that the counts of its maps end in +.

Some servers silently truncate their results. If rows seem to be missing,
harvest warns, exits with status 1, and marks the index as a sample. Fetch such
captures in several ranges, with --from and --to, and merge the maps.

If harvest is interrupted or fails, the same command resumes; until it is
complete, its rows are in INDEX.part.

Sends one request at a time, pauses between requests, and backs off if the
server is busy. Uses the proxies set by HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and
NO_PROXY.`,
  options: {
    output: { short: "o", value: "INDEX", help: "Write here." },
    url: { value: "URL", multiple: true, help: "Fetch captures of this URL; may be repeated." },
    match: {
      value: "HOW",
      default: "exact",
      help: `The scope of --url: ${CDX_MATCHES.join(", ")}.`,
      ...choice(CDX_MATCHES),
    },
    from: option.date("Only captures from this date on."),
    to: option.date("Only captures up to this date."),
    paging: {
      value: "HOW",
      help: `How the server pages: ${CDX_PAGINGS.join(", ")}. Default: detect.`,
      ...choice(CDX_PAGINGS),
    },
    "page-lines": option.count("Lines per request. Default: 10,000, or all in one stream."),
    search: {
      value: "WORD",
      multiple: true,
      help: "Sample by full-text search, starting with this word.",
    },
    searches: option.count("100", "The number of words to search for."),
    seed: option.whole("1", "The seed of the random sample."),
    interval: option.duration("1s", "The pause between requests."),
    retries: option.whole(String(DEFAULT_BACK_OFF.retries), "The number of retries per request."),
    contact: { value: "TEXT", help: "Contact details for the archive, sent with every request." },
    force: { help: "Write an index even if there are no captures, and replace any existing file." },
    "allow-private": { help: "Also follow redirects to private addresses." },
  },
  examples: {
    "all captures of a page":
      "mementomap harvest https://archive.example/cdx --url a.org -o a.cdxj",
    "a sample, by full-text search":
      "mementomap harvest https://archive.example/search --search mar -o a.cdxj",
  },
  files({ positionals, values }) {
    const [server, ...more] = positionals;
    if (server === undefined || more.length > 0) {
      throw usage("harvest", "harvest needs the URL of one server");
    }
    if ((values.url.length === 0) === (values.search.length === 0)) {
      throw usage("harvest", "harvest needs --url or --search");
    }
    const target = values.output;
    if (target === undefined || target === "-") {
      throw usage("harvest", "harvest needs -o FILE, so that it can resume");
    }
    return { reads: {}, writes: [{ path: target, kind: "index" }] };
  },
  async run({ positionals: [server], values }, io) {
    const { output: target = "-", match, from, to, search: words, searches, seed } = values;
    const contact = values.contact === undefined ? "" : ` (${values.contact})`;
    const progress = io.progress("fetching");
    const polite: PoliteOptions = {
      intervalMs: values.interval,
      backOff: { ...DEFAULT_BACK_OFF, retries: values.retries },
      userAgent: userAgent() + contact,
      proxies: ProxySettings.of(io.env),
      allowsPrivate: values["allow-private"],
      signal: io.interrupt.signal,
      interrupt: io.interrupt,
      onRead: (bytes) => progress.add(bytes),
      onRetry: (reason, waitMs) => {
        progress.end();
        io.note(`${reason}; retrying in ${waitMs / 1000} s`);
      },
    };
    if (words.length > 0) {
      const options = { ...polite, words, searches, seed, from, to };
      const summary = await sampleSearch(server, target, options).finally(() => progress.end());
      const { leftOut } = summary;
      const useless = leftOut === 0 ? "" : `, ${formatAmount(leftOut, "result")} of no use`;
      const made = formatAmount(summary.searches, "search", "searches");
      return { summary: { json: summary, text: sentence(summary, `${made}${useless}`) } };
    }
    const queries = values.url.map((url) => ({ url, match, from, to }));
    const harvesting = harvestIndex(server, queries, target, {
      ...polite,
      paging: values.paging,
      linesPerPage: values["page-lines"],
      allowsEmpty: values.force,
    });
    const summary = await harvesting.finally(() => progress.end());
    const { sampleReason, pages } = summary;
    if (sampleReason !== undefined) io.warn(sampleReason);
    return {
      status: sampleReason === undefined ? ExitCode.ok : ExitCode.negative,
      summary: { json: summary, text: sentence(summary, formatAmount(pages, "page")) },
    };
  },
});

function sentence(
  summary: { readonly lines: number; readonly requests: number; readonly resumedLines: number },
  what: string,
): string {
  const { lines, requests, resumedLines } = summary;
  const before = resumedLines === 0 ? "" : `, ${formatCount(resumedLines)} of them before`;
  return `${formatAmount(lines, "capture")}${before}, ${what}, ${formatAmount(requests, "request")}`;
}
