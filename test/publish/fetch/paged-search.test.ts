import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FetchClient, type HttpRequest } from "../../../src/http/http-client.ts";
import { HttpSource } from "../../../src/publish/fetch/http-source.ts";
import { openRemoteMap } from "../../../src/publish/fetch/remote-map.ts";
import { encode } from "../../maps/map-files.ts";
import { fileServer, folderFiles } from "../../support/file-server.ts";
import { LinearReading, reading } from "../../support/linear-reading.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { serving } from "../../support/serving.ts";

const HOSTS = Array.from({ length: 40 }, (_, i) => `com,h${i + 10}`);
const MAP = [
  '!fields {"keys":["surt"],"values":["frequency"]}',
  ...HOSTS.flatMap((host, i) => [`${host})/ ${i}`, `${host},* 0`]),
  "org,* 3",
  "",
].join("\n");
const SURTS = [...HOSTS.map((host) => `${host})/`), "com,h15,a)/", "net,a)/", "org,a)/", "com)/"];
const EXPECTED = SURTS.map((surt) => new LinearReading(encode(MAP)).lookup(surt));

describe("a lookup in a map of several pages", () => {
  it("finds the page of each key that serve publishes", async () => {
    const { url } = await serving(MAP, { pageRecords: 10 });
    for (const query of ["", "?page=1", "?page=5", "?page=9"]) {
      expect(await answersAt(`${url}/.well-known/mementomap${query}`)).toEqual(EXPECTED);
    }
    const page = `${url}/.well-known/mementomap?page=5`;
    const found = await runCli(["fetch", "-q", "--direct", page, "--lookup", "http://h49.com/"]);
    expect(found).toEqual({
      code: 0,
      stdout: "http://h49.com/\tpresent\tcom,h49)/\t39\t0\n",
      stderr: "",
    });
  });

  it("finds it on a static site, by the links within pages", async () => {
    const { url } = await fileServer(await splitFiles("--html"));
    expect(await answersAt(`${url}/pages/page-0001.ukvs`)).toEqual(EXPECTED);
    expect(await answersAt(`${url}/pages/page-0003.ukvs`)).toEqual(EXPECTED);
    const page = `${url}/pages/page-0003.ukvs`;
    const found = await runCli(["fetch", "-q", "--direct", page, "--lookup", "http://h10.com/"]);
    // The first host has the frequency 0.
    expect(found).toMatchObject({ code: 1, stdout: "http://h10.com/\tabsent\tcom,h10)/\t0\t0\n" });
  });

  it("answers many at once, each by its own page", async () => {
    const { url } = await fileServer(await splitFiles("--html"));
    const { lookup: search } = await openRemoteMap(
      new FetchClient(),
      `${url}/pages/page-0002.ukvs`,
    );
    const answers = await Promise.all(SURTS.map((surt) => search.lookupSurt(surt)));
    expect(answers.map(reading)).toEqual(EXPECTED);
  });

  it("asks past caches, and without the header that costs browsers a preflight", async () => {
    const { url } = await serving(MAP, { pageRecords: 10 });
    const requests: HttpRequest[] = [];
    const client = new FetchClient();
    const { lookup: search } = await openRemoteMap(
      {
        request: (target, request = {}) => {
          requests.push(request);
          return client.request(target, request);
        },
      },
      `${url}/.well-known/mementomap?page=1`,
    );
    await search.lookupSurt("com,h49)/");
    expect(requests.length).toBeGreaterThan(1);
    for (const { cache, headers } of requests) {
      expect(cache).toBe("no-store");
      expect(Object.keys(headers ?? {}).toSorted()).toEqual(["Accept-Encoding", "Range"]);
    }
  });

  it("refuses what no link leads to, and knows what is on the page", async () => {
    const { url } = await fileServer(await splitFiles());
    const { lookup: search } = await openRemoteMap(new FetchClient(), `${url}/page-0001.ukvs`);
    expect(await search.lookupSurt("com,h11)/")).toMatchObject({ present: true, frequency: "1" });
    await expect(search.lookupSurt("org,a)/")).rejects.toMatchObject({ code: "MM_REFUSED" });
    const found = await runCli([
      "fetch",
      "--direct",
      `${url}/page-0001.ukvs`,
      "--lookup",
      "http://a.org/",
    ]);
    expect(found).toMatchObject({ code: 2, stdout: "" });
    expect(found.stderr).toContain("page 1 has no link to page 2");
  });

  it.each([
    ["another version", /"version":"\w+"/, '"version":"2"'],
    ["another number", '"number":2', '"number":3'],
    ["another count", '"of":4', '"of":5'],
    ["no page", /!meta .*/, "!meta {}"],
  ])("refuses a next page that is of %s", async (_what, from, to) => {
    const { url, files } = await fileServer(await splitFiles("--html"));
    const text = new TextDecoder().decode(files.get("/pages/page-0002.ukvs"));
    expect(text).toMatch(from);
    files.set("/pages/page-0002.ukvs", encode(text.replace(from, to)));
    const { lookup: search } = await openRemoteMap(
      new FetchClient(),
      `${url}/pages/page-0001.ukvs`,
    );
    await expect(search.lookupSurt("org,a)/")).rejects.toMatchObject({ code: "MM_REFUSED" });
  });

  it("refuses links to other sites, and pages that do not say what they have", async () => {
    const { url, files } = await fileServer(await splitFiles("--html"));
    const path = "/pages/page-0001.ukvs";
    const text = new TextDecoder().decode(files.get(path));
    files.set(path, encode(text.replace('"next":"', '"next":"http://127.0.0.2:1/')));
    const { lookup: elsewhere } = await openRemoteMap(new FetchClient(), url + path);
    await expect(elsewhere.lookupSurt("org,a)/")).rejects.toMatchObject({
      code: "MM_REFUSED",
      message: expect.stringContaining("another site") as string,
    });
    files.set(path, encode(text.replace(/"last":"com[^"]*"/, '"x":1')));
    const { lookup: unknown } = await openRemoteMap(new FetchClient(), url + path);
    await expect(unknown.lookupSurt("org,a)/")).rejects.toMatchObject({ code: "MM_PAGE" });
  });
});

async function answersAt(url: string): Promise<unknown[]> {
  const { lookup: search } = await openRemoteMap(new FetchClient(), url);
  const answers: unknown[] = [];
  for (const surt of SURTS) answers.push(reading(await search.lookupSurt(surt)));
  return answers;
}

/** The map on four pages, by `split`. */
async function splitFiles(...options: readonly string[]): Promise<[string, Uint8Array][]> {
  const folder = scratchDir();
  const [map, site] = [join(folder, "map.ukvs"), join(folder, "site")];
  writeFileSync(map, MAP);
  const split = await runCli(["split", ...options, "--pages", "4", map, "-o", site]);
  expect(split).toMatchObject({ code: 0 });
  return folderFiles(site);
}

describe("ranges of a map", () => {
  it("are asked for past caches, and without the header that costs browsers a preflight", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `com,h${10_000 + i})/ 1\n`);
    const { url } = await serving(rows.join(""));
    const requests: HttpRequest[] = [];
    const client = new FetchClient();
    const source = await HttpSource.open(
      {
        request: (target, request = {}) => {
          requests.push(request);
          return client.request(target, request);
        },
      },
      `${url}/.well-known/mementomap`,
    );
    await source.read(200_000, 5);
    expect(requests.length).toBeGreaterThan(1);
    for (const { cache, headers } of requests) {
      expect(cache).toBe("no-store");
      expect(Object.keys(headers ?? {})).not.toContain("If-Range");
    }
  });
});
