import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Aggregator, Answer, ListedArchive } from "./aggregators.ts";
import {
  ask,
  isFree,
  runLine,
  runPython,
  startByReadme,
  startMemGator,
  startOurs,
  startPywb,
} from "./aggregators.ts";
import { DIFFERENCES } from "./memgator-differences.ts";
import { REFUSED, type Request, SAME } from "./memgator-requests.ts";
import { program } from "./programs.ts";
import {
  difficultArchive,
  oddArchive,
  type RecordedArchive,
  waybackArchive,
} from "./recorded-archives.ts";

/*
 * The same archives behind the real MemGator and behind ours: what clients of the one rely on, they
 * find in the other. Two archives are pywb with WARC files, two are recorded TimeMaps.
 *
 *     MEMENTOMAP_MEMGATOR=/path/to/memgator MEMENTOMAP_PEERS=$PWD/peers npm run test:all -- --project peers
 *
 * where the environment `peers` has pywb and memento_client installed by pip.
 */
const memGatorProgram = process.env["MEMENTOMAP_MEMGATOR"];
const wayback = program("wayback");
const wbManager = program("wb-manager");
const python = program("python");

if (wayback === undefined) process.stderr.write("pywb is not installed: nothing is aggregated\n");
if (memGatorProgram === undefined) {
  process.stderr.write("MEMENTOMAP_MEMGATOR does not name MemGator: it is not compared with\n");
}

/** Headers that clients read. */
const HEADERS = [
  "content-type",
  "location",
  "link",
  "x-memento-count",
  "access-control-allow-origin",
];

/** With a link, which pywb rewrites unless it is asked for the raw copy. */
const OF_2010 = '<html><head></head><body><a href="/x">of 2010</a></body></html>';

describe("differences to MemGator", () => {
  it("are in the guide", () => {
    const guide = readFileSync(new URL("../../docs/aggregating.md", import.meta.url), "utf8");
    for (const { name } of DIFFERENCES) expect(guide).toContain(`\n| ${name} |`);
  });
});

describe.skipIf(wayback === undefined)("an aggregator of pywb and recorded archives", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-memgator-"));
  const stops: (() => void)[] = [];
  const list = join(folder, "archives.json");
  let site = "";
  let ours: Aggregator;

  beforeAll(async () => {
    const programs = { wbManager: wbManager ?? "", wayback: wayback ?? "" };
    site = await startSite(stops);
    const [first, second, machine, odd, difficult] = await Promise.all([
      startPywb(programs, join(folder, "first"), "first", [
        { uri: "http://example.org/", date: "2010-05-06T07:08:09Z", body: OF_2010 },
        // At the same second as one of the Wayback machine's.
        { uri: "http://example.org/", date: "2015-01-02T03:04:05Z", body: "of 2015" },
        { uri: "http://example.org/page?b=2&a=1", date: "2012-01-02T03:04:05Z", body: "page" },
        { uri: "http://example.org/x%2Fy", date: "2013-01-02T03:04:05Z", body: "one segment" },
        { uri: "http://example.org/x/y", date: "2014-01-02T03:04:05Z", body: "two segments" },
        { uri: site, date: "2013-03-03T03:03:03Z", body: "the site in 2013" },
      ]),
      startPywb(programs, join(folder, "second"), "second", [
        { uri: "http://example.org/", date: "2012-11-12T13:14:15Z", body: "of 2012" },
        { uri: site, date: "2016-06-06T06:06:06Z", body: "the site in 2016" },
      ]),
      waybackArchive(),
      oddArchive(),
      difficultArchive(),
    ]);
    const recorded = (id: string, archive: RecordedArchive): ListedArchive => ({
      id,
      name: `The archive ${id}`,
      timemap: archive.timemap,
      timegate: archive.timegate,
    });
    stops.push(first.stop, second.stop, machine.stop, odd.stop, difficult.stop);
    const archives = [
      first,
      second,
      recorded("machine", machine),
      recorded("odd", odd),
      recorded("difficult", difficult),
    ];
    writeFileSync(list, JSON.stringify(archives));
    ours = await startOurs(list);
    stops.push(ours.stop);
  });
  afterAll(() => {
    for (const stop of stops) stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("does what MemGator's README shows", async ({ skip }) => {
    if (program("curl") === undefined) skip("curl is not installed");
    if (!(await isFree(1208))) skip("something else listens on port 1208, which the README names");
    const server = await startByReadme(list);
    onTestFinished(server.stop);
    for (const line of README) {
      const { code, stdout } = await runLine(line, list);
      expect({ line, code, isEmpty: stdout === "" }).toEqual({ line, code: 0, isEmpty: false });
    }
  });

  it("serves the official client library of Memento", async ({ skip }) => {
    const hasClient = await runPython(python ?? "", "import memento_client").then(
      () => true,
      () => false,
    );
    if (!hasClient) skip("memento_client is not installed for Python");
    const { url } = ours;
    const info: unknown = JSON.parse(await runPython(python ?? "", clientScript(url, site)));
    expect(info).toMatchObject({
      original_uri: site,
      timegate_uri: `${url}/timegate/${site}`,
      mementos: {
        first: { datetime: "2013-03-03 03:03:03" },
        closest: { datetime: "2016-06-06 06:06:06", http_status_code: 200 },
        last: { datetime: "2016-06-06 06:06:06" },
      },
    });
  });

  describe.skipIf(memGatorProgram === undefined)("beside MemGator", () => {
    let memGator: Aggregator;

    beforeAll(async () => {
      memGator = await startMemGator(memGatorProgram ?? "", list);
      stops.push(memGator.stop);
    });

    /** What both answer to a request. */
    async function both(request: Request): Promise<[theirs: Answer, ours: Answer]> {
      const { target, headers, method } = request;
      const answers = [memGator, ours].map(async (aggregator) => {
        const answer = await ask(aggregator, target, headers, method);
        return comparable(answer, aggregator.url);
      });
      const [theirs, own] = await Promise.all(answers);
      return [theirs, own];
    }

    it.each(SAME)("answers $target the same", async (request) => {
      const [theirs, own] = await both(request);
      expect(own.status).toBe(theirs.status);
      const headers = HEADERS.filter((name) => name !== "content-type" || theirs.status === 200);
      expect(pick(own, headers)).toEqual(pick(theirs, headers));
      for (const name of ["access-control-expose-headers", "vary"]) {
        expect(listed(own, name)).toEqual(expect.arrayContaining(listed(theirs, name)));
      }
      // What stands below a redirect or an error is for people, and differs.
      const bodies = [theirs, own].map(({ status, body }) => (status === 200 ? body : ""));
      expect(bodies[1]).toBe(bodies[0]);
    });

    it.each(REFUSED)("refuses $target $headers with the same status", async (request) => {
      const [theirs, own] = await both(request);
      expect(theirs.status).toBeGreaterThanOrEqual(400);
      expect(own.status).toBe(theirs.status);
    });

    it.each(SAME)("answers HEAD $target as it does GET, without the body", async (request) => {
      const [theirs, own] = await both({ ...request, method: "HEAD" });
      expect(own.status).toBe(theirs.status);
      const headers = HEADERS.filter((name) => name !== "content-type" || theirs.status === 200);
      expect(pick(own, headers)).toEqual(pick(theirs, headers));
      expect(own.body).toBe("");
    });

    it.each(DIFFERENCES)("differs in $name: $why", async (difference) => {
      const [theirs, own] = await both(difference);
      expect(difference.see(theirs)).toEqual(difference.memGator);
      expect(difference.see(own)).toEqual(difference.ours);
    });

    it.each([
      "http://example.org/",
      "http://example.org/ 2008",
      "example.org/only",
      "--format=JSON http://example.org/even",
      "-f CDXJ http://example.org/even 20100102",
      "-f link http://example.org/even 20100102",
    ])("prints the same from the command line: memgator %s", async (line) => {
      const printed = async (aggregator: Aggregator): Promise<string> => {
        const { stdout, code } = await aggregator.cli(line.split(" "));
        expect(code).toBe(0);
        return withSortedTies(stdout.replaceAll(aggregator.url, "{AGGREGATOR}"));
      };
      const theirs = await printed(memGator);
      expect(theirs).not.toBe("");
      expect(await printed(ours)).toBe(theirs);
    });

    it("prints nothing when there is nothing, and exits with 1, where MemGator exits with 0", async () => {
      const [theirs, own] = await Promise.all(
        [memGator, ours].map((aggregator) => aggregator.cli(["http://example.org/none"])),
      );
      expect(theirs).toMatchObject({ code: 0, stdout: "" });
      expect(own).toMatchObject({ code: 1, stdout: "" });
    });

    it("is about itself and its archives at /about and /, and monitors only when told to", async () => {
      for (const target of ["/about", "/"]) {
        for (const answer of await both({ target })) {
          expect(answer.status).toBe(200);
          expect(answer.body).toContain("The archive second");
        }
      }
      const [theirs, own] = await both({ target: "/monitor" });
      expect([theirs.status, own.status]).toEqual([501, 501]);
    });
  });
});

/** Lines of MemGator's README, with originals that the archives here have. */
const README = [
  "memgator --help",
  "memgator http://example.org/",
  "memgator http://example.org/ 2010",
  "memgator --format=CDXJ http://example.org/ 20100102030405",
  "curl -sf http://localhost:1208/timemap/link/http://example.org/",
  "curl -sf http://localhost:1208/timemap/json/http://example.org/",
  "curl -sf http://localhost:1208/timemap/cdxj/http://example.org/",
  'curl -sf -I -H "Accept-Datetime: Wed, 09 Apr 2008 20:30:51 GMT" http://localhost:1208/timegate/http://example.org/ | grep -i "^location: .*/20080409203051/"',
  'curl -sf -i http://localhost:1208/memento/2008/http://example.org/ | grep -i "^location: .*/20080409203051/"',
  "curl -sf http://localhost:1208/memento/link/2008/http://example.org/",
  "curl -sf http://localhost:1208/memento/json/2008/http://example.org/",
  "curl -sf http://localhost:1208/memento/cdxj/2008/http://example.org/",
  "curl -sf http://localhost:1208/api/json/2008/http://example.org/",
  "curl -sf http://localhost:1208/memento/proxy/2008/http://example.org/ | grep id_",
  'curl -sf -I http://localhost:1208/timemap/link/http://example.org/ | grep -i "^x-memento-count: 11"',
  "curl -i http://localhost:1208/about",
  'curl -sf -i --max-time 1 http://localhost:1208/monitor | grep -i "^content-type: text/event-stream"',
];

/** A page that is live, which a client asks first for a TimeGate of its own. */
async function startSite(stops: (() => void)[]): Promise<string> {
  const server = createServer((_, response) => response.end("live"));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** An answer with the aggregator's own address taken out, and mementos of one second in order. */
function comparable({ status, headers, body }: Answer, url: string): Answer {
  const neutral = (text: string): string => text.replaceAll(url, "{AGGREGATOR}");
  return {
    status,
    headers: new Map(Array.from(headers, ([name, value]) => [name, neutral(value)])),
    body: withSortedTies(neutral(body)),
  };
}

/** A TimeMap in which mementos of the same second stand in the order of their text. */
function withSortedTies(body: string): string {
  // A memento of JSON is an object of four lines, of the other forms a line.
  const isJson = body.startsWith("{");
  const blocks = isJson ? body.split(/(?<=^ {6}\},?\n)/m) : body.split(/(?<=\n)/);
  const timeOf = (block: string): string =>
    (isJson ? /^ {6}\{\n {8}"datetime": "(.*?)"/ : /datetime"?[=:] ?"(.*?)"/).exec(block)?.[1] ??
    "";
  const sorted: string[] = [];
  for (let at = 0; at < blocks.length;) {
    const time = timeOf(blocks[at]);
    let end = at + 1;
    while (time !== "" && end < blocks.length && timeOf(blocks[end]) === time) end += 1;
    sorted.push(...blocks.slice(at, end).sort((a, b) => (a < b ? -1 : 1)));
    at = end;
  }
  return sorted.join("");
}

function pick({ headers }: Answer, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

function listed({ headers }: Answer, header: string): string[] {
  const names = headers.get(header);
  return names === undefined ? [] : names.split(/\s*,\s*/).map((name) => name.toLowerCase());
}

function clientScript(aggregator: string, original: string): string {
  return `
import datetime, json
from memento_client import MementoClient
client = MementoClient(timegate_uri="${aggregator}/timegate/", check_native_timegate=True)
info = client.get_memento_info("${original}", datetime.datetime(2016, 1, 1))
print(json.dumps(info, default=str))
`;
}
